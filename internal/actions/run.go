package actions

import (
	"fmt"
	"strconv"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// ReportRun sets the step's outputs, annotates what is wrong and adds the summary
// of a run, whose report goes to a directory. The program is nil when none was
// selected.
func (s Step) ReportRun(p *program.Program, results []render.Result, dir string) error {
	file, err := s.WriteReport(dir, results)
	if err != nil {
		return err
	}
	last := render.Result{Outcome: history.Idle} // what the last iteration came to is the run's
	var list []annotation
	said := map[string]bool{}
	for _, r := range results {
		last = r
		title := fmt.Sprintf("Autoloop: %s, iteration %d", r.Program, r.Iteration)
		if r.Outcome == history.Error {
			a := failure(title, decision.Joined(r.Reasons))
			if p != nil {
				a.File = p.File
			}
			list = append(list, a)
		}
		for _, text := range r.Warnings {
			if !said[text] {
				list = append(list, warning(title, text))
			}
			said[text] = true
		}
	}
	outputs := []Output{
		{"outcome", string(last.Outcome)},
		{"verdict", string(valueOf(last.Verdict))},
		{"metric", metric.Text(last.Metric, "")},
		{"best-metric", metric.Text(last.BestMetric, "")},
		{"pr-number", number(last.PullRequest)},
		{"issue-number", number(last.Issue)},
		{"report", file},
	}
	return s.report(outputs, s.Dir, list, resultSummary(s, p, results))
}

// report sets outputs, annotates, and adds to the summary of the job.
func (s Step) report(outputs []Output, root string, list []annotation, summary string) error {
	if err := s.SetOutputs(outputs...); err != nil {
		return err
	}
	if err := s.annotate(root, list...); err != nil {
		return err
	}
	return s.AddSummary(summary)
}

// number is the number of an issue or a pull request; 0 means no number.
func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// valueOf is what a pointer points to; nil is the zero value.
func valueOf[T any](pointer *T) T {
	var value T
	if pointer != nil {
		value = *pointer
	}
	return value
}
