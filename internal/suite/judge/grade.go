package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evals"
)

// Work is what an agent did for one case of an eval suite, as the grader sees
// it. All of it is data from others.
type Work struct {
	// Prompt is what the agent was told, Expected describes a good result, "" for
	// nothing.
	Prompt, Expected string
	// Expectations are judged one by one.
	Expectations []string
	// Transcript is the conversation, Outputs the files that came of it, as text.
	Transcript, Outputs string
}

// Grades is what a grader said about a case.
type Grades struct {
	// Expectations has one verdict for each expectation, in their order; nil when
	// there is none, and Problem then says why.
	Expectations []evals.Graded
	Problem      string
	// Feedback is the grader's opinion of the suite itself, as JSON; nil for none.
	Feedback json.RawMessage
	// Tokens and USD are what asking cost; nil is unknown.
	Tokens *int64
	USD    *metric.Value
}

const (
	maxEvidence = 600
	maxFeedback = 8 << 10
)

// Grade asks about every expectation of a case at once, and once more when the
// answer cannot be used. The burden of proof is on the expectation: one that is
// not answered, or passed without evidence, has failed. The error is for the
// end of ctx alone.
func (j *Judge) Grade(ctx context.Context, w Work) (Grades, error) {
	limited, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	text := gradeQuestion(w, j.asker.room())
	grades, err := j.gradeOnce(limited, text, w.Expectations)
	if errors.Is(err, errUnusable) {
		first := Opinion{Tokens: grades.Tokens, USD: grades.USD}
		grades, err = j.gradeOnce(limited, text+fmt.Sprintf(gradeAgain, plain.Short(err.Error(), maxProblem)), w.Expectations)
		both := Opinion{Tokens: grades.Tokens, USD: grades.USD}
		both.add(first)
		grades.Tokens, grades.USD = both.Tokens, both.USD
	}
	if ctx.Err() != nil {
		return Grades{}, context.Cause(ctx)
	}
	if err != nil {
		grades.Expectations = nil
		grades.Problem = j.masker.OneLine(err.Error(), maxProblem)
	}
	return grades, nil
}

func (j *Judge) gradeOnce(ctx context.Context, text string, expectations []string) (Grades, error) {
	said, err := j.asker.ask(ctx, gradeSystem, text)
	grades := Grades{Tokens: said.Tokens, USD: said.USD}
	if err != nil {
		return grades, fmt.Errorf("the grader %s did not answer (is its key or login right?): %w", j.Name(), err)
	}
	found, err := parseGrades(said.Text, len(expectations))
	if err != nil {
		return grades, fmt.Errorf("%w: %w", errUnusable, err)
	}
	for i, expectation := range expectations {
		verdict := found.verdicts[i+1]
		evidence := j.masker.OneLine(verdict.Evidence, maxEvidence)
		passed := verdict.Passed != nil && *verdict.Passed && evidence != ""
		evidence = cmp.Or(evidence, "the grader gave no evidence")
		grades.Expectations = append(grades.Expectations, evals.Graded{Text: expectation, Passed: passed, Evidence: evidence, Source: evals.ByGrader})
	}
	// A secret may be a number: what is masked need not be JSON any more.
	if feedback := j.masker.Bytes(found.feedback); len(found.feedback) <= maxFeedback && json.Valid(feedback) {
		grades.Feedback = json.RawMessage(feedback)
	}
	return grades, nil
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
			return gradeAnswer{}, fmt.Errorf("expectation number %d is there twice, or was not asked for (1 to %d)", verdict.Number, asked)
		}
		answer.verdicts[verdict.Number] = verdict
	}
	if len(answer.verdicts) == 0 {
		return gradeAnswer{}, errors.New("it answers no expectation")
	}
	return answer, nil
}
