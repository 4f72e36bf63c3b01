package render

import "github.com/org/autoloop/internal/history"

// OutcomeText is how an outcome is shown to people. The words of the state file and of
// JSON are their formats, and not among these.
type OutcomeText struct {
	Sign     string
	Word     string // everywhere
	Class    string // its class in the style sheet of the page
	Proposed string // what a proposal with it is, before another job records it
}

// OutcomeOf is the one table of how outcomes are shown.
func OutcomeOf(outcome history.Outcome) OutcomeText {
	switch outcome {
	case history.Accepted:
		return OutcomeText{"✅", "kept", "kept", "proposed, and better"}
	case history.Rejected:
		return OutcomeText{"❌", "not kept", "rejected", "proposed, and not better"}
	case history.Inconclusive:
		return OutcomeText{"❔", "not kept", "rejected", "proposed, and not told from chance"}
	case history.Error:
		return OutcomeText{"⚠️", "error", "error", "an error to record"}
	case history.PendingCI:
		return OutcomeText{"⏳", "waiting", "pending", "proposed, and better"}
	case history.CIFixExhausted:
		return OutcomeText{"❌", "not kept", "rejected", "to be recorded"}
	case history.Undone:
		return OutcomeText{"↩️", "undone", "rejected", "to be recorded"}
	default: // nothing was decided: busy, idle, or a dry run
		return OutcomeText{"💤", line(string(outcome)), "rejected", "to be recorded"}
	}
}

// Label is an outcome as comments and summaries show it.
func Label(outcome history.Outcome) string {
	text := OutcomeOf(outcome)
	return text.Sign + " " + text.Word
}
