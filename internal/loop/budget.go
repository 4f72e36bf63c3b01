package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

const (
	// unnamedWait is how long an iteration is put off when the agent's service
	// does not say.
	unnamedWait = 15 * time.Minute
	// leastWait and mostWait bound what a service may ask for.
	leastWait = time.Minute
	mostWait  = budget.LongestWait
	// leastUSD is the smallest limit that an agent is given.
	leastUSD = 0.0001
)

// spending is what the iteration may use, and what it has used.
type spending struct {
	*journal
	used       *history.Expense // as far as it is known
	unrecorded *history.Expense // the part of evaluations that no event has yet
}

// blockedReason says why no iteration may begin now, "" when one may, and notes what it
// may use.
func (r *spending) blockedReason(b *records) string {
	sum := b.Summary
	if !sum.Holds(b.id) {
		sum = sum.WithoutOpen()
	}
	stand := budget.Stand(r.Program, &sum, r.Now())
	b.left = stand.Left
	b.left.Bound(program.Budget{USD: r.BudgetUSD}, sum.Spent(r.since))
	if reason := stand.Reason(); reason != "" {
		return reason
	}
	if until := b.NotBefore; budget.Waits(until, r.Now()) && r.hasAgent(b.PutOff) {
		return limited(until, "").String()
	}
	return ""
}

// reserved is what the next iteration may use of what is left, nil when nothing bounds it.
func (r *spending) reserved(left budget.Left) *history.Reserved {
	if left == (budget.Left{}) {
		return nil
	}
	reserved := &history.Reserved{Tokens: left.Tokens}
	if left.USD > 0 {
		reserved.CostUSD = dollarsOf(left.USD)
	}
	if left.Time > 0 {
		reserved.Minutes = min(r.Program.Timeout, left.Time).Minutes()
	}
	return reserved
}

// overspent says why this process begins no further iteration, "" when it may.
func (r *spending) overspent() string {
	if r.BudgetUSD <= 0 || r.records == nil {
		return ""
	}
	spent := r.records.Spent(r.since)
	switch {
	case spent.USD >= r.BudgetUSD:
		return fmt.Sprintf("budget: %.2f of %.2f USD used by this run; it resumes with the next run", spent.USD,
			r.BudgetUSD)
	case spent.UnknownUSD > 0 && r.Program.UnknownCost == "pause":
		return fmt.Sprintf("budget: an unknown amount of %.2f USD used by this run (unknown-cost: pause); it resumes "+
			"with the next run", r.BudgetUSD)
	default:
		return ""
	}
}

// usedUp says why no agent is asked after a baseline that asked models, "" when
// one is.
func (r *spending) usedUp() string {
	if r.used == nil {
		return ""
	}
	stand := budget.Stand(r.Program, &r.records.Summary, r.Now())
	return cmp.Or(stand.Reason(), r.overspent())
}

// hasAgent reports whether an agent of that name would work in this run: the rate
// limit of one is not another's.
func (r *spending) hasAgent(name string) bool {
	return name == r.absent || slices.ContainsFunc(r.Agents, func(a Proposer) bool { return a.Name() == name })
}

// limited says that an agent's service has a rate limit.
func limited(until time.Time, words string) *decision.Reason {
	return &decision.Reason{Kind: decision.RateLimit, Words: plain.Line(words), Until: &until}
}

// time is how long the iteration may take: its own limit, or what the budget
// leaves.
func (r *spending) time() time.Duration {
	if r.left.Time > 0 {
		return min(r.Program.Timeout, r.left.Time)
	}
	return r.Program.Timeout
}

func (r *spending) tooLong() decision.Reason {
	if r.time() < r.Program.Timeout {
		return decision.Reason{Kind: decision.TooLongForBudget, Term: r.time().Round(time.Second).String()}
	}
	return decision.Reason{Kind: decision.TooLong, Term: r.Program.Timeout.String()}
}

// limit is what one of several agents that work at the same time may use. over says what
// is used up already, "" when nothing is.
func (r *spending) limit(several int) (limit metric.Limit, over string) {
	rest, over := r.left.After(r.used.Known())
	if r.left.Tokens > 0 {
		limit.Tokens = max(rest.Tokens/int64(max(several, 1)), 1)
	}
	if r.left.USD > 0 {
		limit.CostUSD = dollarsOf(rest.USD / float64(max(several, 1)))
	}
	return limit, over
}

// postponedUntil is when the iteration may begin again, when every agent's service
// would not serve it now; ok is false when one did.
func (r *spending) postponedUntil(all []*attempt) (until time.Time, ok bool) {
	now := r.Now()
	for _, one := range all {
		failure := one.reply.Failure
		if failure == nil || failure.Kind != agent.RateLimit {
			return time.Time{}, false
		}
		wait := unnamedWait
		if failure.RetryAt != nil {
			wait = min(max(failure.RetryAt.Sub(now), leastWait), mostWait)
		}
		if at := now.Add(wait); until.IsZero() || at.Before(until) {
			until = at
		}
	}
	return until.UTC().Truncate(time.Second), true
}

const (
	// patience is how many times as long as the unchanged files a candidate's
	// evaluation may take, and leastTimeLimit what it always may.
	patience       = 10
	leastTimeLimit = time.Minute
	// clearlyLonger is how many times as long as the unchanged files an evaluation
	// must have taken for the candidate alone to be to blame.
	clearlyLonger = 3
)

// timeLimit bounds one run of a candidate's evaluation: by the program's own
// limit, or by how long the unchanged files take. 0 is the program's.
func (r *journal) timeLimit() time.Duration {
	seconds := r.records.Seconds
	if r.Program.TimeLimitGiven || seconds <= 0 {
		return 0
	}
	return max(leastTimeLimit, history.Seconds(patience*seconds).Round(time.Second))
}

// hangs reports whether a run that was ended for its time took so much longer than
// the unchanged files that they need not be measured beside it.
func (r *journal) hangs(took time.Duration) bool {
	seconds := r.records.Seconds
	return seconds > 0 && took.Seconds() >= clearlyLonger*seconds
}

// expend counts what an evaluation used; nil is nothing. The next event that calls
// takeExpense records it.
func (r *spending) expend(e *history.Expense) {
	r.used = r.used.Plus(e)
	r.unrecorded = r.unrecorded.Plus(e)
}

// takeExpense returns what evaluations used since the last call; nil is nothing.
func (r *spending) takeExpense() *history.Expense {
	e := r.unrecorded
	r.unrecorded = nil
	return e
}

// toMeasure is what an evaluation that asks models may still use, and why none
// may begin, "" when one may.
func (r *spending) toMeasure() (limit metric.Limit, over string) {
	if r.Program.Evaluation == program.Metric {
		return limit, "" // what a script uses is not known
	}
	rest, over := r.limit(1)
	if over != "" {
		return limit, fmt.Sprintf("the budget is used up: %s; raise `budget`, or make the suite smaller", over)
	}
	return rest, ""
}

// dollarsOf is an amount as a value that command lines take: none takes 0.
func dollarsOf(usd float64) *metric.Value { return figure("%.4f", max(usd, leastUSD)) }

// interrupted are the attempts of an iteration that ended before them: they changed
// nothing, but used something.
func (r *run) interrupted(reason decision.Reason) []*attempt {
	all := []*attempt{r.newAttempt(1, 1)}
	all[0].agent = nil
	for i, one := range r.working {
		cut := r.newAttempt(one.Proposal, one.of)
		cut.Model, cut.Usage, cut.Durations = one.Model, one.Usage, one.Durations
		all = append(all[:i], cut)
	}
	for _, one := range all {
		one.end(history.Error, reason)
	}
	return append(all[1:], all[0])
}
