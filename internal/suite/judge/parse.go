package judge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evals"
)

// maxAnswer bounds what is looked at of an answer, in bytes, and maxObjects how
// many beginnings of an object are tried.
const (
	maxAnswer  = 256 << 10
	maxObjects = 1000
)

// graded is the object that a judge answers with.
type graded struct {
	Score     *json.RawMessage `json:"score"`
	Max       *json.RawMessage `json:"max"`
	Rationale any              `json:"rationale"`
}

// parse finds the one object with a score in an answer, between whatever prose
// and braces there are, and reads it. Two objects with different scores are no
// answer.
func parse(text string) (metric.Value, string, error) {
	found := objectsIn(text, func(one graded) bool { return one.Score != nil })
	if len(found) == 0 {
		return metric.Value{}, "", errors.New("it has no JSON object with a `score`")
	}
	first, err := found[0].value()
	if err != nil {
		return metric.Value{}, "", err
	}
	for _, other := range found[1:] {
		if value, err := other.value(); err != nil || value.Cmp(first) != 0 {
			return metric.Value{}, "", fmt.Errorf("it has %d JSON objects with a `score` that differ", len(found))
		}
	}
	rationale, _ := found[0].Rationale.(string)
	return first, rationale, nil
}

// objectsIn finds the JSON objects in a text that are wanted. One may be inside of
// another that is not.
func objectsIn[T any](text string, wanted func(T) bool) []T {
	text = text[:min(len(text), maxAnswer)]
	var found []T
	for range maxObjects {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text = text[start:]
		var raw json.RawMessage
		var one T
		length := 1
		if json.NewDecoder(strings.NewReader(text)).Decode(&raw) == nil && json.Unmarshal(raw, &one) == nil &&
			wanted(one) {
			found, length = append(found, one), len(raw)
		}
		text = text[length:]
	}
	return found
}

// value is the score as a finite number from 0 to 1.
func (g graded) value() (metric.Value, error) {
	if g.Max != nil {
		return metric.Value{}, errors.New("it has a `max`; the scale is 0 to 1")
	}
	var number json.Number
	if err := json.Unmarshal(*g.Score, &number); err != nil || strings.HasPrefix(string(*g.Score), `"`) {
		return metric.Value{}, errors.New("its `score` is no number")
	}
	score, err := metric.ParseValue(number.String())
	switch {
	case errors.Is(err, metric.ErrNotFinite):
		return metric.Value{}, errors.New("its `score` is no finite number")
	case err != nil:
		return metric.Value{}, errors.New("its `score` is no number")
	case score.Sign() < 0 || score.Cmp(metric.FromInt(1)) > 0:
		return metric.Value{}, fmt.Errorf("its `score` %s is not from 0 to 1", plain.Short(number.String(), maxProblem))
	}
	return score, nil
}

const (
	maxEvidence = 600
	maxFeedback = 8 << 10
)

// readVerdicts reads an answer about every expectation of a case at once. The burden of
// proof is on the expectation: one that is not answered, or passed without evidence, has
// failed.
func (j *Judge) readVerdicts(w Work, said answer, into *Opinion) error {
	found, err := parseGrades(said.Text, len(w.Expectations))
	if err != nil {
		return err
	}
	for i, expectation := range w.Expectations {
		verdict := found.verdicts[i+1]
		evidence := j.masker.OneLine(verdict.Evidence, maxEvidence)
		passed := verdict.Passed != nil && *verdict.Passed && evidence != ""
		evidence = cmp.Or(evidence, "the grader gave no evidence")
		into.Expectations = append(into.Expectations,
			evals.Graded{Text: expectation, Passed: passed, Evidence: evidence, Source: evals.ByGrader})
	}
	// A secret may be a number: what is masked need not be JSON any more.
	if feedback := j.masker.Bytes(found.feedback); len(found.feedback) <= maxFeedback && json.Valid(feedback) {
		into.Feedback = json.RawMessage(feedback)
	}
	return nil
}

// gradeVerdict is the answer to one expectation.
type gradeVerdict struct {
	Number   int    `json:"number"`
	Passed   *bool  `json:"passed"`
	Evidence string `json:"evidence"`
}

type gradeAnswer struct {
	verdicts map[int]gradeVerdict
	feedback []byte
}

// parseGrades finds the one object with verdicts in an answer, between whatever
// prose there is. An answer with two of them, with a number twice or with one
// that was not asked for does not count.
func parseGrades(text string, asked int) (gradeAnswer, error) {
	type object struct {
		Expectations *[]gradeVerdict `json:"expectations"`
		Feedback     json.RawMessage `json:"eval_feedback"`
	}
	found := objectsIn(text, func(one object) bool { return one.Expectations != nil })
	if len(found) != 1 {
		return gradeAnswer{}, fmt.Errorf("it has %d JSON objects with `expectations`, not one", len(found))
	}
	answer := gradeAnswer{map[int]gradeVerdict{}, found[0].Feedback}
	for _, verdict := range *found[0].Expectations {
		if _, twice := answer.verdicts[verdict.Number]; twice || verdict.Number < 1 || verdict.Number > asked {
			return gradeAnswer{}, fmt.Errorf("expectation number %d is there twice, or was not asked for (1 to %d)",
				verdict.Number, asked)
		}
		answer.verdicts[verdict.Number] = verdict
	}
	if len(answer.verdicts) == 0 {
		return gradeAnswer{}, errors.New("it answers no expectation")
	}
	return answer, nil
}
