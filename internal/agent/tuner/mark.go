package tuner

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
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
	text = plain.Spaced(remark().Split(strings.ReplaceAll(text, ",", " "), 2)[0])
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

// File is a target file with the numbers that it marks.
type File struct {
	Path  string // with slashes, from the tree's root
	Text  []byte
	Marks []Mark
}

// ErrNoMarks says that the tuner has nothing to do.
var ErrNoMarks = errors.New("no number in the target files is marked for the tuner; " +
	"add a comment such as `// tune: 0.01..1 log` on its line, or choose another agent")

// Tune asks the search for the next values of the marks of files, by their names, and
// says what changes: "step 0.5 → 0.37, decay 0.9 → 0.93". The error may be ErrNoMarks or
// ErrExhausted.
func Tune(files []File, history []Observation, direction metric.Direction, seed int64) (
	values map[string]float64, summary string, err error,
) {
	var space []Param
	for _, file := range files {
		for _, mark := range file.Marks {
			space = append(space, mark.Param)
		}
	}
	if values, err = Propose(space, history, direction, seed); err != nil {
		return nil, "", err
	}
	var changes []string
	for _, p := range space {
		if value := values[p.Name]; value != p.Current {
			changes = append(changes, p.describe(value))
		}
	}
	const most = 4
	if more := len(changes) - most; more > 0 {
		changes[most-1] += fmt.Sprintf(" and %d more", more)
		changes = changes[:most]
	}
	return values, strings.Join(changes, ", "), nil
}

// describe says how one number changes, and when its old value was not allowed.
func (p Param) describe(value float64) string {
	_, name, _ := strings.Cut(p.Name, ":")
	text := fmt.Sprintf("%s %s → %s", name, shortText(p.Current), shortText(value))
	if p.Current != p.Clamp(p.Current) {
		text += fmt.Sprintf(" (was outside %s..%s)", shortText(p.Min), shortText(p.Max))
	}
	return text
}

func shortText(x float64) string {
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Rewrite returns the file's text with only the marked numbers changed that
// have a new value.
func (f File) Rewrite(values map[string]float64) []byte {
	out := make([]byte, 0, len(f.Text)+64)
	from := 0
	for _, mark := range f.Marks {
		value, ok := values[mark.Name]
		if !ok || value == mark.Current {
			continue
		}
		out = append(out, f.Text[from:mark.start]...)
		text := mark.render(value)
		line := string(out[bytes.LastIndexByte(out, '\n')+1:])
		if text[0] == '-' && !signForm().MatchString(line+"-") {
			out = append(out, ' ') // a - -1, where a--1 would not compile
		}
		out = append(out, text...)
		from = mark.end
	}
	return append(out, f.Text[from:]...)
}

// render writes a value in the manner of the number that it replaces.
func (t Mark) render(value float64) string {
	text := shortText(value)
	if mantissa, exponent, small := strings.Cut(text, "e"); t.Int {
		text = strconv.FormatFloat(value, 'f', 0, 64)
	} else if (t.pointed || small) && !strings.Contains(mantissa, ".") {
		text = strings.TrimSuffix(mantissa+".0e"+exponent, "e") // a number in YAML 1.1 and in Go alike
	}
	if t.plus && value >= 0 {
		return "+" + text
	}
	return text
}
