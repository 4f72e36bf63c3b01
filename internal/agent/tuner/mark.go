package tuner

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Mark is one marked number of a file. Its Name is unique: file:identifier, [i] of
// several, #n when doubled. Int is also set for a number without a point whose bounds have
// none: only whole numbers are written.
type Mark struct {
	Param
	start, end int // in the file
	// pointed says that it was written with a point or an exponent, and is written so again.
	pointed bool
	plus    bool // written with a leading +
}

const (
	// maxMarkLine is the longest line, in bytes, that is searched for marks.
	maxMarkLine = 4096
	// maxExact bounds whole numbers to those that a float64 holds exactly.
	maxExact = 1 << 53
	tuneWord = "tune:"
)

// scan finds the marks of a file.
type scan struct {
	File
	seen map[string]int // how often a name was given
}

// ParseFile finds the marked numbers of a file. A mark is a comment that says
// `tune: min..max` on the line of its numbers: those between it and the
// beginning of the line, or the mark before it. The error says where a mark is bad.
func ParseFile(path string, text []byte) (File, error) {
	s := scan{File{Path: path, Text: text}, map[string]int{}}
	offset, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		if len(line) <= maxMarkLine {
			if err := s.line(string(line), offset); err != nil {
				return File{}, fmt.Errorf("%s:%d: tune mark: %w", path, number, err)
			}
		}
		offset += len(line)
	}
	return s.File, nil
}

var (
	// tuneForm is the word alone: not of fine-tune: or autotune:.
	tuneForm = lazyregexp.New(`(?:^|[^\pL\pN_$-])` + tuneWord)
	// strongMarkers begin comments, but for addresses (https://…), colours (#fff) and
	// directives (#define). Of the weak ones, -- and ;, the last before the mark counts, and
	// only when the line has no other: they are operators or ends of statements elsewhere.
	strongMarkers = lazyregexp.New(`//|/\*|<!--|\B#[ \t]|#[ \t]*$`)
	closings      = map[string]string{"/*": "*/", "<!": "-->"}
)

// line finds the marked numbers of a line that begins at an offset in the file.
func (s *scan) line(line string, offset int) error {
	from := 0
	for _, word := range tuneForm().FindAllStringIndex(line, -1) {
		if word[0] < from {
			continue // the mark before it has the word again
		}
		before := hideQuoted(line[from : word[1]-len(tuneWord)])
		start := max(strings.LastIndex(before, "--"), strings.LastIndex(before, ";"))
		if at := strongMarkers().FindStringIndex(strings.ReplaceAll(before, "://", ":__")); at != nil {
			start = at[0]
		}
		if start < 0 {
			continue // no comment
		}
		text, end := line[word[1]:], len(line)
		if closing := closings[before[start:min(start+2, len(before))]]; closing != "" {
			if at := strings.Index(text, closing); at >= 0 {
				text, end = text[:at], word[1]+at+len(closing)
			}
		}
		leading := strings.Trim(before[start:], "/*<!-#; \t") == ""
		first, _, _ := strings.Cut(strings.TrimLeft(text, " \t"), " ")
		ranged := strings.Contains(first, "..")
		if ranged || leading && strings.TrimSpace(before[:start]) != "" { // else the word is in a sentence
			if err := s.mark(line[from:from+start], before[:start], text, offset+from); err != nil {
				return err
			}
		}
		from = end
	}
	return nil
}

// mark gives the numbers of code, which begins at an offset in the file, what a mark's text
// allows; hidden is the code without what is quoted.
func (s *scan) mark(code, hidden, text string, offset int) error {
	param, pointed, err := parseMark(text)
	if err != nil {
		return err
	}
	start, whole := valuesStart(hidden), param.Int
	found := numbers(hidden, start)
	if len(found) == 0 {
		return fmt.Errorf("no number before it on its line; the mark stands on the line of the number")
	}
	name := s.Path + ":" + identifier(s.Path, code[:found[0].start], start)
	s.seen[name]++
	if n := s.seen[name]; n > 1 {
		name = fmt.Sprintf("%s#%d", name, n)
	}
	for i, mark := range found {
		param.Name, param.Current, param.Int = name, mark.Current, whole || !pointed && !mark.pointed
		if len(found) > 1 {
			param.Name = fmt.Sprintf("%s[%d]", name, i)
		}
		if err := param.Validate(); err != nil {
			return err
		}
		mark.Param, mark.start, mark.end = param, mark.start+offset, mark.end+offset
		s.Marks = append(s.Marks, mark)
	}
	return nil
}

const decimalForm = `[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?`

var (
	// remark is where a mark ends: `tune: 1..9 int (per second)`.
	remark   = lazyregexp.New(`[;(]| --? |—|–|//| #`)
	markForm = lazyregexp.New(`^(` + decimalForm + `)\.\.(` + decimalForm + `)(?: step[= ](` + decimalForm +
		`)| log| int)*$`)
)

// parseMark reads the text after "tune:": what it allows for the numbers before it.
// Pointed says that a bound or the step was written with a point or an exponent: then a
// number without one need not stay whole.
func parseMark(text string) (p Param, pointed bool, err error) {
	text = strings.Join(strings.Fields(remark().Split(strings.ReplaceAll(text, ",", " "), 2)[0]), " ")
	form := markForm().FindStringSubmatch(text)
	if form == nil {
		return p, false, fmt.Errorf("%.60q is not understood; a mark is `tune: min..max`, then any of `step S`, "+
			"`log`, `int`, and a remark after `;`", text)
	}
	p.Log, p.Int = strings.Contains(text, " log"), strings.Contains(text, " int")
	for i, x := range []*float64{&p.Min, &p.Max, &p.Step} {
		*x, _ = strconv.ParseFloat(form[i+1], 64) // beyond all numbers it is infinite, which Validate refuses
		pointed = pointed || strings.ContainsAny(form[i+1], ".eE")
	}
	switch {
	case p.Int && max(math.Abs(p.Min), math.Abs(p.Max)) > maxExact:
		err = fmt.Errorf("whole numbers beyond 2^53 cannot be searched")
	case form[3] != "" && (p.Step <= 0 || p.Min < p.Max && p.Step > p.Max-p.Min || p.Int && p.Step != math.Trunc(p.Step)):
		err = fmt.Errorf("the step %s must be above zero, no wider than %v..%v, and whole for `int`", form[3], p.Min,
			p.Max)
	}
	return p, pointed, err
}

// quotedForm is a string, or a word with an apostrophe, which opens none.
var quotedForm = lazyregexp.New(`[\pL\pN_$-]{2,}'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|` + "`(?:\\\\.|[^`\\\\])*`")

// hideQuoted blots out what is between quotes, but for a number alone.
func hideQuoted(text string) string {
	return quotedForm().ReplaceAllStringFunc(text, func(quoted string) string {
		inside := strings.TrimLeft(quoted[1:len(quoted)-1], "+-")
		if !strings.ContainsAny(quoted[:1], "\"'`") || inside != "" && decimal().FindString(inside) == inside {
			return quoted
		}
		return quoted[:1] + strings.Repeat("_", len(quoted)-2) + quoted[:1]
	})
}

// starts are what the values of a line come after: the first assignment, else the first
// colon, else the first parenthesis.
var starts = []lazyregexp.Regexp{
	lazyregexp.New(`(?:^|[^=<>!~])(=)(?:[^=>]|$)`), lazyregexp.New(`(?:^|[^:])(:)(?:[^:]|$)`), lazyregexp.New(`(\()`),
}

func valuesStart(hidden string) int {
	for _, form := range starts {
		if at := form().FindStringSubmatchIndex(hidden); at != nil {
			return at[3]
		}
	}
	return 0
}

var (
	// nameRun is a run of the characters of names and numbers.
	nameRun = lazyregexp.New(`\.?\d(?:[eE][+-]\d|[\w.$]|[^\x00-\x7F])*|(?:[\w.$]|[^\x00-\x7F])+`)
	// decimal is a number at the beginning of a run: digits with single underscores, a
	// fraction, an exponent.
	decimal = lazyregexp.New(`^(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?`)
	// otherwise is what no decimal number goes on with: 1.2.3, 0x1f.
	otherwise   = lazyregexp.New(`^[^_A-Za-z]|^[xXbBoO][0-9A-Za-z]`)
	leadingZero = lazyregexp.New(`^0\d`)
)

// numbers returns the decimal numbers of a line's values. Numbers inside names (x2), in
// dotted versions, in other bases, and with leading zeros do not count. A unit after a
// number (0.5f, 10ms) does not belong to it.
func numbers(hidden string, start int) (found []Mark) {
	for _, at := range nameRun().FindAllStringIndex(hidden[start:], -1) {
		run := hidden[start+at[0] : start+at[1]]
		number := decimal().FindString(run)
		if number == "" || otherwise().MatchString(run[len(number):]) || leadingZero().MatchString(run) {
			continue
		}
		mark := Mark{
			start:   start + at[0],
			end:     start + at[0] + len(number),
			pointed: strings.ContainsAny(number, ".eE"),
		}
		if signForm().MatchString(hidden[:mark.start]) {
			mark.start--
			mark.plus = hidden[mark.start] == '+'
		}
		var err error
		mark.Current, err = strconv.ParseFloat(strings.ReplaceAll(hidden[mark.start:mark.end], "_", ""), 64)
		if err == nil {
			found = append(found, mark)
		}
	}
	return found
}

// signForm is a sign at the end that belongs to the number, and not to a sum or to i--.
var signForm = lazyregexp.New(`(?:^|[^\pL\pN_$)\]}.\-])-$|(?:^|[^\pL\pN_$)\]}.+])\+$`)

var (
	identifierForm = lazyregexp.New(`[\pL_$@][\pL\pN_$.]*(?:-[\pL_][\pL\pN_$.]*)*`)
	// declaration has the words of a declaration that are no names.
	declaration = lazyregexp.New(`^(?:const|var|let|val|static|final|mut|export|public|private|protected|readonly|` +
		`local|my|our|set|define|def|double|float|int|uint|long|short|unsigned|signed|auto|constexpr|inline|return|if|` +
		`for|while|case|float32|float64|u?int(?:8|16|32|64)|[fiu](?:32|64)|usize|isize|number|bool)$|^.{81}`)
)

// identifier names the numbers of a line by the code before the first of them:
// the last name before the values that is no word of the language, in Go the
// first.
func identifier(file, code string, start int) string {
	left := code[:start]
	if cut, _, typed := strings.Cut(left, ":"); typed && strings.TrimSpace(cut) != "" {
		left = cut // name: type = value
	}
	for _, text := range []string{left, code} {
		names := slices.DeleteFunc(identifierForm().FindAllString(text, -1), declaration().MatchString)
		switch {
		case len(names) == 0:
		case path.Ext(file) == ".go":
			return names[0]
		default:
			return names[len(names)-1]
		}
	}
	return "value"
}
