// Package history is the append-only record of a program: one JSON event a
// line, and the records that follow from them. It is pure; storing the lines is
// another package's work.
package history

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// Schema is the version written into every event.
const Schema = 1

// EventKind is the name of a kind of event.
type EventKind string

// Event is one line of the ledger: a pointer to the struct of its kind. The order of their fields is that of the line.
type Event interface{ Header() *Head }

// Head is what every event has.
type Head struct {
	// Schema is the version of the format.
	Schema int `json:"schema"`
	// Event is its kind.
	Event EventKind `json:"event"`
	// Time is when it was recorded, in UTC.
	Time time.Time `json:"time"`
	// Run is the run that recorded it.
	Run string `json:"run_id"`
	// Iteration is the iteration that it is about; 0 is the first baseline.
	Iteration int `json:"iteration"`
}

// Header returns the head itself.
func (h *Head) Header() *Head { return h }

// Fields tagged `said` are texts of agents and evaluations, in which secrets are hidden, or
// names that they gave. A job that proposes says those tagged `proposal`, embedded structs, and
// nothing else of an event; what is tagged `claimed` is marked as its words.

// Work is what an agent did for an event, and what that used.
type Work struct {
	// Agent is who worked, by the name that `iterate doctor` has.
	Agent string `json:"agent,omitempty" said:"name"`
	// Model is the model that was asked for; empty is the agent's own.
	Model string `json:"model,omitempty" said:"name"`
	// Usage is what the agent used.
	Usage *metric.Usage `json:"usage,omitempty"`
	// Summary is what the agent says that it changed.
	Summary string `json:"summary,omitempty" said:"yes"`
	// Changed are the paths that differ from the incumbent's.
	Changed []string `json:"changed,omitempty"`
	// Params are the numbers that the tuner proposed, by the names of their marks.
	Params map[string]metric.Value `json:"params,omitempty"`
	// Durations are the seconds that the parts took: `propose`, `measure`.
	Durations map[string]float64 `json:"durations,omitempty"`
}

// Notes are what an agent handed back: data that it made up.
type Notes struct {
	// Lessons are what it learned.
	Lessons []string `json:"lessons,omitempty" said:"yes"`
	// Foreclosed are ways that need not be tried again.
	Foreclosed []string `json:"foreclosed,omitempty" said:"yes"`
	// Ideas are ways to try next.
	Ideas []string `json:"ideas,omitempty" said:"yes"`
}

// Started says that a run took the lease of an iteration.
type Started struct {
	Head
	// Lease is who holds the program, and until when.
	Lease *Lease `json:"lease,omitempty"`
	// Reserved is what counts as used when the run never comes back.
	Reserved *Reserved `json:"reserved,omitempty"`
}

// Measured says what an evaluation measured, or that it failed.
type Measured struct {
	Head
	// Role is the tree that was measured: `baseline`, `incumbent`, `candidate`; `emptied`
	// and `garbled` are the incumbent with changed files broken on purpose.
	Role decision.Side `json:"role,omitempty" proposal:"yes"`
	// Stage is the part of the trial, empty for a baseline.
	Stage decision.Stage `json:"stage,omitempty" proposal:"yes"`
	// Metric is the median of the samples; null when the evaluation printed null.
	Metric *metric.Value `json:"metric,omitempty" proposal:"yes"`
	// Samples are the metric of each run, in their order.
	Samples []metric.Value `json:"samples,omitempty" proposal:"yes"`
	// GuardrailSamples are the guardrails' numbers of each run, by their keys.
	GuardrailSamples map[string][]metric.Value `json:"guardrail_samples,omitempty" proposal:"yes"`
	// CaseSamples are the pass rates of a suite's cases in each of several runs.
	CaseSamples map[string][]metric.Value `json:"case_samples,omitempty" proposal:"yes"`
	// Numbers are all numbers that the last run printed, by their keys.
	Numbers map[string]metric.Value `json:"numbers,omitempty" proposal:"yes"`
	// Noisy says that two equal runs gave two numbers.
	Noisy bool `json:"noisy,omitempty" proposal:"yes"`
	// Problem says why the evaluation failed; empty when it did not.
	Problem string `json:"problem,omitempty" said:"yes" proposal:"yes"`
	// RejectedReason is what the evaluation printed as its own `rejected_reason`.
	RejectedReason string `json:"rejected_reason,omitempty" said:"yes" proposal:"yes"`
	// EvaluatorWrites, of a baseline, are the files outside the target that the
	// evaluation changes itself: true for another content.
	EvaluatorWrites map[string]bool `json:"evaluator_writes,omitzero" proposal:"yes"`
	// Output is the end of what the evaluation printed, bounded.
	Output string `json:"output,omitempty" said:"yes" proposal:"yes"`
	// Direction says which metric is better: `higher` or `lower`.
	Direction metric.Direction `json:"direction,omitempty"`
	// Evaluator is the hash of all that the evaluation runs and reads.
	Evaluator string `json:"evaluator,omitempty" proposal:"yes"`
	// Definition is the hash of the program's own settings within Evaluator.
	Definition string `json:"definition,omitempty" proposal:"yes"`
	// Executor is who worked on the cases or tasks of a suite, and who graded them.
	Executor *Executor `json:"executor,omitempty" proposal:"yes"`
	// BaseBranch is the default branch that a baseline was measured of.
	BaseBranch string `json:"base_branch,omitempty"`
	// Seconds is how long one run took on average.
	Seconds float64 `json:"seconds,omitempty" proposal:"yes"`
	// Prepare is how long its tree took to build and set up.
	Prepare float64 `json:"prepare_seconds,omitempty" proposal:"yes"`
	// Commit is the commit that was measured; empty for a candidate.
	Commit string `json:"commit,omitempty"`
	// Evaluation is what models used to measure a baseline; nil when none was asked.
	Evaluation *Expense `json:"evaluation,omitempty" proposal:"yes"`
	// Proposal is the number of a candidate among several of its iteration, from 1.
	Proposal int `json:"proposal,omitempty" proposal:"yes"`
	// Reason says why a baseline was measured.
	Reason *decision.Reason `json:"reason,omitempty" proposal:"yes"`
}

// Decided is the outcome of an iteration and its reasons.
type Decided struct {
	Head
	// Metric is what the candidate measured: the median of its samples.
	Metric    *metric.Value    `json:"metric,omitempty" proposal:"yes"`
	Noisy     bool             `json:"noisy,omitempty" proposal:"yes"`
	Direction metric.Direction `json:"direction,omitempty"`
	// Target is the `target-metric` that the decision knew.
	Target     *metric.Value `json:"target,omitempty"`
	Evaluator  string        `json:"evaluator,omitempty" proposal:"yes"`
	Definition string        `json:"definition,omitempty" proposal:"yes"`
	Executor   *Executor     `json:"executor,omitempty" proposal:"yes"`
	// Outcome is how it ended: `accepted`, `rejected`, `inconclusive`, `error`,
	// `pending-ci` or `ci-fix-exhausted`.
	Outcome state.Status `json:"outcome,omitempty" proposal:"yes"`
	// Verdict is `improved`, `neutral` or `regressed`; empty when nothing was
	// compared.
	Verdict decision.Verdict `json:"verdict,omitempty" proposal:"yes"`
	// Reasons say why, the deciding one first.
	Reasons []decision.Reason `json:"reasons,omitempty" proposal:"claimed"`
	// Rule is how it was decided.
	Rule *decision.Rule `json:"rule,omitempty" proposal:"yes"`
	// Evidence are the comparisons that the decision took.
	Evidence []decision.Evidence `json:"evidence,omitempty" proposal:"yes"`
	// Warning is what a person should look at although it was decided.
	Warning []decision.Reason `json:"warning,omitempty" proposal:"claimed"`
	// PreviousBest is what Metric was compared with: the incumbent's number,
	// measured anew when noisy.
	PreviousBest *metric.Value `json:"previous_best,omitempty" proposal:"yes"`
	// Best is the best number after the decision.
	Best *metric.Value `json:"best,omitempty" proposal:"yes"`
	// Delta is Metric minus PreviousBest, with its sign.
	Delta string `json:"delta,omitempty" proposal:"yes"`
	// Parent is the commit that the candidate was compared with.
	Parent string `json:"incumbent,omitempty"`
	// Commit is the commit that the candidate became; empty when it was not kept.
	Commit string `json:"commit,omitempty"`
	Work
	// Seed is what the order of the trial's runs came from: a secret until then.
	Seed string `json:"seed,omitempty" proposal:"yes"`
	// LeavesNothing says that the candidate left nothing in the files that it
	// changed.
	LeavesNothing bool `json:"leaves_nothing,omitempty" proposal:"yes"`
	// Disagreement says that the incumbent, measured anew, was not what is on record.
	Disagreement *decision.Reason `json:"disagreement,omitempty"`
	// Evaluation is what models used to measure the trials, for all proposals together.
	Evaluation *Expense `json:"evaluation,omitempty" proposal:"yes"`
	// Proposal is the number of the candidate among several of its iteration, from
	// 1.
	Proposal int `json:"proposal,omitempty" proposal:"yes"`
	// Digest is the SHA-256 of the change, by which one that was tried before is
	// known.
	Digest string `json:"digest,omitempty" proposal:"yes"`
	// Failing are the checks of CI that failed, when CI rejected it.
	Failing []Check `json:"failing_checks,omitempty"`
	// Focus is the failing test that the attempt was to make pass.
	Focus string `json:"focus,omitempty" said:"yes" proposal:"yes"`
	Notes
}

// Proposed is one of several candidates of an iteration, and what became of it.
type Proposed struct {
	Decided
	// Patch is the change as git prints it, where a strategy needs it.
	Patch string `json:"patch,omitempty" proposal:"yes"`
	// GrownFrom is the candidate whose files the change began with; nil is the
	// incumbent.
	GrownFrom *Ancestor `json:"grown_from,omitempty" proposal:"yes"`
}

// Pushed says that the program branch moved.
type Pushed struct {
	Head
	// Parent is where the branch stood before.
	Parent string `json:"incumbent,omitempty"`
	// Commit is where it stands now.
	Commit string `json:"commit,omitempty"`
	// Branch is the program's branch.
	Branch string `json:"branch,omitempty"`
}

// Finished says that the run gave the lease back.
type Finished struct {
	Head
	// Outcome is how the iteration ended; empty when nothing was decided.
	Outcome state.Status `json:"outcome,omitempty"`
	Work
	// Evaluation is what models used to measure; nil when none was asked.
	Evaluation *Expense `json:"evaluation,omitempty" proposal:"yes"`
	// NotBefore says that the iteration was put off until then.
	NotBefore *time.Time `json:"not_before,omitempty" proposal:"yes"`
	// Unused says that nobody worked after the start: it counts as no run.
	Unused bool `json:"unused,omitempty"`
	// Stopped says that the run was asked to end before it had decided: what it reserved counts as used.
	Stopped bool `json:"stopped,omitempty"`
	// Reason says why it was put off.
	Reason *decision.Reason `json:"reason,omitempty" proposal:"yes"`
}

// Checked says that CI turned a commit down, and what became of the agent that
// was asked to fix it.
type Checked struct {
	Head
	// Failed says why the attempt to fix it failed.
	Failed *decision.Reason `json:"failed,omitempty" proposal:"yes"`
	// Reasons say what CI found.
	Reasons []decision.Reason `json:"reasons,omitempty" proposal:"claimed"`
	// Commit is the commit that CI turned down.
	Commit string `json:"commit,omitempty"`
	Work
	// Evaluation is what models used to measure the attempt.
	Evaluation *Expense `json:"evaluation,omitempty" proposal:"yes"`
	// Failing are the checks that failed.
	Failing []Check `json:"failing_checks,omitempty"`
	// Signature identifies the failure, so that the same one is known again.
	Signature string `json:"signature,omitempty" said:"yes" proposal:"yes"`
}

// Paused says that the program stops until a person resumes it.
type Paused struct {
	Head
	// Reason says why: who asked for it, or what happened.
	Reason decision.Reason `json:"reason,omitzero"`
}

// Resumed says that a person ended a pause or a completion.
type Resumed struct {
	Head
	// Reason says who asked for it.
	Reason decision.Reason `json:"reason,omitzero"`
}

// Completed says that the target is reached.
type Completed struct {
	Head
	// Reason says which number reached the target.
	Reason decision.Reason `json:"reason,omitzero"`
}

// Set says that a setting changed: where a program stands on GitHub, or a target.
type Set struct {
	Head
	// Commit, of `pull-ended`, is the head that was merged; of `undone`, the branch's
	// after it.
	Commit string `json:"commit,omitempty"`
	// Key is the setting, such as `pull`, `issue` or `target-metric`.
	Key string `json:"key,omitempty"`
	// Value is its new value as text; empty ends it.
	Value string `json:"value,omitempty"`
}

// Answered is the answer to a comment.
type Answered struct {
	Head
	// Reason is the answer.
	Reason string `json:"reason,omitempty"`
	// Key identifies the comment.
	Key string `json:"key,omitempty"`
}

// CaseRates are the pass rates of cases in the runs.
func (e *Measured) CaseRates() decision.CaseRates {
	if e.CaseSamples != nil {
		return e.CaseSamples
	}
	return decision.RatesOf(e.Numbers)
}

// Promoted reports whether a decision put its change onto the program's branch.
func Promoted(e *Decided) bool { return e.Outcome == Accepted || e.Outcome == PendingCI }

// kinds has an event of every kind that this version knows.
var kinds = map[EventKind]Event{
	"started": &Started{}, "measured": &Measured{}, "proposed": &Proposed{}, "decided": &Decided{}, "pushed": &Pushed{},
	"finished": &Finished{},
	"checked":  &Checked{}, "paused": &Paused{}, "resumed": &Resumed{}, "completed": &Completed{}, "set": &Set{},
	"answered": &Answered{},
}

// KindOf is what the ledger calls the kind of an event: the name of its type.
func KindOf(e Event) EventKind { return EventKind(strings.ToLower(reflect.TypeOf(e).Elem().Name())) }

// Of are the events of one kind.
func Of[E Event](events []Event) (list []E) {
	for _, e := range events {
		if e, is := e.(E); is {
			list = append(list, e)
		}
	}
	return list
}

// UndoneBy is the iteration that an event says was undone, 0 for none.
func UndoneBy(e Event) int {
	if set, is := e.(*Set); is && set.Key == UndoneIteration {
		if n, err := strconv.Atoi(set.Value); err == nil {
			return n
		}
	}
	return 0
}

// The outcomes. Busy, Idle and DryRun never appear in a ledger: no iteration
// was recorded. Undone neither: people are shown it of an accepted iteration whose
// change was taken back.
const (
	Accepted                    = state.Accepted
	Rejected                    = state.Rejected
	Inconclusive                = state.Inconclusive // not kept, and it may be tried again
	Error                       = state.Failed
	PendingCI                   = state.PendingCI
	CIFixExhausted              = state.CIFixExhausted
	Busy           state.Status = "busy"
	Idle           state.Status = "idle"
	DryRun         state.Status = "dry-run"
	Undone         state.Status = "undone"
)

// The roles of a tree that is measured, besides those of a trial alone. A baseline is the default
// branch's tree with nothing changed; the incumbent is the head of the program branch.
const (
	Baseline  decision.Side = "baseline"
	Incumbent               = decision.Incumbent
	Candidate               = decision.Candidate
)

// Lease names the holder of a program, so that a run that is gone frees it.
type Lease struct {
	// Host is the machine of the run.
	Host string `json:"host"`
	// PID is its process there.
	PID int `json:"pid"`
	// ProcessStart is when that process began, as the system says it.
	ProcessStart string `json:"process_start,omitempty"`
	// ActionsRun is the number and the attempt of the run in Actions.
	ActionsRun string `json:"actions_run,omitempty"`
	// Namespace is the pid namespace that PID is of, "" when it is not known.
	Namespace string `json:"pid_namespace,omitempty"`
	// Handed says that no process holds it: it is for another job of the same run.
	Handed bool `json:"handed,omitempty"`
	// Until is when it ends by itself, in UTC.
	Until time.Time `json:"until"`
}

// Reserved is what a run may use of the program's budgets; 0 and nil are no bound.
type Reserved struct {
	// Tokens are those of input and output.
	Tokens int64 `json:"tokens,omitempty"`
	// CostUSD is in US dollars.
	CostUSD *metric.Value `json:"cost_usd,omitempty"`
	// Minutes are those of agent and evaluation.
	Minutes float64 `json:"minutes,omitempty"`
}

// Check is a check of CI.
type Check struct {
	// Name is what GitHub calls the check.
	Name string `json:"name"`
	// URL is the address of its page.
	URL string `json:"url,omitempty"`
}

// Ancestor names an earlier candidate.
type Ancestor struct {
	// Iteration is that of the candidate.
	Iteration int `json:"iteration"`
	// Proposal is its number there, from 1.
	Proposal int `json:"proposal"`
}
