package history

// Settings with which a state that had no ledger was taken over: its iteration
// count, and its recent statuses, comma-separated.
const (
	AdoptedIteration = "adopted-iteration"
	AdoptedStatuses  = "adopted-statuses"
)

// Settings that say where a program stands on GitHub: its issue, who wrote its
// file, its pull request, the last one that was merged or closed, and up to
// where its comments were heard.
const (
	IssueNumber = "issue"
	Author      = "author"
	PullNumber  = "pull"
	PullEnded   = "pull-ended"
	HeardUntil  = "heard"
	// HeardSince is the time since when comments are to be read again, "" for
	// the last run; CommandsUntil is HeardUntil for commands.
	HeardSince    = "heard-since"
	CommandsUntil = "commands"
	// CIStarted is the commit for which the workflow of CI was started.
	CIStarted = "ci-started"
	// TargetMetric was set by a person while the program file had
	// TargetMetricWas.
	TargetMetric    = "target-metric"
	TargetMetricWas = "target-metric-was"
	// UndoneIteration is the iteration whose change was last taken back, with the branch's
	// commit after that.
	UndoneIteration = "undone"
	// Note is what the next agent is told, "" for nothing.
	Note = "note"
)
