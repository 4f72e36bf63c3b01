package loop

import (
	"cmp"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
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

// result is the iteration as it is on record, or how the run ended without one.
func (r *run) result(end *endedError) Result {
	result := Result{
		Program: r.Program.Name, Iteration: r.iteration, RunID: r.id, Stopped: cmp.Or(r.stopped, r.overspent()),
		Warnings: r.warnings, BaselineError: r.baselineError, Output: r.failed, Seconds: r.Now().Sub(r.begun).Seconds(),
	}
	if end != nil {
		result.Outcome, result.Reasons, result.Failing = end.outcome, end.reasons, end.failing
	}
	if r.records == nil {
		return result
	}
	sum, e := &r.records.Summary, r.records.Decision
	result.Initial, result.BestMetric = sum.Initial, sum.Best
	result.Issue, result.PullRequest = cmp.Or(sum.Issue, r.Program.Issue), sum.OpenPull()
	if r.comments != nil {
		result.Issue = cmp.Or(r.comments.Issue, result.Issue)
	}
	for _, e := range history.Of[*history.Measured](r.records.log.Events) {
		if e.Run == r.id {
			result.Evaluation = result.Evaluation.Plus(e.Evaluation)
		}
	}
	if end == nil && e != nil {
		result.Iteration, result.Outcome, result.Reasons, result.Failing = e.Iteration, e.Outcome, e.Reasons, e.Failing
	}
	if result.Outcome == history.Idle || e == nil || e.Iteration != result.Iteration {
		return result
	}
	last := &sum.Attempts[len(sum.Attempts)-1]
	incumbent, candidate := last.Sides()
	result.Evaluation = last.Evaluation.Plus(result.Evaluation)
	result.Agent, result.Model, result.Usage, result.Changed = e.Agent, e.Model, e.Usage, e.Changed
	result.Summary, result.Noisy, result.Transcript = e.Summary, e.Noisy, r.transcript
	result.Samples, result.Guardrails = Samples{incumbent.Samples, candidate.Samples}, r.rails(candidate)
	if e.Verdict != "" {
		result.Verdict, result.Metric, result.Evidence = &e.Verdict, e.Metric, e.Evidence
		if e.Delta != "" {
			result.Delta = &e.Delta
		}
	}
	if e.Commit != "" && r.drafted == nil {
		result.Commit = &e.Commit
	}
	return result
}

// Rail is a guardrail of the program, and what it stood at.
type Rail struct {
	decision.Guardrail
	// Initial is the median at iteration 0, Candidate that of the candidate; nil
	// when it was not measured.
	Initial   *metric.Value `json:"initial"`
	Candidate *metric.Value `json:"candidate"`
}

// rails are the guardrails with what the deciding candidate measured last.
func (r *run) rails(measured history.Measured) []Rail {
	rails := make([]Rail, 0, len(r.Program.Guardrails))
	for _, of := range r.Program.Guardrails {
		rails = append(rails, Rail{
			of, median(r.records.Guardrails[of.Metric]), median(measured.GuardrailSamples[of.Metric]),
		})
	}
	return rails
}
