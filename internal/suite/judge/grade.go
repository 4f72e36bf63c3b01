package judge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/suite/evals"
)

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
