package agent

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

// tuning is one proposal of the tuner, before anything is written.
type tuning struct {
	files   []tunedFile
	values  map[string]float64
	summary string
}

// errNoMarks says that the tuner has nothing to do.
var errNoMarks = errors.New("no number in the target files is marked for the tuner; " +
	"add a comment such as `// tune: 0.01..1 log` on its line, or choose another agent")

// proposeTuning reads the marks of the target files at root and asks the search
// for the next values.
func proposeTuning(root *os.Root, paths []string, history []tuner.Observation, direction metric.Direction, seed int64) (tuning, error) {
	files, err := readAllTuned(root, paths)
	if err != nil {
		return tuning{}, err
	}
	t := tuning{files: files}
	var space []tuner.Param
	for _, file := range files {
		for _, mark := range file.marks {
			param := mark.param()
			if err := param.Validate(); err != nil {
				return tuning{}, &markError{file.path, mark.line, err}
			}
			space = append(space, param)
		}
	}
	if len(space) == 0 {
		return tuning{}, errNoMarks
	}
	proposal, err := tuner.Propose(space, history, direction, seed)
	if err != nil {
		return tuning{}, err
	}
	t.values = proposal.Params
	t.summary = t.describe()
	return t, nil
}

// param is the marked number as the search sees it.
func (t tunable) param() tuner.Param {
	return tuner.Param{
		Name: t.name, Min: t.mark.min, Max: t.mark.max, Step: t.mark.step,
		Log: t.mark.log, Int: t.whole, Current: t.literal.value,
	}
}

// write changes the marked numbers in the files.
func (t tuning) write(root *os.Root) error {
	for _, file := range t.files {
		if text := file.rewrite(t.values); string(text) != string(file.text) {
			if err := file.write(root, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// params returns the values as exact decimals, for the ledger.
func (t tuning) params() (map[string]metric.Value, error) {
	params := make(map[string]metric.Value, len(t.values))
	for name, value := range t.values {
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
func (t tuning) describe() string {
	var changes []string
	more := 0
	for _, file := range t.files {
		for _, mark := range file.marks {
			value := t.values[mark.name]
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
func (t tunable) describe(value float64) string {
	text := fmt.Sprintf("%s %s → %s", t.short, shortText(t.literal.value), shortText(value))
	if t.literal.value < t.mark.min || t.literal.value > t.mark.max {
		text += fmt.Sprintf(" (was outside %s..%s)", shortText(t.mark.min), shortText(t.mark.max))
	}
	return text
}
