package loop

import (
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Rail is a guardrail of the program, and what it stood at.
type Rail struct {
	Metric    string           `json:"metric"`
	Direction metric.Direction `json:"direction"`
	// Initial is the median at iteration 0, Candidate that of the candidate; nil
	// when it was not measured.
	Initial   *metric.Value `json:"initial"`
	Candidate *metric.Value `json:"candidate"`
	// Allowed is by how much it may get worse.
	Allowed decision.Allowance `json:"max_regression"`
}

// detail completes a result with what the records say of its iteration.
func (r *run) detail(result *Result) {
	if r.records == nil {
		return
	}
	result.Output = r.measurer.failed
	result.Issue, result.PullRequest = r.Program.Issue, r.records.sum.OpenPull()
	if n := r.records.sum.Issue; n > 0 {
		result.Issue = n
	}
	if r.comments != nil && r.comments.Issue > 0 {
		result.Issue = r.comments.Issue
	}
	result.Evaluation = r.records.evaluation(r.id, result)
	if decided := r.records.decided(result.Iteration); decided != nil && result.Outcome != history.Idle {
		result.Agent, result.Model, result.Usage, result.Changed = decided.Agent, decided.Model, decided.Usage,
			decided.Changed
		result.Guardrails = r.rails(decided)
	}
}

// evaluation is what measuring used for a result: for its iteration, and for a
// baseline of its run.
func (b *records) evaluation(run string, result *Result) *history.Expense {
	var sum *history.Expense
	for i := range b.sum.Attempts {
		if a := &b.sum.Attempts[i]; a.Iteration == result.Iteration && result.Outcome != history.Idle {
			sum = a.Evaluation
		}
	}
	for _, e := range history.Of[*history.Measured](b.log.Events) {
		if e.Run == run {
			sum = sum.Plus(e.Evaluation)
		}
	}
	return sum
}

// decided returns the last decision, nil when it is on another iteration.
func (b *records) decided(iteration int) *history.Decided {
	if e := b.standing().Decision; e != nil && e.Iteration == iteration {
		return e
	}
	return nil
}

// rails are the guardrails with what the deciding candidate measured last.
func (r *run) rails(decided *history.Decided) []Rail {
	rails := make([]Rail, 0, len(r.Program.Guardrails))
	measured := r.records.standing().Measured(decided.Iteration, decided.Proposal)
	for _, of := range r.Program.Guardrails {
		rail := Rail{Metric: of.Metric, Direction: of.Direction, Allowed: decision.Allowance(of.MaxRegression)}
		if initial := r.records.sum.Guardrails[of.Metric]; len(initial) > 0 {
			median := statistics.Median(initial)
			rail.Initial = &median
		}
		if measured != nil {
			if samples := measured.GuardrailSamples[of.Metric]; len(samples) > 0 {
				median := statistics.Median(samples)
				rail.Candidate = &median
			}
		}
		rails = append(rails, rail)
	}
	return rails
}
