package render

import "github.com/org/autoloop/internal/history"

// OutcomeText is how an outcome is shown to people. The words of the state file are
// its format, and not among these.
type OutcomeText struct {
	Sign     string
	Word     string // in comments and summaries
	Page     string // on the page
	Class    string // its class in the style sheet of the page
	Count    string // behind a number
	Proposed string // what a proposal with it is, before another job records it
}

// OutcomeOf is the one table of how outcomes are shown.
func OutcomeOf(outcome history.Outcome) OutcomeText {
	switch outcome {
	case history.Accepted:
		return OutcomeText{"✅", "accepted", "kept", "kept", "accepted", "proposed, and better"}
	case history.Rejected:
		return OutcomeText{"❌", "rejected", "rejected", "rejected", "rejected", "proposed, and not better"}
	case history.Inconclusive:
		return OutcomeText{"❔", "inconclusive", "inconclusive", "rejected", "inconclusive", "proposed, and not told from chance"}
	case history.Error:
		return OutcomeText{"⚠️", "error", "error", "error", "errors", "an error to record"}
	case history.PendingCI:
		return OutcomeText{"⏳", "waiting for CI", "waits for CI", "pending", "waiting for CI", "proposed, and better"}
	case history.CIFixExhausted:
		return OutcomeText{"❌", "rejected by CI", "failed in CI", "error", "rejected", "to be recorded"}
	default: // nothing was decided: busy, idle, or a dry run
		word := line(string(outcome))
		return OutcomeText{"💤", word, word, "rejected", "rejected", "to be recorded"}
	}
}

// Label is an outcome in the words of comments.
func Label(outcome history.Outcome) string {
	text := OutcomeOf(outcome)
	return text.Sign + " " + text.Word
}
