package skill

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// Evaluated is what all suites of a skill came to: `iterate eval --json`. Scores are null where the skill has
// no such suite.
type Evaluated struct {
	Name string `json:"name"`
	Figure
	Triggers *Figure           `json:"triggers"`
	Answers  *Figure           `json:"answers"`
	Feedback map[string]string `json:"eval_feedback,omitempty"`
	remarks  []string          // of graders on the suite, for people
	// Notes say what was not run.
	Notes []string `json:"notes,omitempty"`
}

// Figure is what one suite came to.
type Figure struct {
	Score metric.Value `json:"score"`
	Cases []CaseFigure `json:"cases"`
}

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

func caseFigure(c evals.CaseScore, problem string) CaseFigure {
	one := CaseFigure{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: evals.RateValue(c.PassRate())}
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
	found.Figure, found.remarks, found.Feedback = figureOf(result), evalrun.Remarks(result.Cases), map[string]string{}
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
	figure := Figure{Score: evals.RateValue(r.Rate)}
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

// describe shows a figure of its own, with what failed, or nil.
func (f *Figure) describe(out *strings.Builder, name string) {
	if f == nil {
		return
	}
	fmt.Fprintf(out, "%s: %s over %d\n", name, render.Figure(&f.Score), len(f.Cases))
	for _, c := range f.Cases {
		c.describe(out, c.ID+" ")
	}
}

// describe says why a case, which these words name, did not pass whole.
func (c CaseFigure) describe(out *strings.Builder, name string) {
	if c.Problem != nil {
		fmt.Fprintf(out, "  %scounts 0: %s\n", name, *c.Problem)
	}
	for _, line := range c.Failed {
		fmt.Fprintf(out, "  %sfailed: %s\n", name, line)
	}
}

// String says what every case came to, and what failed.
func (e Evaluated) String() string {
	var out strings.Builder
	for _, c := range e.Cases {
		fmt.Fprintf(&out, "case %s: %d of %d\n", c.ID, c.Passed, c.Total)
		c.describe(&out, "")
	}
	e.Triggers.describe(&out, "triggers")
	e.Answers.describe(&out, "answers")
	for _, remark := range e.remarks {
		fmt.Fprintln(&out, remark)
	}
	for _, note := range e.Notes {
		fmt.Fprintf(&out, "note: %s\n", note)
	}
	fmt.Fprintf(&out, "%s: pass rate %s over %s\n", e.Name, render.Figure(&e.Score),
		render.Count(len(e.Cases), "case", "cases"))
	return out.String()
}
