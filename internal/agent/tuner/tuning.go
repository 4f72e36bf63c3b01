package tuner

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// Tuning is one proposal of the tuner, before anything is written. Values are by
// the names of the marks.
type Tuning struct {
	Values  map[string]float64
	Summary string
	files   []File
}

// ErrNoMarks says that the tuner has nothing to do.
var ErrNoMarks = errors.New("no number in the target files is marked for the tuner; " +
	"add a comment such as `// tune: 0.01..1 log` on its line, or choose another agent")

// Tune asks the search for the next values of the marks of files. The error may be
// ErrNoMarks, ErrExhausted or a *MarkError.
func Tune(files []File, history []Observation, direction metric.Direction, seed int64) (Tuning, error) {
	t := Tuning{files: files}
	var space []Param
	for _, file := range files {
		for _, mark := range file.Marks {
			space = append(space, mark.param)
		}
	}
	if len(space) == 0 {
		return Tuning{}, ErrNoMarks
	}
	proposal, err := Propose(space, history, direction, seed)
	if err != nil {
		return Tuning{}, err
	}
	t.Values = proposal.Params
	t.Summary = t.describe()
	return t, nil
}

// Params returns the values as exact decimals, for the ledger.
func (t Tuning) Params() (map[string]metric.Value, error) {
	params := make(map[string]metric.Value, len(t.Values))
	for name, value := range t.Values {
		exact, err := metric.FromFloat(value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		params[name] = exact
	}
	return params, nil
}

// maxDescribed is how many changes a summary spells out.
const maxDescribed = 4

// describe says what changes: "step 0.5 → 0.37, decay 0.9 → 0.93".
func (t Tuning) describe() string {
	var changes []string
	more := 0
	for _, file := range t.files {
		for _, mark := range file.Marks {
			value := t.Values[mark.name]
			if value == mark.literal.value {
				continue
			}
			if len(changes) == maxDescribed {
				more++
				continue
			}
			changes = append(changes, mark.describe(value))
		}
	}
	summary := strings.Join(changes, ", ")
	if more > 0 {
		summary += fmt.Sprintf(" and %d more", more)
	}
	return summary
}

func shortText(x float64) string {
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// describe says how one number changes, and when its old value was not allowed.
func (t Mark) describe(value float64) string {
	text := fmt.Sprintf("%s %s → %s", t.short, shortText(t.literal.value), shortText(value))
	if t.literal.value < t.param.Min || t.literal.value > t.param.Max {
		text += fmt.Sprintf(" (was outside %s..%s)", shortText(t.param.Min), shortText(t.param.Max))
	}
	return text
}
