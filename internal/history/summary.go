package history

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// Summary is what a ledger adds up to. The zero Summary is a program that never ran.
type Summary struct {
	// Iteration is the number of the last decided iteration; the baseline is 0.
	Iteration int
	// LastRun is the start of the last decided iteration.
	LastRun time.Time
	// Initial is iteration 0's metric under the present evaluator, Best the
	// incumbent's; both nil before a baseline, Best also after an undo until the next.
	Initial, Best *metric.Value
	// Lead is how the program branch stands against the default branch.
	Lead Lead
	// Guardrails are the samples of every guardrail's metric at iteration 0.
	Guardrails map[string][]metric.Value
	// InitialRuns is how many runs Initial is the median of.
	InitialRuns int
	// Noisy says that the evaluation does not repeat itself.
	Noisy bool
	// Gains are the sizes of the gains that were kept under the same definition.
	Gains []metric.Value
	// Seconds is how long one run of the evaluation took at the baseline,
	// Prepare how long its tree took to build and set up.
	Seconds, Prepare float64
	// EvaluatorWrites are the files that the evaluation of the unchanged files
	// changes itself; nil when the baseline does not say.
	EvaluatorWrites map[string]bool
	// Incumbent is the commit that Best belongs to, Base the default branch's
	// commit at the baseline.
	Incumbent, Base, BaseBranch string
	// Output is what the last evaluation of the incumbent printed, Numbers are
	// those that it had.
	Output  string
	Numbers map[string]metric.Value
	// Samples are what Best is the median of. Disagreements counts the iterations
	// in a row in which the incumbent, measured anew, was not that.
	Samples       []metric.Value
	Disagreements int
	// Evaluator is the hash under which Best was measured, Definition that of
	// the program's settings in it.
	Evaluator, Definition string
	// Executor is who worked on the suite's cases or tasks last; nil of none.
	Executor  *Executor
	Direction metric.Direction
	// Attempts holds the decided iterations, oldest first. Entries, which only Show makes,
	// are what the state's history says of them and of baselines, in the order in which that
	// was made.
	Attempts []Attempt
	Entries  []state.HistoryEntry
	// Used is what was used besides.
	Used []Use
	// NotBefore is when a run may begin that the service of an agent, PutOff, would not
	// serve; zero after the next decision.
	NotBefore time.Time
	PutOff    string
	// Proposals holds the candidates of iterations that had several, in order, and
	// Tried the changes that were decided under the present evaluator, by their
	// digests.
	Proposals []*Proposed
	Tried     map[string]Tried
	// CISeen says that CI ever judged a candidate.
	CISeen bool
	// Paused is set while the last word on pausing was `paused`, Completed while that
	// was on completing.
	Paused, Completed *decision.Reason
	// Decision is the last decision; nil before the first. WaitsSince is when its commit was
	// recorded and pushed, in one step, or the program was resumed after that.
	Decision   *Decided
	WaitsSince time.Time
	Settings
	// Open is the last `started` event that no `finished` event of its run
	// closed; Interrupted counts such runs of the same iteration in a row.
	Open        *Started
	Interrupted int

	fresh       []*Measured // for the iteration under way
	proposals   Spent       // by those of the iteration under way
	openDecided bool        // the open run recorded an outcome
	resumed     int         // how many attempts were over when the program was resumed
	agrees      bool        // the incumbent was measured since the last decision, and is what is on record

	// The baseline that people were shown last, whether none came before it, and the best
	// before it.
	shown struct {
		baseline *Measured
		first    bool
		best     *metric.Value
	}
}

// Replay adds up the events in order.
func Replay(events []Event) Summary {
	var b Summary
	for _, e := range events {
		b.Add(e)
	}
	return b
}

// Add takes one more event over, which must stay as it is.
func (b *Summary) Add(e Event) {
	switch e := e.(type) {
	case *Started:
		b.started(e)
	case *Measured:
		b.measured(e)
	case *Proposed:
		b.proposed(e)
	case *Decided:
		b.decided(e)
		b.try(e.Iteration, e.Outcome, e.Evaluator, e.Digest)
	case *Finished:
		b.finished(e)
	case *Paused:
		b.Paused = &e.Reason
	case *Resumed:
		b.Paused, b.Completed, b.Interrupted, b.NotBefore, b.CIStarted = nil, nil, 0, time.Time{}, ""
		if b.resumed = len(b.Attempts); b.Waiting() != nil {
			b.resumed, b.WaitsSince = b.resumed-1, e.Time
		}
	case *Completed:
		b.Completed = &e.Reason
	case *Checked:
		b.checked(e)
	case *Set:
		b.Set(e.Key, e.Value)
		b.Iteration = max(b.Iteration, b.Adopted)
		if e.Key == UndoneIteration {
			b.undone(b.Undone, e.Commit)
		}
	}
}

// OpenPull is the number of the pull request that is open, 0 when none is known.
func (b *Summary) OpenPull() int {
	if b.Pull == b.PullEnded {
		return 0
	}
	return b.Pull
}

// Head is the commit at which the program's branch stands: the one that waits for CI, else
// the incumbent.
func (b *Summary) Head() string {
	if waiting := b.Waiting(); waiting != nil {
		return waiting.Commit
	}
	return b.Incumbent
}

// Promoted is the last iteration whose change is on the program's branch, 0 for none.
func (b *Summary) Promoted() int {
	for _, a := range slices.Backward(b.Attempts) {
		if Promoted(a.Decided) {
			return a.Iteration
		}
	}
	return 0
}

// undone takes an iteration back, and the branch where the commit left it: nothing was
// measured there yet.
func (b *Summary) undone(iteration int, commit string) {
	for i := range b.Attempts {
		if a := &b.Attempts[i]; a.Iteration == iteration {
			taken := *a.Decided
			a.Decided, taken.Outcome = &taken, Undone
		}
	}
	b.stands(commit, nil, &Measured{})
}

// stands takes a commit for the incumbent, and what was measured of it.
func (b *Summary) stands(commit string, best *metric.Value, e *Measured) {
	b.Incumbent, b.Best, b.Output, b.Numbers, b.Samples = commit, best, e.Output, e.Numbers, e.Samples
}

// Unmeasured reports whether the incumbent is measured at the next run, because an
// iteration was undone.
func (b *Summary) Unmeasured() bool { return b.Initial != nil && b.Best == nil }

// Holds reports whether the open start is of a run.
func (b *Summary) Holds(run string) bool { return b.Open != nil && b.Open.Run == run }

// started opens a run. One that is open already goes on in another job.
func (b *Summary) started(e *Started) {
	if b.Holds(e.Run) {
		again := *b.Open
		again.Lease = e.Lease
		b.Open = &again
		return
	}
	if b.Open != nil {
		b.Interrupted++
		b.abandonOpen()
	}
	b.Open, b.fresh, b.proposals, b.openDecided = e, nil, Spent{}, false
}

// measured takes a new baseline, or a new measurement of the incumbent, over.
// What a candidate measured counts only through a decision.
func (b *Summary) measured(e *Measured) {
	b.fresh = append(b.fresh, e)
	if e.Evaluation != nil {
		b.Used = append(b.Used, Use{e.Iteration, e.Time, e.Evaluation.spent()})
	}
	if e.Metric == nil || e.Role == Candidate || e.Stage != "" {
		b.agrees = b.agrees || e.Role == Incumbent && e.Metric != nil &&
			(len(b.Samples) == 0 || decision.Agrees(b.Samples, e.Samples))
		return
	}
	switch {
	case e.Role == Baseline:
		b.baseline(e)
		b.Lead = Lead{}
	case b.Initial != nil:
		b.Lead = LeadOf(*e.Metric, *b.Initial, b.Direction)
	}
	b.stands(e.Commit, e.Metric, e)
	b.Disagreements = 0
}

func (b *Summary) baseline(e *Measured) {
	if b.Definition != e.Definition {
		b.Gains = nil
	}
	if b.Evaluator != e.Evaluator {
		b.Tried = nil
	}
	b.Initial, b.InitialRuns, b.Guardrails = e.Metric, len(e.Samples), e.GuardrailSamples
	b.Base, b.BaseBranch = e.Commit, e.BaseBranch
	b.Executor = cmp.Or(e.Executor, b.Executor)
	b.Evaluator, b.Definition, b.Direction = e.Evaluator, e.Definition, e.Direction
	b.Noisy, b.Seconds, b.Prepare = e.Noisy, e.Seconds, e.Prepare
	b.EvaluatorWrites = e.EvaluatorWrites
}

// finished closes the run. One that was put off counts as not run.
func (b *Summary) finished(e *Finished) {
	if e.NotBefore != nil {
		b.NotBefore, b.PutOff = *e.NotBefore, e.Agent
		spent := b.spent(&e.Head, &e.Work, e.Evaluation)
		spent.UnknownTokens, spent.UnknownUSD = 0, 0
		b.Used = append(b.Used, Use{e.Iteration, e.Time, spent})
	}
	if !b.Holds(e.Run) {
		return
	}
	if e.Stopped {
		b.abandonOpen()
	}
	if e.Unused || e.Stopped {
		b.Open = nil
		return
	}
	if e.NotBefore == nil {
		b.LastRun = b.Open.Time
	}
	b.Open, b.Interrupted = nil, 0
}

// spent is what was used since the event's run began, or by its stages when that is not known.
func (b *Summary) spent(h *Head, w *Work, evaluation *Expense) Spent {
	took := w.lasted()
	if b.Holds(h.Run) {
		took = max(h.Time.Sub(b.Open.Time), 0)
	}
	spent := w.spent()
	// The whole is unknown when a part of it is: then the parts count that are known.
	spent.Tokens, spent.USD = max(spent.Tokens, b.proposals.Tokens), max(spent.USD, b.proposals.USD)
	spent.add(Spent{
		Minutes: took.Minutes(), UnknownTokens: b.proposals.UnknownTokens, UnknownUSD: b.proposals.UnknownUSD,
	})
	spent.add(evaluation.spent())
	return spent
}

func (w *Work) lasted() time.Duration {
	sum := 0.0
	for _, seconds := range w.Durations {
		sum += seconds
	}
	return Seconds(sum)
}

// Seconds is a time of so many seconds, or the longest that a time.Duration can have.
func Seconds(n float64) time.Duration {
	const longest = float64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -longest), longest) * float64(time.Second))
}

func (b *Summary) decided(e *Decided) {
	b.NotBefore = time.Time{}
	own := b.Holds(e.Run)
	b.openDecided = b.openDecided || own
	if e.Metric != nil {
		b.Executor = cmp.Or(e.Executor, b.Executor)
	}
	a := b.last()
	if a.Decided != nil && a.Iteration == e.Iteration {
		// One of the same commit says again what was used, or nothing; another commit was a
		// further proposal, on top of the first.
		if e.Commit != "" && e.Commit != b.Decision.Commit {
			a.use(&e.Work, e.Evaluation)
		}
	} else {
		b.Attempts = append(b.Attempts, Attempt{Evaluation: e.Evaluation, Spent: b.spent(&e.Head, &e.Work, e.Evaluation)})
		a = b.last()
		if a.Spent.Iterations = 1; own { // before CI had its say
			a.Took = e.Time.Sub(b.Open.Time)
		}
	}
	if b.Decision == nil || b.Decision.Commit != e.Commit {
		b.WaitsSince = e.Time // the push is recorded in the same step
	}
	a.Decided, b.Decision, a.Waited = e, e, a.Waited || e.Outcome == PendingCI
	b.attach(a)
	b.proposals = Spent{}
	b.CISeen = b.CISeen || e.Outcome == CIFixExhausted || e.Outcome == Accepted &&
		slices.ContainsFunc(e.Reasons,
			func(r decision.Reason) bool { return r.Is(decision.CIGreen) || r.Is(decision.CIAsBase) })
	b.Iteration = max(b.Iteration, e.Iteration)
	b.Noisy = b.Noisy || e.Noisy
	b.disagreed(e)
	if e.Outcome == Accepted {
		if e.Best != nil && e.PreviousBest != nil {
			b.Gains = append(b.Gains, e.Best.Sub(*e.PreviousBest).Abs())
		}
		b.stands(e.Commit, e.Best, b.candidate())
		b.Lead = b.Lead.After(e, b.Direction)
	}
}

// disagreed counts iterations in which the incumbent was not what is on record.
// One that did not measure it, or too seldom to tell, says nothing.
func (b *Summary) disagreed(e *Decided) {
	switch {
	case e.Disagreement != nil:
		b.Disagreements++
	case b.agrees || e.Outcome == Accepted:
		b.Disagreements = 0
	}
	b.agrees = false
}

// checked counts what a proposal used that was to fix what CI found, and was
// not kept.
func (b *Summary) checked(e *Checked) {
	b.CISeen = true
	b.openDecided = b.openDecided || b.Holds(e.Run)
	a := b.last()
	if a.Decided == nil || a.Iteration != e.Iteration {
		return
	}
	if b.attach(a); e.Usage != nil || e.Evaluation != nil {
		a.use(&e.Work, e.Evaluation)
	}
	a.Checked = append(a.Checked, e)
}

// last is the newest attempt; one without a decision before the first.
func (b *Summary) last() *Attempt {
	if last := len(b.Attempts) - 1; last >= 0 {
		return &b.Attempts[last]
	}
	return &Attempt{}
}

// attach makes what was measured since the run began part of an attempt.
func (b *Summary) attach(a *Attempt) { a.Measured, b.fresh = append(a.Measured, b.fresh...), nil }
