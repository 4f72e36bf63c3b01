// Package history is the append-only record of a program: one JSON event a
// line, and the records that follow from them. It is pure; storing the lines is
// another package's work.
package history

import (
	"iter"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// Schema is the version written into every event.
const Schema = 1

// Kind is the name of a kind of event.
type Kind string

// Event is one line of the ledger: a pointer to the struct of its kind, or to
// Other. The order of their fields is that of the line.
type Event interface {
	Header() *Head
	kind() Kind
}

// Head is what every event has.
type Head struct {
	Schema    int       `json:"schema"`
	Event     Kind      `json:"event"` // set where it is read or written
	Time      time.Time `json:"time"`
	Run       string    `json:"run_id"`
	Iteration int       `json:"iteration"`

	line []byte // the event as it was read
}

// Header returns the head itself.
func (h *Head) Header() *Head { return h }

// Work is what an agent did for an event, and what that used.
type Work struct {
	Agent     string                  `json:"agent,omitempty"`
	Model     string                  `json:"model,omitempty"`
	Usage     *metric.Usage           `json:"usage,omitempty"`
	Summary   string                  `json:"summary,omitempty"`
	Changed   []string                `json:"changed,omitempty"`
	Params    map[string]metric.Value `json:"params,omitempty"`
	Durations map[string]float64      `json:"durations,omitempty"`
}

// Notes are what an agent handed back: data that it made up.
type Notes struct {
	Lessons    []string `json:"lessons,omitempty"`
	Foreclosed []string `json:"foreclosed,omitempty"`
	Ideas      []string `json:"ideas,omitempty"`
}

// Started says that a run took the lease of an iteration.
type Started struct {
	Head
	Lease *Lease `json:"lease,omitempty"`
	// Reserved is what counts as used when the run never comes back.
	Reserved *Reserved `json:"reserved,omitempty"`
}

// Measured says what an evaluation measured, or that it failed. Metric is the
// median of Samples, which are in the order of their runs, and so are those of
// GuardrailSamples and, of several runs, the pass rates of cases in CaseSamples;
// Numbers are what the last run printed.
type Measured struct {
	Head
	Role Role `json:"role,omitempty"`
	// Stage is the part of the trial, empty for a baseline.
	Stage            string                    `json:"stage,omitempty"`
	Metric           *metric.Value             `json:"metric,omitempty"`
	Samples          []metric.Value            `json:"samples,omitempty"`
	GuardrailSamples map[string][]metric.Value `json:"guardrail_samples,omitempty"`
	CaseSamples      map[string][]metric.Value `json:"case_samples,omitempty"`
	Numbers          map[string]metric.Value   `json:"numbers,omitempty"`
	// Noisy says that two equal runs gave two numbers.
	Noisy bool `json:"noisy,omitempty"`
	// Strict, of a baseline, says that its script ended at any command that failed,
	// also within a pipe, and at a variable that is not set.
	Strict         bool   `json:"strict,omitempty"`
	Problem        string `json:"problem,omitempty"`
	RejectedReason string `json:"rejected_reason,omitempty"`
	// EvaluatorWrites, of a baseline, are the files outside the target that the
	// evaluation of the unchanged files changes itself: true for another content.
	// Nil is not known.
	EvaluatorWrites map[string]bool `json:"evaluator_writes,omitzero"`
	// Output is the end of what the evaluation printed, bounded.
	Output    string           `json:"output,omitempty"`
	Direction metric.Direction `json:"direction,omitempty"`
	// Evaluator is the hash of all that the evaluation runs and reads,
	// Definition that of the program's own settings within it.
	Evaluator  string `json:"evaluator,omitempty"`
	Definition string `json:"definition,omitempty"`
	// Executor is who worked on the cases or tasks of a suite, and who graded
	// them; nil of any other evaluation.
	Executor   *Executor `json:"executor,omitempty"`
	BaseBranch string    `json:"base_branch,omitempty"`
	// Seconds is how long one run took on average, Prepare how long its tree
	// took to build and set up.
	Seconds float64 `json:"seconds,omitempty"`
	Prepare float64 `json:"prepare_seconds,omitempty"`
	Commit  string  `json:"commit,omitempty"`
	// Evaluation is what the models used that were asked to measure a baseline; nil
	// when none was. What trials used is in Decided, or Checked.
	Evaluation *Expense `json:"evaluation,omitempty"`
	// Proposal is the number of a candidate among several of its iteration, from 1.
	Proposal int `json:"proposal,omitempty"`
	// Reason says why a baseline was measured.
	Reason string `json:"reason,omitempty"`
}

// Proposed is one of several candidates of an iteration, and what became of it.
// Its fields mean what those of Decided do.
type Proposed struct {
	Head
	Metric       *metric.Value    `json:"metric,omitempty"`
	Noisy        bool             `json:"noisy,omitempty"`
	Direction    metric.Direction `json:"direction,omitempty"`
	Evaluator    string           `json:"evaluator,omitempty"`
	Definition   string           `json:"definition,omitempty"`
	Outcome      Outcome          `json:"outcome,omitempty"`
	Verdict      string           `json:"verdict,omitempty"`
	Reasons      []string         `json:"reasons,omitempty"`
	Evidence     []Evidence       `json:"evidence,omitempty"`
	Warning      string           `json:"warning,omitempty"`
	PreviousBest *metric.Value    `json:"previous_best,omitempty"`
	Delta        string           `json:"delta,omitempty"`
	Parent       string           `json:"incumbent,omitempty"`
	Work
	Proposal int    `json:"proposal,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// Patch is the change as git prints it, where a strategy needs it.
	Patch string `json:"patch,omitempty"`
	// GrownFrom is the candidate whose files the change began with; nil is the
	// incumbent.
	GrownFrom *Ancestor `json:"grown_from,omitempty"`
	Focus     string    `json:"focus,omitempty"`
	Notes
}

// Decided is the outcome of an iteration and its reasons.
type Decided struct {
	Head
	Metric     *metric.Value    `json:"metric,omitempty"`
	Noisy      bool             `json:"noisy,omitempty"`
	Direction  metric.Direction `json:"direction,omitempty"`
	Target     *metric.Value    `json:"target,omitempty"`
	Evaluator  string           `json:"evaluator,omitempty"`
	Definition string           `json:"definition,omitempty"`
	Executor   *Executor        `json:"executor,omitempty"`
	Outcome    Outcome          `json:"outcome,omitempty"`
	// Verdict is empty when nothing was compared. PreviousBest is what Metric
	// was compared with: the incumbent's number, measured anew when noisy. Rule
	// is how it was decided, and Evidence the comparisons that it took.
	Verdict      string        `json:"verdict,omitempty"`
	Reasons      []string      `json:"reasons,omitempty"`
	Rule         *Rule         `json:"rule,omitempty"`
	Evidence     []Evidence    `json:"evidence,omitempty"`
	Warning      string        `json:"warning,omitempty"`
	PreviousBest *metric.Value `json:"previous_best,omitempty"`
	Best         *metric.Value `json:"best,omitempty"`
	Delta        string        `json:"delta,omitempty"`
	Parent       string        `json:"incumbent,omitempty"`
	Commit       string        `json:"commit,omitempty"`
	Work
	// Seed is what the order of the trial's runs came from: a secret until then.
	Seed string `json:"seed,omitempty"`
	// Held says why a gain was too good to be believed at once, and LeavesNothing that
	// the candidate left nothing in the files that it changed.
	Held          string `json:"held,omitempty"`
	LeavesNothing bool   `json:"leaves_nothing,omitempty"`
	// Disagreement says that the incumbent, measured anew, was not what is on
	// record; "" when it was.
	Disagreement string `json:"disagreement,omitempty"`
	// Evaluation is what the models used that were asked to measure the trials, for
	// all proposals together; nil when none was.
	Evaluation *Expense `json:"evaluation,omitempty"`
	// Proposal is the number of the candidate among several of its iteration, from
	// 1. Digest identifies its change.
	Proposal int    `json:"proposal,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// Failing are the checks of CI that failed, when CI rejected it.
	Failing []Check `json:"failing_checks,omitempty"`
	// Focus is the failing test that the attempt was to make pass.
	Focus string `json:"focus,omitempty"`
	Notes
}

// Pushed says that the program branch moved.
type Pushed struct {
	Head
	Parent string `json:"incumbent,omitempty"`
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
}

// Finished says that the run gave the lease back.
type Finished struct {
	Head
	Outcome Outcome `json:"outcome,omitempty"`
	Work
	Evaluation *Expense `json:"evaluation,omitempty"`
	// NotBefore says that the iteration was put off until then, as the agent's
	// service asked for; Reason says why.
	NotBefore *time.Time `json:"not_before,omitempty"`
	// Unused says that nobody worked after the start: it counts as no run.
	Unused bool   `json:"unused,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Checked says that CI turned a commit down, and what became of the agent that
// was asked to fix it. Reason identifies the failure.
type Checked struct {
	Head
	Problem string   `json:"problem,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Work
	Evaluation *Expense `json:"evaluation,omitempty"`
	Failing    []Check  `json:"failing_checks,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

// Paused says that the program stops until a person resumes it.
type Paused struct {
	Head
	Reason string `json:"reason,omitempty"`
}

// Resumed says that a person ended a pause or a completion.
type Resumed struct {
	Head
	Reason string `json:"reason,omitempty"`
}

// Completed says that the target is reached.
type Completed struct {
	Head
	Reason string `json:"reason,omitempty"`
}

// Set says that a person changed a setting. Commit, of PullEnded, is the head that
// was merged.
type Set struct {
	Head
	Commit string `json:"commit,omitempty"`
	Key    string `json:"key,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Answered is the answer to a comment; Key says to which.
type Answered struct {
	Head
	Reason string `json:"reason,omitempty"`
	Key    string `json:"key,omitempty"`
}

// Other is an event of a kind that this version does not know. It is kept as it
// is and changes nothing.
type Other struct{ Head }

// KindOf is what the ledger calls the kind of an event.
func KindOf(e Event) Kind { return e.kind() }

func (*Started) kind() Kind   { return "started" }
func (*Measured) kind() Kind  { return "measured" }
func (*Proposed) kind() Kind  { return "proposed" }
func (*Decided) kind() Kind   { return "decided" }
func (*Pushed) kind() Kind    { return "pushed" }
func (*Finished) kind() Kind  { return "finished" }
func (*Checked) kind() Kind   { return "checked" }
func (*Paused) kind() Kind    { return "paused" }
func (*Resumed) kind() Kind   { return "resumed" }
func (*Completed) kind() Kind { return "completed" }
func (*Set) kind() Kind       { return "set" }
func (*Answered) kind() Kind  { return "answered" }
func (o *Other) kind() Kind   { return o.Event }

// kinds has an event of every kind that this version knows.
var kinds = [...]Event{
	&Measured{}, &Decided{}, &Started{}, &Finished{}, &Pushed{}, &Proposed{}, &Checked{}, &Set{}, &Answered{}, &Paused{}, &Resumed{}, &Completed{},
}

// newEvent returns an empty event of a kind.
func newEvent(kind Kind) Event {
	for _, known := range kinds {
		if known.kind() == kind {
			return clone(known)
		}
	}
	return &Other{}
}

// Of selects the events of one kind, such as those of slices.All or
// slices.Backward.
func Of[E Event](events iter.Seq2[int, Event]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for _, e := range events {
			if e, is := e.(E); is && !yield(e) {
				return
			}
		}
	}
}

// CommitOf is the commit that an event names, "" when it names none.
func CommitOf(e Event) string {
	switch e := e.(type) {
	case *Measured:
		return e.Commit
	case *Decided:
		return e.Commit
	case *Pushed:
		return e.Commit
	case *Checked:
		return e.Commit
	case *Set:
		return e.Commit
	default:
		return ""
	}
}

// CaseRates are the pass rates of cases in the runs.
func (e *Measured) CaseRates() decision.CaseRates {
	if e.CaseSamples != nil {
		return e.CaseSamples
	}
	return decision.RatesOf(e.Numbers)
}

// Outcome is how an iteration ended.
type Outcome string

// The outcomes. Busy, Idle and DryRun never appear in a ledger: no iteration
// was recorded.
const (
	Accepted       Outcome = "accepted"
	Rejected       Outcome = "rejected"
	Inconclusive   Outcome = "inconclusive" // not kept, and it may be tried again
	Error          Outcome = "error"
	PendingCI      Outcome = "pending-ci"
	CIFixExhausted Outcome = "ci-fix-exhausted"
	Busy           Outcome = "busy"
	Idle           Outcome = "idle"
	DryRun         Outcome = "dry-run"
)

// Dropped reports whether an iteration was decided and its change not kept.
func (o Outcome) Dropped() bool { return o == Rejected || o == Inconclusive }

// Role says which tree a measurement is of.
type Role string

// The roles. A baseline is the default branch's tree with nothing changed; the
// incumbent is the head of the program branch.
const (
	Baseline  Role = "baseline"
	Incumbent Role = "incumbent"
	Candidate Role = "candidate"
	Emptied   Role = "emptied" // the incumbent, with the files emptied that the candidate changed
	Garbled   Role = "garbled" // the incumbent, with a syntax error in those files
)

// Lease names the holder of a program, so that a run that is gone frees it.
type Lease struct {
	Host         string `json:"host"`
	PID          int    `json:"pid"`
	ProcessStart string `json:"process_start,omitempty"`
	ActionsRun   string `json:"actions_run,omitempty"`
	// Namespace is the pid namespace that PID is of, "" when it is not known.
	Namespace string `json:"pid_namespace,omitempty"`
	// Handed says that no process holds it: it is for another job of the same run.
	Handed bool      `json:"handed,omitempty"`
	Until  time.Time `json:"until"`
}

// Reserved is what a run may use of the program's budgets; 0 and nil are no bound.
type Reserved struct {
	Tokens  int64         `json:"tokens,omitempty"`
	CostUSD *metric.Value `json:"cost_usd,omitempty"`
	Minutes float64       `json:"minutes,omitempty"`
}

// Check is a check of CI, with the address of its page, if any.
type Check struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

// Ancestor names an earlier candidate: the iteration, and its number there from 1.
type Ancestor struct {
	Iteration int `json:"iteration"`
	Proposal  int `json:"proposal"`
}
