package tuner

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

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
