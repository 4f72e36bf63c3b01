package tuner

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Mark is one marked number of a file.
type Mark struct {
	name    string // unique: file:identifier, [i] of several, #n when doubled
	short   string // the name without the file
	line    int
	literal literal // offsets in the file
	param   Param   // Int: only whole numbers are written
}

// MarkError is a bad mark: where, and what to write instead.
type MarkError struct {
	file   string
	line   int
	reason error
}

func (e *MarkError) Error() string {
	return fmt.Sprintf("%s:%d: tune mark: %v", e.file, e.line, e.reason)
}

func (e *MarkError) Unwrap() error { return e.reason }

const (
	// MaxMarks bounds the numbers of all target files together.
	MaxMarks = 2000
	// maxMarkLine is the longest line, in bytes, that is searched for marks.
	maxMarkLine = 4096
)

// scanMarks finds the marked numbers of one file. A mark is a comment that says
// `tune: min..max` on the line of its numbers: those between it and the
// beginning of the line, or the mark before it. The error is a *MarkError.
func scanMarks(file string, text []byte) ([]Mark, error) {
	if !mayHaveMarks(text) {
		return nil, nil
	}
	var found []Mark
	seen := map[string]int{}
	offset := 0
	for number := 1; offset < len(text); number++ {
		line := text[offset:]
		next := len(text)
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line, next = line[:end], offset+end+1
		}
		if len(line) <= maxMarkLine && mayHaveMarks(line) {
			more, err := scanLine(file, strings.TrimRight(string(line), "\r"), seen)
			if err != nil {
				return nil, &MarkError{file, number, err}
			}
			for _, t := range more {
				t.line = number
				t.literal.start += offset
				t.literal.end += offset
				found = append(found, t)
			}
		}
		offset = next
	}
	return found, nil
}

// scanLine finds the marked numbers of a line, with offsets in the line.
func scanLine(file, line string, seen map[string]int) ([]Mark, error) {
	var found []Mark
	for from := 0; ; {
		c, ok := findComment(line, from)
		if !ok {
			return found, nil
		}
		code := line[from:c.codeEnd]
		numbers := literals(code)
		switch {
		case !intended(c) || strings.TrimSpace(code) == "" && !strings.Contains(c.mark, ".."):
			// The word in a sentence.
		default:
			more, err := markNumbers(file, code, numbers, c, seen)
			if err != nil {
				return nil, err
			}
			for _, t := range more {
				t.literal.start += from
				t.literal.end += from
				found = append(found, t)
			}
		}
		from = c.end
	}
}

func markNumbers(file, code string, numbers []literal, c comment, seen map[string]int) ([]Mark, error) {
	param, pointed, err := parseMark(c.mark)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("no number before it on its line; the mark stands on the line of the number")
	}
	base := identifier(file, code[:numbers[0].start])
	seen[base]++
	if n := seen[base]; n > 1 {
		base = fmt.Sprintf("%s#%d", base, n)
	}
	found := make([]Mark, 0, len(numbers))
	for i, number := range numbers {
		short := base
		if len(numbers) > 1 {
			short = fmt.Sprintf("%s[%d]", base, i)
		}
		mark := Mark{name: file + ":" + short, short: short, literal: number, param: param}
		mark.param.Name, mark.param.Current = mark.name, number.value
		mark.param.Int = param.Int || !pointed && !number.pointed
		if err := mark.param.Validate(); err != nil {
			return nil, err
		}
		found = append(found, mark)
	}
	return found, nil
}

var (
	identifierForm = lazyregexp.New(`[\pL_$@][\pL\pN_$.]*(?:-[\pL_][\pL\pN_$.]*)*`)
	// declaration has the words of a declaration that are no names.
	declaration = wordSet(`const var let val static final mut export public private protected readonly local my our
		set define def double float int uint long short unsigned signed auto constexpr inline return if for while case
		float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64
		f32 f64 i32 i64 u32 u64 usize isize number bool`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// identifier names the numbers of a line by the code before the first of them:
// the last name before the values that is no word of the language, in Go the
// first.
func identifier(file, code string) string {
	quoted := quotes(code)
	left := code[:min(valuesStart(code, quoted), len(code))]
	if cut, _, typed := strings.Cut(left, ":"); typed && strings.TrimSpace(cut) != "" {
		left = cut // name: type = value
	}
	for _, text := range []string{left, code} {
		if name := lastName(text, path.Ext(file) == ".go"); name != "" {
			return name
		}
	}
	return "value"
}

// lastName returns the last name in a text, or the first, or "".
func lastName(text string, first bool) string {
	name := ""
	for _, word := range identifierForm().FindAllString(text, -1) {
		if declaration[word] || len(word) > 80 {
			continue
		}
		name = word
		if first {
			break
		}
	}
	return name
}
