package skill

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Evaluated is what all suites of a skill came to: `iterate eval --json`. Scores are null where the skill has
// no such suite.
type Evaluated struct {
	Name string `json:"name"`
	Figure
	Triggers *Figure           `json:"triggers"`
	Answers  *Figure           `json:"answers"`
	Feedback map[string]string `json:"eval_feedback,omitempty"`
	// Notes say what was not run.
	Notes []string `json:"notes,omitempty"`
}

// Figure is what one suite came to.
type Figure struct {
	Score metric.Value `json:"score"`
	Cases []CaseFigure `json:"cases"`
	text  string       // what did not pass, and what did, for people
}

// maxText bounds what people are told of one suite, in bytes.
const maxText = 1 << 20

// CaseFigure is what a case came to, over all of its runs.
type CaseFigure struct {
	ID string `json:"id"`
	// Passed and Total are sums over the runs, and PassRate is their quotient.
	Passed   int          `json:"passed"`
	Total    int          `json:"total"`
	PassRate metric.Value `json:"pass_rate"`
	Problem  *string      `json:"problem"`
	// Failed is what did not pass in a run that was just made, Runs the passed of each
	// run that was read, in their order; nil is left out.
	Failed []string `json:"failed,omitzero"`
	Runs   []int    `json:"runs,omitzero"`
}

func caseFigure(c suite.CaseScore, problem string) CaseFigure {
	one := CaseFigure{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: c.PassRate()}
	if problem != "" {
		one.Problem = &problem
	}
	return one
}

// Evaluate runs the suites that the skill has, one after the other.
func Evaluate(ctx context.Context, skill *evalrun.Skill, keep string, o evalrun.Options) (found Evaluated, err error) {
	found = Evaluated{Name: skill.Name}
	result, err := evalrun.Run(ctx, skill, keep, o)
	if err != nil {
		return found, err
	}
	found.Figure, found.Feedback = figureOf(result), map[string]string{}
	for _, c := range result.Cases {
		if c.Feedback != nil {
			found.Feedback[c.ID] = string(c.Feedback)
		}
	}
	triggers := skill.TriggerSuite()
	if triggers != nil && !evalrun.Chooses(o.Agent.Name()) {
		found.Notes = append(
			found.Notes,
			fmt.Sprintf("the trigger queries were not run: agent %s is shown every file, "+
				"and does not choose which skills it takes up", o.Agent.Name()),
		)
		triggers = nil
	}
	if found.Triggers, err = figureBeside(ctx, triggers, filepath.Join(keep, "triggers"), o); err == nil {
		found.Answers, err = figureBeside(ctx, skill.AnswerSuite(), filepath.Join(keep, "answers"), o)
	}
	return found, err
}

// figureBeside runs a suite that a skill need not have.
func figureBeside(ctx context.Context, suite *evalrun.Skill, keep string, o evalrun.Options) (*Figure, error) {
	if suite == nil {
		return nil, nil //nolint:nilnil // the skill has none
	}
	result, err := evalrun.Run(ctx, suite, keep, o)
	if err != nil {
		return nil, err
	}
	return new(figureOf(result)), nil
}

func figureOf(r evalrun.Result) Figure {
	figure := Figure{Score: r.Rate, text: evalrun.Failures(r, maxText)}
	for _, c := range r.Cases {
		one := caseFigure(c, c.Problem)
		one.Failed = []string{}
		for _, failed := range c.Failed {
			one.Failed = append(one.Failed, failed.Text+": "+failed.Evidence)
		}
		figure.Cases = append(figure.Cases, one)
	}
	return figure
}

// String says of every suite what did not pass, and what it came to.
func (e Evaluated) String() string {
	text := e.text + "\n"
	for i, beside := range []*Figure{e.Triggers, e.Answers} {
		if beside != nil {
			text += fmt.Sprintf("%s: %s over %d\n%s\n", []string{"triggers", "answers"}[i], render.Figure(&beside.Score),
				len(beside.Cases), beside.text)
		}
	}
	for _, note := range e.Notes {
		text += fmt.Sprintf("note: %s\n", note)
	}
	return text + fmt.Sprintf("%s: pass rate %s over %s\n", e.Name, render.Figure(&e.Score),
		render.Count(len(e.Cases), "case"))
}
