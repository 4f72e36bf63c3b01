package history

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// candidate is the one that was measured last, for the iteration under way or before.
func (b *Summary) candidate() *Measured {
	now := Attempt{Measured: slices.Concat(b.last().Measured, b.fresh)}
	return now.Candidate()
}

// Candidate is the one that was measured last; the zero value without one.
func (a *Attempt) Candidate() *Measured {
	for _, m := range slices.Backward(a.Measured) {
		if m.Role == Candidate {
			return m
		}
	}
	return &Measured{}
}

// Failed is the end of what the evaluation printed of the candidate that was measured
// last, when that is of an iteration and failed; else "".
func (b *Summary) Failed(iteration int) string {
	if m := b.candidate(); m.Iteration == iteration && m.Problem != "" {
		return m.Output
	}
	return ""
}

// Waiting is the decision that waits for CI, else nil. A run that only waits begins no iteration.
func (b *Summary) Waiting() *Decided {
	if b.Decision == nil || b.Decision.Outcome != PendingCI {
		return nil
	}
	return b.Decision
}

// Fixes counts the attempts to fix what CI found in the decision's iteration.
func (b *Summary) Fixes() int { return len(b.last().Checked) }

// FailedBefore reports whether CI found the same failure on an earlier commit of
// the iteration: what was changed since did not help.
func (b *Summary) FailedBefore(signature string) bool {
	return slices.ContainsFunc(b.last().Checked, func(e *Checked) bool {
		return e.Commit != b.Decision.Commit && e.Signature == signature
	})
}

// Lead is how the program branch stands against the default branch, by what one
// evaluator measured of both. The zero Lead is a branch with nothing of its own.
type Lead struct {
	sign int // 1 when the branch is strictly better, -1 when it is worse
	// margin is by how much, above 0 when it is better. It adds up differences of
	// numbers that were measured side by side, so that noise between the times of
	// two measurements does not count.
	margin metric.Value
}

// Better reports whether the branch is strictly better than the default branch.
func (l Lead) Better() bool { return l.sign > 0 }

// LeadOf is the lead of a branch that was measured beside the default branch.
func LeadOf(branch, base metric.Value, d metric.Direction) Lead {
	margin := improvement(branch, base, d)
	return Lead{margin.Sign(), margin}
}

// After is the lead once a change is kept that a decision found better.
func (l Lead) After(decided *Decided, d metric.Direction) Lead {
	if decided.Best != nil && decided.PreviousBest != nil {
		l.margin = l.margin.Add(improvement(*decided.Best, *decided.PreviousBest, d))
	}
	if l.sign >= 0 || l.margin.Sign() > 0 {
		l.sign = 1 // better than what was not worse
	}
	return l
}

// improvement is by how much a is better than b, below 0 when it is worse.
func improvement(a, b metric.Value, d metric.Direction) metric.Value {
	if d == metric.Lower {
		return b.Sub(a)
	}
	return a.Sub(b)
}

// ConsecutiveErrors is the number of errors in a row, up to now.
func (b *Summary) ConsecutiveErrors() int {
	return b.inARow(func(o state.Status) bool { return o == Error })
}

// Dropped is how many of the last iterations since the program was resumed kept
// nothing, without a break.
func (b *Summary) Dropped() int { return b.inARow(state.Status.Dropped) }

// inARow is how many of the last outcomes since the program was resumed are so, without
// a break.
func (b *Summary) inARow(so func(state.Status) bool) int {
	count := 0
	for _, a := range slices.Backward(b.Attempts[b.resumed:]) {
		if !so(a.Outcome) {
			break
		}
		count++
	}
	return count
}

// Statuses returns the last ten outcomes in the words of the state file, newest
// last. That format has one word for all that was not kept, and says of what was undone
// that it was accepted.
func (b *Summary) Statuses() []string {
	var statuses []string
	if b.AdoptedStatuses != "" {
		statuses = strings.Split(b.AdoptedStatuses, ",")
	}
	for _, attempt := range b.Attempts {
		outcome := attempt.Outcome
		switch {
		case outcome.Dropped():
			outcome = Rejected
		case outcome == Undone:
			outcome = Accepted
		}
		statuses = append(statuses, string(outcome))
	}
	return statuses[max(len(statuses)-10, 0):]
}

// Count returns how many iterations ended in outcome.
func (b *Summary) Count(outcome state.Status) int {
	count := 0
	for _, attempt := range b.Attempts {
		if attempt.Outcome == outcome {
			count++
		}
	}
	return count
}

// Attempt is one decided iteration, with all that was recorded for it.
type Attempt struct {
	*Decided // the last word on it; that may be an undo
	// Measured is what was measured for it, a baseline of its run too.
	Measured []*Measured
	// Waited says that CI was asked, which sent it back to be fixed each time of Checked.
	Waited  bool
	Checked []*Checked
	// Took is how long the run took that decided it first, up to that; 0 for unknown.
	Took time.Duration
	// Evaluation is what measuring used; nil is nothing. A baseline before the
	// attempt is not in it, nor in Spent.
	Evaluation *Expense
	// Spent is what was used, from the iteration's start to its end.
	Spent Spent
}

// Attempt is that of an iteration; without a decision when it has none.
func (b *Summary) Attempt(iteration int) Attempt {
	for _, a := range slices.Backward(b.Attempts) {
		if a.Iteration == iteration {
			return a
		}
	}
	return Attempt{}
}

// Sides are what incumbent and candidate measured, in the comparison that decided last where there
// was one, and else in the stage that was measured last.
func (a *Attempt) Sides() (incumbent, candidate Measured) {
	n, stage := len(a.Evidence), decision.Stage("")
	for _, m := range a.Measured {
		side := map[decision.Side]*Measured{Incumbent: &incumbent, Candidate: &candidate}[m.Role]
		if side == nil || m.Stage == "" || m.Proposal != a.Proposal || n > 0 && m.Stage != a.Evidence[n-1].Stage {
			continue
		}
		if m.Stage != stage {
			incumbent, candidate, stage = Measured{}, Measured{}, m.Stage
		}
		*side = *m
	}
	return incumbent, candidate
}

// use adds what a further proposal of the iteration used.
func (a *Attempt) use(work *Work, evaluation *Expense) {
	a.Evaluation = a.Evaluation.Plus(evaluation)
	a.Spent.add(work.spent())
	a.Spent.add(evaluation.spent())
	a.Spent.add(Spent{Minutes: work.lasted().Minutes()})
}

// proposed takes one of several candidates over.
func (b *Summary) proposed(e *Proposed) {
	b.Proposals = append(b.Proposals, e)
	b.proposals.add(e.spent())
	b.try(e.Iteration, e.Outcome, e.Evaluator, e.Digest)
}

// Tried names the iteration that first measured a change under the present
// evaluator.
type Tried struct {
	Iteration int
	Outcome   state.Status
}

func (b *Summary) try(iteration int, outcome state.Status, evaluator, digest string) {
	known := outcome == Accepted || outcome == Rejected || outcome == CIFixExhausted
	if digest == "" || !known || evaluator != b.Evaluator {
		return
	}
	if _, found := b.Tried[digest]; !found {
		if b.Tried == nil {
			b.Tried = map[string]Tried{}
		}
		b.Tried[digest] = Tried{iteration, outcome}
	}
}

// Target is the target metric that holds: what a person set, until the program
// file says something else than it did then. File is the program file's, nil
// when it names none.
func (b *Summary) Target(file *metric.Value) *metric.Value {
	value, err := metric.ParseValue(b.Settings.Target)
	if err != nil || b.TargetWas != ValueText(file) {
		return file
	}
	return &value
}

// ValueText is a value as records have it, "—" for none. The setting TargetMetricWas
// holds such a text.
func ValueText(v *metric.Value) string {
	return metric.Text(v, "—")
}

// Focuses are the failing tests that the attempts under a definition worked on, "" for
// one without, in their order. Nothing is known until an attempt had a test to work on.
func (b *Summary) Focuses(definition string) []string {
	var list []string
	known := false
	for i := range b.Attempts {
		a := &b.Attempts[i]
		if known = known || a.Focus != ""; known && a.Definition == definition {
			list = append(list, a.Focus)
		}
	}
	return list
}

// Keys of the events that set something, which are those of Settings.
const (
	AdoptedIteration = "adopted-iteration"
	AdoptedStatuses  = "adopted-statuses"
	IssueNumber      = "issue"
	Author           = "author"
	PullNumber       = "pull"
	PullEnded        = "pull-ended"
	HeardUntil       = "heard"
	HeardSince       = "heard-since"
	CommandsUntil    = "commands"
	CIStarted        = "ci-started"
	TargetMetric     = "target-metric"
	TargetMetricWas  = "target-metric-was"
	UndoneIteration  = "undone"
	Note             = "note"
	Forced           = "forced"
	Published        = "published"
	WorkflowsRefused = "workflows-refused"
)

// Settings are what people set, and where a program stands on GitHub. What was never set
// is 0 or empty.
type Settings struct {
	// Issue is the program's issue, Author who wrote its file.
	Issue  int    `json:"issue,string"`
	Author string `json:"author"`
	// Pull is the program's newest pull request, PullEnded the last that was merged or
	// closed.
	Pull      int `json:"pull,string"`
	PullEnded int `json:"pull-ended,string"`
	// Undone is the iteration whose change was last taken back.
	Undone int `json:"undone,string"`
	// Note is what the next agent is told.
	Note string `json:"note"`
	// HeardUntil is the mark of the last comment that was heard, CommandsUntil the same
	// for commands; HeardSince is the time since when comments are to be read again, empty
	// for the last run.
	HeardUntil    string `json:"heard"`
	CommandsUntil string `json:"commands"`
	HeardSince    string `json:"heard-since"`
	// CIStarted is the commit for which the workflow of CI was started.
	CIStarted string `json:"ci-started"`
	// Target was set by a person while the program file had TargetWas.
	Target    string `json:"target-metric"`
	TargetWas string `json:"target-metric-was"`
	// Forced says what the last forced iteration disregarded.
	Forced string `json:"forced"`
	// Published is the digest of the last bundle that was recorded.
	Published string `json:"published"`
	// WorkflowsRefused is the commit of the default branch that may not be merged into
	// the program branch, because of the workflow files in it.
	WorkflowsRefused string `json:"workflows-refused"`
	// Adopted is the iteration count with which a state that had no ledger was taken
	// over, AdoptedStatuses its recent statuses, comma-separated.
	Adopted         int    `json:"adopted-iteration,string"`
	AdoptedStatuses string `json:"adopted-statuses"`
}

// Set takes over what an event sets. Keys of a later version are left alone; what is no number counts as 0.
func (s *Settings) Set(key, value string) {
	for _, value := range []string{value, "0"} {
		text, err := json.Marshal(map[string]string{key: value})
		if err == nil && json.Unmarshal(text, s) == nil {
			return
		}
	}
}
