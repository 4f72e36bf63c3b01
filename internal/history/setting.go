package history

import "encoding/json"

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
