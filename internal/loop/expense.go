package loop

import (
	"fmt"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// used is what this run has used so far, as far as it is known.
type used struct {
	tokens int64
	usd    float64
}

// expend counts what an evaluation used; nil is nothing. The next event that calls
// takeExpense records it.
func (r *spending) expend(e *history.Expense) {
	tokens, usd := e.Known()
	r.used.tokens += tokens
	r.used.usd += usd
	r.unrecorded = r.unrecorded.Plus(e)
}

// takeExpense returns what evaluations used since the last call; nil is nothing.
func (r *spending) takeExpense() *history.Expense {
	e := r.unrecorded
	r.unrecorded = nil
	return e
}

func (r *spending) consumedBy(all []*attempt) {
	for _, a := range all {
		usage := a.reply.Usage
		for _, tokens := range []*int64{usage.InputTokens, usage.OutputTokens} {
			if tokens != nil {
				r.used.tokens += *tokens
			}
		}
		if usage.CostUSD != nil {
			r.used.usd += usage.CostUSD.Float64()
		}
	}
}

// toMeasure is what an evaluation that asks models may still use, and why none
// may begin, "" when one may.
func (r *spending) toMeasure() (limit evaluation.Limit, over string) {
	if r.Program.Evaluation == program.Metric {
		return limit, "" // what a script uses is not known
	}
	rest, over := r.left.After(r.used.tokens, r.used.usd)
	if over != "" {
		return limit, fmt.Sprintf("the budget is used up: %s; raise `budget`, or make the suite smaller", over)
	}
	limit.Tokens = rest.Tokens
	if rest.USD > 0 {
		limit.CostUSD = dollarsOf(rest.USD)
	}
	return limit, ""
}

// dollarsOf is an amount as a value that command lines take: none takes 0.
func dollarsOf(usd float64) *metric.Value { return figure("%.4f", max(usd, leastUSD)) }

// interruptedAttempt is an iteration that ended before its attempts did: they
// changed nothing, but used something.
func (r *team) interruptedAttempt(reason decision.Reason) *attempt {
	var all []*attempt
	for _, one := range r.working {
		cut := newAttempt(Proposer{one.agent, one.model}, one.number, one.of)
		cut.reply.Usage, cut.reply.Model = one.reply.Usage, one.reply.Model
		if seconds, worked := one.Durations["propose"]; worked {
			cut.Durations["propose"] = seconds
		}
		all = append(all, cut.end(history.Error, reason))
	}
	if len(all) == 0 {
		all = append(all, (&attempt{}).end(history.Error, reason))
	}
	first := all[0]
	first.others, first.Evaluation = all[1:], r.takeExpense()
	return first
}
