// Package ci decides whether CI lets a commit through: green, red or not
// known yet. It is pure, and it is closed by default: what is missing, unknown
// or could not be read is never green.
package ci

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
)

// Check is what one part of CI says of a commit: a check run or a commit status.
type Check struct {
	Name string
	// App is the GitHub App that reports it, 0 for a commit status. Two checks
	// with the same name and app are the same check.
	App int64
	// Status is queued, in_progress or completed and others; Conclusion, when
	// completed, is success, failure, neutral, skipped and others.
	Status, Conclusion string
	// URL is its page, "" for none.
	URL string
	// Started tells a later check from an earlier one of the same name.
	Started time.Time
	// Lines are what it says in words: annotations first, then its summary.
	Lines []string
	// Unexplained says that the lines of a failure could not all be read.
	Unexplained bool
	// Workflow says that a workflow of GitHub Actions reports it.
	Workflow bool
}

// Run is a workflow run or a check suite of a commit. Its checks appear only
// once their jobs are created.
type Run struct {
	Name string
	// Status and Conclusion are as those of a check.
	Status, Conclusion string
}

// Reading is what was read of one commit; Err says why it could not be read.
type Reading struct {
	Checks []Check
	Runs   []Run
	Err    error
}

// Required is a check that the rules of the target branch require; App is the
// one that has to report it, 0 for any.
type Required struct {
	Name string
	App  int64
}

// Rules are the required checks of the target branch; Err says why they could
// not be read.
type Rules struct {
	Required []Required
	Err      error
}

// Candidate is a commit that waits for CI.
type Candidate struct {
	Commit string
	// Base is the commit that it is compared with, BaseBranch the branch that it
	// is to be merged into.
	Base, BaseBranch string
	// Starts says that a workflow of the base starts on such a change; Elsewhere are the
	// names of those that do not, such as one that deploys what is merged.
	Starts    bool
	Elsewhere []string
}

// Input is everything that a verdict depends on.
type Input struct {
	// Head is what CI says of the commit that is judged, Base what CI says of the commit that it is
	// compared with. Checks of the base that no change starts, such as those of
	// a schedule, do not belong in it.
	Head, Base Reading
	Rules      Rules
	// Starts says that a workflow of the base starts on such a change.
	Starts bool
}

// State is the answer in one word.
type State string

// The states.
const (
	Green   State = "green"
	Red     State = "red"
	Pending State = "pending"
)

// Result is a state with its reasons.
type Result struct {
	State State
	// Reasons are decision.CIFound with a cause as the Term and a check, workflow or suite, if any, as the Path.
	Reasons []decision.Reason
	// Failing are the checks that fail here and not in the same way on the base,
	// by name.
	Failing []Check
	// Seen is how many checks the commit has; -1 when they could not be read.
	Seen int
}

// Judge decides over a commit.
//
// Expected are the checks that the rules require and those that succeeded on
// the base. Green needs every expected check good, at least one real success among them, and
// no check, workflow run or suite that is queued or running. Where nothing succeeded on the base, as with CI on pull
// requests alone, and a workflow starts on such a change, one of its checks has
// to succeed: other apps are often faster than its first job. Red needs a failure that the base does not have, and
// nothing that still runs.
func Judge(in Input) Result {
	v := Result{State: Pending, Seen: len(in.Head.Checks)}
	if v.unread(in) {
		return v
	}
	head, base := latest(in.Head.Checks), latest(in.Base.Checks)
	explained := v.failures(head, base, in)
	running := v.unfinished(head, in.Head.Runs)
	v.expectations(head, expected(base, in.Rules), in.Starts)
	switch {
	case running, !explained:
	case len(v.Failing) > 0:
		v.State = Red
	case !slices.ContainsFunc(v.Reasons, blocks):
		v.State = Green
	}
	return v
}

func (v *Result) unread(in Input) bool {
	for _, part := range []struct {
		name string
		err  error
	}{
		{"CI", in.Head.Err},
		{"CI of the base", in.Base.Err},
		{"the rules of the target branch", in.Rules.Err},
	} {
		if part.err != nil {
			v.add(Unread, "", part.name+" could not be read: "+part.err.Error())
		}
	}
	if in.Head.Err != nil {
		v.Seen = -1
	}
	return len(v.Reasons) > 0
}

// failures sorts out the failures that the base does not have in the same way.
// It returns false when that cannot be told of one.
func (v *Result) failures(head, base []Check, in Input) bool {
	explained := true
	for _, check := range withFailedRuns(head, in.Head.Runs) {
		if !check.bad() {
			continue
		}
		same, known := failsAlike(check, withFailedRuns(base, in.Base.Runs))
		switch {
		case !known:
			explained = false
			v.add(Unread, check.Name, check.Name+
				" fails, as it does on the base, and whether in the same way could not be read")
		case same:
			v.add(FailsOnBase, check.Name, check.Name+" fails on the base too")
		default:
			v.Failing = append(v.Failing, check)
		}
	}
	slices.SortStableFunc(v.Failing, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	for _, check := range v.Failing {
		v.add(Failed, check.Name, check.Name+" fails")
	}
	return explained
}

// withFailedRuns adds workflows that failed before they had a check, such as
// one whose file is not valid.
func withFailedRuns(checks []Check, runs []Run) []Check {
	all := slices.Clone(checks)
	for _, run := range runs {
		if run.Conclusion == "startup_failure" {
			all = append(all, Check{
				Name: run.Name, App: -1, Status: completed, Conclusion: "failure",
				Lines: []string{"the workflow did not start"},
			})
		}
	}
	return all
}

// failsAlike reports whether the same check fails on the base with the same
// first errors; known is false when one of them could not be read. Without a line
// that tells failures apart it is another failure.
func failsAlike(check Check, base []Check) (same, known bool) {
	known = true
	for _, before := range base {
		if !before.bad() || !before.is(check) {
			continue
		}
		if before.Unexplained || check.Unexplained {
			known = false
			continue
		}
		if lines := check.firstErrors(); len(lines) > 0 && slices.Equal(lines, before.firstErrors()) {
			return true, true
		}
	}
	return false, known
}

// unfinished notes what has not come to an end, and reports whether anything is
// still running.
func (v *Result) unfinished(head []Check, runs []Run) bool {
	running := false
	for _, check := range head {
		switch {
		case !check.completed():
			running = true
			v.add(Running, check.Name, check.Name+" is "+word(check.Status))
		case !check.good() && !check.bad():
			v.add(Undecided, check.Name, check.Name+" is "+
				word(cmp.Or(check.Conclusion, "completed without a conclusion")))
		}
	}
	for _, run := range runs {
		switch {
		case run.Status != completed:
			running = true
			v.add(Running, run.Name, "workflow "+run.Name+" is "+word(run.Status))
		case run.Conclusion == "action_required":
			v.add(Undecided, run.Name, "workflow "+run.Name+" waits for the approval of a person")
		}
	}
	return running
}

// latest leaves out checks that were cancelled and started again under the same
// name.
func latest(checks []Check) []Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool {
		return c.completed() && (c.Conclusion == "cancelled" || c.Conclusion == "stale") &&
			slices.ContainsFunc(checks, func(later Check) bool { return later.is(c) && later.Started.After(c.Started) })
	})
}

const completed = "completed"

func (c Check) completed() bool { return c.Status == completed }

func (c Check) is(other Check) bool { return c.Name == other.Name && c.App == other.App }

// good says that it does not stand in the way. Only a success proves anything.
func (c Check) good() bool {
	return c.completed() && slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion)
}

func (c Check) success() bool { return c.completed() && c.Conclusion == "success" }

// bad says that it failed for good. What was cancelled, grew stale or waits for
// a person did not fail: somebody may start it again.
func (c Check) bad() bool {
	return c.completed() && slices.Contains([]string{"failure", "timed_out", "startup_failure"}, c.Conclusion)
}

func word(text string) string { return strings.ReplaceAll(text, "_", " ") }

// The kinds of reasons.
const (
	// Unread: something could not be read.
	Unread = "unread"
	// Running: a check, a workflow run or a suite is queued or running.
	Running = "running"
	// Undecided: a check ended without a result, or waits for a person.
	Undecided = "undecided"
	// Failed: a check fails that does not fail in this way on the base.
	Failed = "failed"
	// FailsOnBase: a check fails as it does on the base; that blocks nothing.
	FailsOnBase = "fails-on-base"
	// Missing: an expected check did not run.
	Missing = "missing"
	// Unproven: an expected check has no success: it was skipped, or fails on the
	// base too.
	Unproven = "unproven"
	// NoSuccess: no check succeeded at all.
	NoSuccess = "no-success"
)

// blocks reports whether the commit cannot be green for a reason.
func blocks(r decision.Reason) bool { return r.Term != FailsOnBase }

func (v *Result) add(cause, check, text string) {
	v.Reasons = append(v.Reasons, decision.Reason{Kind: decision.CIFound, Term: cause, Path: check, Words: text})
}

// Cure says what a person can do about a verdict that stays pending.
func (v *Result) Cure() string {
	for _, reason := range v.Reasons {
		switch reason.Term { // the others end by themselves or are no obstacle
		case Unread:
			return "give the token what it lacks"
		case Running:
			return "look why " + reason.Path +
				" does not end (no runner, or it waits for an approval), and start it again"
		case Undecided:
			return "start " + reason.Path + " again"
		case Missing, Unproven:
			return "let " + reason.Path +
				" run on the commits of draft pull requests, or take it out of what is required"
		}
	}
	return "pushes with the workflow's own token start no CI: name a `ci-workflow`, or give the token of an app or a " +
		"person"
}

// expectation is a check that the commit has to have.
type expectation struct {
	name string
	app  int64
	// anyApp says that it does not matter who reports it.
	anyApp bool
	// proof says that only a success will do: it succeeded on the base, so that
	// skipping it here would prove nothing.
	proof bool
	why   string
}

// expected are the checks that the rules require, those that succeeded on the
// base, and those that still run there and may succeed.
func expected(base []Check, rules Rules) []expectation {
	var list []expectation
	for _, r := range rules.Required {
		list = append(list, expectation{
			name: r.Name, app: r.App, anyApp: r.App == 0,
			why: "is required by the rules of the target branch",
		})
	}
	for _, check := range base {
		e := expectation{name: check.Name, app: check.App, proof: check.success(), why: "succeeded on the base"}
		switch {
		case check.Status == "queued", check.Status == "in_progress":
			e.why = "still runs on the base"
		case !check.success():
			continue
		}
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// expectations notes the expected checks that are missing or prove nothing and,
// where nothing else is in the way, that nothing succeeded of what was expected.
func (v *Result) expectations(head []Check, list []expectation, starts bool) {
	proven := len(list) == 0 && slices.ContainsFunc(head, Check.success)
	for _, e := range list {
		of := slices.DeleteFunc(slices.Clone(head), func(c Check) bool {
			return c.Name != e.name || !e.anyApp && c.App != e.app
		})
		succeeded := slices.ContainsFunc(of, Check.success)
		proven = proven || succeeded
		if len(of) == 0 {
			v.add(Missing, e.name, fmt.Sprintf("%s %s and did not run here", e.name, e.why))
		}
		for _, check := range of { // those that run or failed are noted elsewhere
			switch {
			case check.bad() && !slices.ContainsFunc(v.Failing, check.is):
				v.add(Unproven, e.name, fmt.Sprintf("%s %s and fails, here and on the base", e.name, e.why))
			case check.good() && e.proof && !succeeded:
				v.add(Unproven, e.name, fmt.Sprintf("%s %s and is %s here", e.name, e.why, check.Conclusion))
			}
		}
	}
	unknown := !slices.ContainsFunc(list, func(e expectation) bool { return e.proof })
	switch {
	case slices.ContainsFunc(v.Reasons, blocks):
	case !proven && len(head) == 0:
		v.add(NoSuccess, "", "there is no check yet")
	case !proven:
		v.add(NoSuccess, "", "no check succeeded: those that are skipped, neutral or fail on the base prove nothing")
	case unknown && starts && !slices.ContainsFunc(head, func(c Check) bool { return c.Workflow && c.success() }):
		v.add(
			NoSuccess,
			"",
			"a workflow of the repository starts on this change, and no job of a workflow succeeded yet",
		)
	}
}
