// Package history is the append-only record of a program: one JSON event a
// line, and the records that follow from them. It is pure; storing the lines is
// another package's work.
package history

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// Schema is the version written into every event.
const Schema = 1

// Kind says what an event records.
type Kind string

// The events of the format. Others are kept and ignored.
const (
	Started   Kind = "started"   // a run took the lease of an iteration
	Measured  Kind = "measured"  // an evaluation gave a number, or failed
	Proposed  Kind = "proposed"  // one of several candidates of an iteration, and what became of it
	Decided   Kind = "decided"   // the outcome of an iteration and its reasons
	Pushed    Kind = "pushed"    // the program branch moved
	Finished  Kind = "finished"  // the run gave the lease back
	Paused    Kind = "paused"    // the program stops until a person resumes it
	Resumed   Kind = "resumed"   // a person set Paused back
	Completed Kind = "completed" // the target is reached
	Set       Kind = "set"       // a person changed a setting
	Answered  Kind = "answered"  // what is answered to a comment; Key says to which
	Checked   Kind = "checked"   // CI turned a commit down, and an agent was asked to fix it
)

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

// CaseRates are the pass rates of cases in the runs of a Measured event.
func (e Event) CaseRates() decision.CaseRates {
	if e.CaseSamples != nil {
		return e.CaseSamples
	}
	return decision.RatesOf(e.Numbers)
}

// Ancestor names an earlier candidate: the iteration, and its number there from 1.
type Ancestor struct {
	Iteration int `json:"iteration"`
	Proposal  int `json:"proposal"`
}

// Event is one line of the ledger. Which fields are set depends on Kind.
type Event struct {
	Schema    int       `json:"schema"`
	Kind      Kind      `json:"event"`
	Time      time.Time `json:"time"`
	Run       string    `json:"run_id"`
	Iteration int       `json:"iteration"`

	// Started. Reserved is what counts as used when the run never comes back.
	Lease    *Lease    `json:"lease,omitempty"`
	Reserved *Reserved `json:"reserved,omitempty"`

	// Measured; Metric, Evaluator and Noisy are also Decided's. Stage is the
	// part of the trial, empty for a baseline. Metric is the median of Samples,
	// which are in the order of their runs, and so are those of GuardrailSamples
	// and, of several runs, the pass rates of cases in CaseSamples; Numbers are
	// what the last run printed.
	Role             Role                      `json:"role,omitempty"`
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
	Target    *metric.Value    `json:"target,omitempty"`
	// Evaluator is the hash of all that the evaluation runs and reads,
	// Definition that of the program's own settings within it.
	Evaluator  string `json:"evaluator,omitempty"`
	Definition string `json:"definition,omitempty"`
	// Executor is who worked on the cases or tasks of a suite, and who graded
	// them; nil of any other evaluation.
	Executor   *Executor `json:"executor,omitempty"`
	Base       string    `json:"base,omitempty"`
	BaseBranch string    `json:"base_branch,omitempty"`
	// Seconds is how long one run took on average, Prepare how long its tree
	// took to build and set up.
	Seconds float64 `json:"seconds,omitempty"`
	Prepare float64 `json:"prepare_seconds,omitempty"`

	// Decided, Proposed, Pushed and Finished.
	Outcome Outcome `json:"outcome,omitempty"`
	// Verdict is empty when nothing was compared. PreviousBest is what Metric
	// was compared with: the incumbent's number, measured anew when noisy. Rule
	// is how it was decided, and Evidence the comparisons that it took.
	Verdict      string                  `json:"verdict,omitempty"`
	Reasons      []string                `json:"reasons,omitempty"`
	Rule         *Rule                   `json:"rule,omitempty"`
	Evidence     []Evidence              `json:"evidence,omitempty"`
	Warning      string                  `json:"warning,omitempty"`
	PreviousBest *metric.Value           `json:"previous_best,omitempty"`
	Best         *metric.Value           `json:"best,omitempty"`
	Delta        string                  `json:"delta,omitempty"`
	Parent       string                  `json:"incumbent,omitempty"`
	Commit       string                  `json:"commit,omitempty"`
	Branch       string                  `json:"branch,omitempty"`
	Agent        string                  `json:"agent,omitempty"`
	Model        string                  `json:"model,omitempty"`
	Usage        *metric.Usage           `json:"usage,omitempty"`
	Summary      string                  `json:"summary,omitempty"`
	Changed      []string                `json:"changed,omitempty"`
	Params       map[string]metric.Value `json:"params,omitempty"`
	Durations    map[string]float64      `json:"durations,omitempty"`
	// Seed is what the order of the trial's runs came from: a secret until then.
	Seed string `json:"seed,omitempty"`
	// Held says why a gain was too good to be believed at once, and LeavesNothing that
	// the candidate left nothing in the files that it changed.
	Held          string `json:"held,omitempty"`
	LeavesNothing bool   `json:"leaves_nothing,omitempty"`
	// Disagreement says that the incumbent, measured anew, was not what is on
	// record; "" when it was.
	Disagreement string `json:"disagreement,omitempty"`
	// Evaluation is what the models used that were asked to measure; nil is
	// none. A baseline's is in its Measured event, what trials used in Decided,
	// or Checked, for all proposals together.
	Evaluation *Expense `json:"evaluation,omitempty"`

	// Proposal is the number of a candidate among several of its iteration, from
	// 1; also Measured's. Digest identifies its change, and Patch is that change
	// as git prints it, where a strategy needs it.
	Proposal int    `json:"proposal,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Patch    string `json:"patch,omitempty"`
	// GrownFrom, of Proposed, is the candidate whose files the change began with;
	// nil is the incumbent.
	GrownFrom *Ancestor `json:"grown_from,omitempty"`

	// Failing are the checks of CI that failed, of Checked and of a Decided that
	// CI rejected.
	Failing []Check `json:"failing_checks,omitempty"`

	// Focus is the failing test that the attempt was to make pass.
	Focus string `json:"focus,omitempty"`

	// What the agent handed back: data that it made up.
	Lessons    []string `json:"lessons,omitempty"`
	Foreclosed []string `json:"foreclosed,omitempty"`
	Ideas      []string `json:"ideas,omitempty"`

	// NotBefore, of Finished, says that the iteration was put off until then, as
	// the agent's service asked for; Reason says why.
	NotBefore *time.Time `json:"not_before,omitempty"`
	// Unused, of Finished, says that nobody worked after the start: it counts as no
	// run.
	Unused bool `json:"unused,omitempty"`

	// Paused, Resumed, Completed, Set, and Finished when it was put off.
	Reason string `json:"reason,omitempty"`
	Key    string `json:"key,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Line renders the event as one line of JSON, with its newline.
func (e Event) Line() ([]byte, error) {
	e.Schema = Schema
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("render %s event: %w", e.Kind, err)
	}
	return append(text, '\n'), nil
}
