package history

import "strconv"

// Keys of the events that set something; Settings says what each is.
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
	Issue  int
	Author string
	// Pull is the program's newest pull request, PullEnded the last that was merged or
	// closed.
	Pull, PullEnded int
	// Undone is the iteration whose change was last taken back.
	Undone int
	// Note is what the next agent is told.
	Note string
	// HeardUntil is the mark of the last comment that was heard, CommandsUntil the same
	// for commands; HeardSince is the time since when comments are to be read again, empty
	// for the last run.
	HeardUntil, CommandsUntil, HeardSince string
	// CIStarted is the commit for which the workflow of CI was started.
	CIStarted string
	// Target was set by a person while the program file had TargetWas.
	Target, TargetWas string
	// Forced says what the last forced iteration disregarded.
	Forced string
	// Published is the digest of the last bundle that was recorded.
	Published string
	// WorkflowsRefused is the commit of the default branch that may not be merged into
	// the program branch, because of the workflow files in it.
	WorkflowsRefused string
	// Adopted is the iteration count with which a state that had no ledger was taken
	// over, AdoptedStatuses its recent statuses, comma-separated.
	Adopted         int
	AdoptedStatuses string
}

// Set takes over what an event sets. Keys of a later version are left alone.
func (s *Settings) Set(key, value string) {
	switch field := map[string]any{
		IssueNumber: &s.Issue, PullNumber: &s.Pull, PullEnded: &s.PullEnded, UndoneIteration: &s.Undone,
		AdoptedIteration: &s.Adopted, AdoptedStatuses: &s.AdoptedStatuses, Author: &s.Author, Note: &s.Note,
		HeardUntil: &s.HeardUntil, HeardSince: &s.HeardSince, CommandsUntil: &s.CommandsUntil,
		CIStarted: &s.CIStarted, TargetMetric: &s.Target, TargetMetricWas: &s.TargetWas, Forced: &s.Forced,
		Published: &s.Published, WorkflowsRefused: &s.WorkflowsRefused,
	}[key].(type) {
	case *int:
		n, _ := strconv.Atoi(value)
		*field = max(n, 0)
	case *string:
		*field = value
	}
}
