package history

import (
	"time"

	"github.com/org/autoloop/internal/metric"
)

// Outcome is how an iteration ended.
type Outcome string

// The outcomes. Busy, Idle and DryRun never appear in a ledger: no iteration
// was recorded. Undone neither: people are shown it of an accepted iteration whose
// change was taken back.
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
	Undone         Outcome = "undone"
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
