package loop

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
)

// Result is what one iteration came to. As JSON it is one object of the
// command's array.
type Result struct {
	Program   string          `json:"program"`
	Iteration int             `json:"iteration"`
	Outcome   history.Outcome `json:"outcome"`
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

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// resultOf is the result of a proposal that was recorded. One without a decision
// is of the iteration before: the baseline ended the run.
func (r *recorder) resultOf(p *proposal.Proposal) Result {
	switch {
	case p.Postponed != nil:
		return r.result(history.Idle, decision.Say(r.stopped))
	case p.Decided == nil:
		result := r.result(history.Idle, decision.Say(r.stopped))
		result.Iteration = r.records.sum.Iteration
		return result
	}
	result := r.resultOfDecision(*p.Decided, p.Decided.Reasons)
	result.Noisy, result.Samples, result.Transcript = p.Decided.Noisy, samplesOf(p), p.Transcript
	if p.Decided.Verdict != "" {
		result.Verdict = &p.Decided.Verdict
	}
	return result
}

// resultOfDecision is the result of an iteration that was decided, or waits for CI.
func (r *journal) resultOfDecision(e history.Decided, reasons []decision.Reason) Result {
	r.iteration = e.Iteration
	result := r.result(e.Outcome, reasons...)
	result.Summary, result.Failing = e.Summary, e.Failing
	if e.Verdict != "" {
		result.Metric, result.Delta, result.Evidence = e.Metric, text(e.Delta), e.Evidence
	}
	if e.Outcome != history.CIFixExhausted {
		result.Commit = text(e.Commit)
	}
	return result
}

// samplesOf are the samples of the last stage of the deciding candidate's trial.
func samplesOf(p *proposal.Proposal) Samples {
	var samples Samples
	var stage decision.Stage
	for _, e := range history.Of[*history.Measured](p.Measured) {
		if e.Proposal != p.Decided.Proposal || e.Stage == decision.Held {
			continue
		}
		if e.Stage != stage {
			samples, stage = Samples{}, e.Stage
		}
		switch e.Role { //nolint:exhaustive // no trial measures a baseline
		case history.Incumbent:
			samples.Incumbent = e.Samples
		case history.Candidate:
			samples.Candidate = e.Samples
		}
	}
	return samples
}
