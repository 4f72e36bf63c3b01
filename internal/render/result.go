package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Result is what one iteration came to. As JSON it is one object of the
// command's array.
type Result struct {
	Program   string       `json:"program"`
	Iteration int          `json:"iteration"`
	Outcome   state.Status `json:"outcome"`
	// Verdict is nil when nothing was compared.
	Verdict *decision.Verdict `json:"verdict"`
	// Metric is the candidate's value, or nil.
	Metric *metric.Value `json:"metric"`
	// Initial is iteration 0's metric, BestMetric the incumbent's after it all.
	Initial    *metric.Value `json:"initial_metric"`
	BestMetric *metric.Value `json:"best_metric"`
	// Delta is the signed decimal difference to the best before, nil without one.
	Delta *string `json:"delta"`
	// Noisy says that the evaluation does not repeat itself. Evidence then has
	// the comparisons, and Samples what both sides measured in the last of them.
	Noisy    bool                `json:"noisy"`
	Evidence []decision.Evidence `json:"evidence,omitempty"`
	Samples  Samples             `json:"samples"`
	// Reasons say why, a line each, the deciding one first.
	Reasons decision.Lines `json:"reasons"`
	// Commit is the commit that was kept, nil when none was.
	Commit  *string `json:"commit"`
	RunID   string  `json:"run_id"`
	Summary string  `json:"summary,omitempty"`
	// Transcript is the file that keeps what the agent printed, or "".
	Transcript string `json:"transcript,omitempty"`
	// Output is the file that keeps what the first evaluation printed that failed,
	// or "".
	Output string `json:"evaluation_output,omitempty"`
	// Bundle is the directory of the bundle that was written, or "".
	Bundle string `json:"bundle,omitempty"`
	// Stopped says why the program takes no further iteration; "" when it does.
	Stopped string `json:"stopped,omitempty"`
	// Agent and Model say who proposed, Usage what it cost and Changed which files
	// the deciding proposal changed; empty when nobody proposed.
	Agent   string        `json:"agent,omitempty"`
	Model   string        `json:"model,omitempty"`
	Usage   *metric.Usage `json:"usage,omitempty"`
	Changed []string      `json:"changed,omitempty"`
	// Evaluation is what the models used that were asked to measure, of a baseline
	// before the iteration too; nil when none was asked. It is not in Usage.
	Evaluation *history.Expense `json:"evaluation,omitempty"`
	// Guardrails are what the candidate measured besides its metric.
	Guardrails []Rail `json:"guardrails,omitempty"`
	// Failing are the checks of CI that fail.
	Failing []history.Check `json:"failing_checks,omitempty"`
	// Issue and PullRequest are the program's, 0 when none is known.
	Issue       int `json:"issue,omitempty"`
	PullRequest int `json:"pull_request,omitempty"`
	// BaselineError says why the unchanged files cannot be measured; "" when they
	// can, or when that was not asked.
	BaselineError string `json:"baseline_error,omitempty"`
	// Warnings are things a person should look at.
	Warnings []string `json:"warnings,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
}

// Rail is a guardrail of the program, and what it stood at.
type Rail struct {
	decision.Guardrail
	// Initial is the median at iteration 0, Candidate that of the candidate; nil
	// when it was not measured.
	Initial   *metric.Value `json:"initial"`
	Candidate *metric.Value `json:"candidate"`
}

// Samples are what the two sides of a trial measured, in their order.
type Samples struct {
	Incumbent []metric.Value `json:"incumbent"`
	Candidate []metric.Value `json:"candidate"`
}

// ResultTable has a row for every iteration of a run.
func ResultTable(results []Result) Table {
	table := Table{
		Header: []string{"iteration", "outcome", "metric", "incumbent", "delta", "best", "time", "why"},
		Align:  "rlrrrrr",
	}
	noisy := false
	for _, r := range results {
		delta, incumbent := "—", "—"
		if r.Delta != nil {
			delta = *r.Delta
		}
		if n := len(r.Evidence); n > 0 {
			incumbent, noisy = r.Evidence[n-1].Incumbent.String(), true
		}
		f := Rounded(metric.Text(r.Metric, "—"), incumbent, delta, metric.Text(r.BestMetric, "—"),
			plain.Line(Why(r.Outcome, r.Summary, r.Reasons, nil)))
		word := OutcomeOf(r.Outcome).Word
		if r.Bundle != "" { // it has no outcome before it is published
			word = "proposed"
		}
		table.Rows = append(table.Rows, []string{
			strconv.Itoa(r.Iteration), word, f[0], f[1], f[2], f[3], fmt.Sprintf("%.1fs", r.Seconds), f[4],
		})
	}
	if noisy { // what a noisy candidate was compared with is not the best on record
		return table
	}
	table.Header, table.Align = slices.Delete(table.Header, 3, 4), "rlrrrr"
	for i, row := range table.Rows {
		table.Rows[i] = slices.Delete(row, 3, 4)
	}
	return table
}

// Notes is what a person should know of a run besides its table and its warnings.
func Notes(results []Result) string {
	if len(results) == 0 {
		return ""
	}
	var out strings.Builder
	for _, r := range results { // why evaluations failed, whole, and where their output is
		if r.Output == "" {
			continue
		}
		for _, reason := range r.Reasons {
			fmt.Fprintf(&out, "\niteration %d: %s\n", r.Iteration, plain.Line(reason.String()))
		}
		fmt.Fprintf(&out, "  all that it printed: %s\n", r.Output)
	}
	for i, r := range results { // what noisy trials said of every kept iteration, and of the last one
		if n := len(r.Evidence); n > 0 && (r.Outcome == history.Accepted || i == len(results)-1) {
			fmt.Fprintf(&out, "\niteration %d, %s: %s\n", r.Iteration, r.Evidence[n-1].Stage,
				Trial(r.Evidence[n-1]))
		}
	}
	last := results[len(results)-1]
	if last.Bundle != "" {
		out.WriteString("\nnothing is recorded yet: `iterate job publish` verifies the bundle, and records it\n")
	}
	if last.Initial != nil && last.BestMetric != nil {
		remark := ""
		if last.Noisy {
			remark = "; noisy and measured at different times, so the sum of the gains may differ"
		}
		figures := Rounded(last.Initial.String(), last.BestMetric.String(),
			metric.Delta(*last.BestMetric, last.Initial))
		fmt.Fprintf(&out, "\n%s: %s at the start, %s now (%s%s)\n", last.Program, figures[0], figures[1],
			figures[2], remark)
	}
	if last.Stopped != "" {
		fmt.Fprintf(&out, "%s: %s\n", last.Program, last.Stopped)
	}
	return out.String()
}
