package ci

// Cause is what a reason is about.
type Cause string

// The kinds of reasons.
const (
	// BranchMoved: somebody pushed to the branch.
	BranchMoved Cause = "branch-moved"
	// Unread: something could not be read.
	Unread Cause = "unread"
	// Running: a check, a workflow run or a suite is queued or running.
	Running Cause = "running"
	// Undecided: a check ended without a result, or waits for a person.
	Undecided Cause = "undecided"
	// Failed: a check fails that does not fail in this way on the base.
	Failed Cause = "failed"
	// FailsOnBase: a check fails as it does on the base; that blocks nothing.
	FailsOnBase Cause = "fails-on-base"
	// Missing: an expected check did not run.
	Missing Cause = "missing"
	// Unproven: an expected check has no success: it was skipped, or fails on the
	// base too.
	Unproven Cause = "unproven"
	// NoSuccess: no check succeeded at all.
	NoSuccess Cause = "no-success"
)

// Reason is one reason of a verdict.
type Reason struct {
	Kind Cause
	// Check is the name of the check, workflow or suite, "" when it is about
	// none.
	Check string
	// Text says it to people, in one line.
	Text string
}

// String is the text.
func (r Reason) String() string { return r.Text }

// blocks reports whether the commit cannot be green for this reason.
func (r Reason) blocks() bool { return r.Kind != FailsOnBase }

func (v *judgement) add(kind Cause, check, text string) {
	v.Reasons = append(v.Reasons, Reason{Kind: kind, Check: check, Text: text})
}

// Words are the reasons in words.
func (v Result) Words() []string {
	words := make([]string, len(v.Reasons))
	for i, reason := range v.Reasons {
		words[i] = reason.Text
	}
	return words
}

// Cure says what a person can do about a verdict that stays pending.
func (v Result) Cure() string {
	for _, reason := range v.Reasons {
		switch reason.Kind { //nolint:exhaustive // the others end by themselves or are no obstacle
		case Unread:
			return "give the token what it lacks"
		case Running:
			return "look why " + reason.Check +
				" does not end (no runner, or it waits for an approval), and start it again"
		case Undecided:
			return "start " + reason.Check + " again"
		case Missing, Unproven:
			return "let " + reason.Check +
				" run on the commits of draft pull requests, or take it out of what is required"
		}
	}
	return "pushes with the workflow's own token start no CI: name a `ci-workflow`, or give the token of an app or a " +
		"person"
}

// Because puts a reason in words before the others. Empty words add nothing.
func (r Result) Because(words string) Result {
	if words != "" {
		r.Reasons = append([]Reason{{Text: words}}, r.Reasons...)
	}
	return r
}
