package loop

import (
	"cmp"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// result is the iteration as it is on record, or how the run ended without one.
func (r *run) result(end *endedError) render.Result {
	result := render.Result{
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
	result.Samples, result.Guardrails = render.Samples{Incumbent: incumbent.Samples, Candidate: candidate.Samples}, r.rails(candidate)
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

// rails are the guardrails with what the deciding candidate measured last.
func (r *run) rails(measured history.Measured) []render.Rail {
	rails := make([]render.Rail, 0, len(r.Program.Guardrails))
	for _, of := range r.Program.Guardrails {
		rails = append(rails, render.Rail{
			Guardrail: of, Initial: median(r.records.Guardrails[of.Metric]), Candidate: median(measured.GuardrailSamples[of.Metric]),
		})
	}
	return rails
}
