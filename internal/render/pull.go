package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// CI is what a pull request's body says of CI.
type CI Markup

// The words on CI.
const (
	CINone    CI = ""
	CIPending CI = "⏳ CI pending: this holds once it is green."
	CIGreen   CI = "✅ CI is green on the exact commit."
	CIAsBase  CI = "✅ CI fails only as the default branch does."
	// CIClosed and CIMerged replace CIPending in a pull request that is closed or merged.
	CIClosed CI = "🚫 Closed before CI let it through."
	CIMerged CI = "Merged before CI let it through."
)

// ciWords say in a mark what is said of CI.
var ciWords = map[CI]string{CINone: "none", CIPending: "pending", CIGreen: "green", CIAsBase: "green"}

// Kept is the decision whose change was put onto the branch last and is still
// to be promoted since the last pull request ended, or nil.
func (a Account) Kept() *history.Decided {
	kept := a.unmerged()
	if len(kept) == 0 {
		return nil
	}
	last := kept[len(kept)-1]
	if last.Outcome == history.Accepted && a.Incumbent == a.Base {
		return nil
	}
	return last
}

// unmerged are the decisions whose changes are on the branch and were in no pull request
// that has ended.
func (a Account) unmerged() []*history.Decided {
	var kept, before []*history.Decided
	newest, ended, merged := 0, 0, "" // what waited for CI when it ended, and its head
	for _, e := range a.Events {
		switch e := e.(type) {
		case *history.Measured:
			switch {
			case e.Stage == "" && e.Role == history.Baseline: // of the default branch alone
				kept, before = nil, kept
			case e.Stage == "" && e.Role == history.Incumbent:
				kept = before
			}
		case *history.Set:
			if e.Key == history.PullEnded {
				ended, merged = 0, e.Commit
			}
			if e.Key == history.PullEnded && e.Value != "" {
				kept, ended = after(kept, e.Commit), newest
			}
			back := history.UndoneBy(e)
			kept = slices.DeleteFunc(kept, func(before *history.Decided) bool { return before.Iteration == back })
		case *history.Decided:
			kept = slices.DeleteFunc(kept,
				func(before *history.Decided) bool { return before.Iteration == e.Iteration })
			if settled := e.Iteration == ended && e.Outcome == history.Accepted &&
				(merged == "" || merged == e.Commit); history.Promoted(e) && !settled {
				kept = append(kept, e)
			}
			newest = e.Iteration
		}
	}
	return kept
}

// after are the decisions whose commits came after the head with which a pull
// request was merged: none when that is not known.
func after(kept []*history.Decided, merged string) []*history.Decided {
	if merged == "" {
		return nil
	}
	if i := slices.IndexFunc(kept, func(e *history.Decided) bool { return e.Commit == merged }); i >= 0 {
		return kept[i+1:]
	}
	if i := slices.IndexFunc(kept, func(e *history.Decided) bool { return e.Parent == merged }); i >= 0 {
		return kept[i:]
	}
	return nil
}

// Replays reports whether what was kept stands on the head with which a pull
// request was merged: it is replayed on the default branch before it is proposed, unless
// the branch may not move there.
func (a Account) Replays(kept *history.Decided, merged string) bool {
	return kept.Parent == merged && (kept.Outcome == history.PendingCI || a.Incumbent == kept.Commit) &&
		a.WorkflowsRefused != a.Base
}

// ci is what CI said of the iteration that was kept last.
func (a Account) ci(kept *history.Decided) CI {
	switch {
	case kept == nil:
		return CINone
	case kept.Outcome == history.PendingCI:
		return CIPending
	case a.Incumbent != kept.Commit: // CI said it of another commit
	case a.Attempt(kept.Iteration).Waited:
		if slices.ContainsFunc(kept.Reasons, func(r decision.Reason) bool { return r.Is(decision.CIAsBase) }) {
			return CIAsBase
		}
		return CIGreen
	}
	return CINone
}

// PullMark begins our part of the body that the pull request has now; a part that
// begins with another is written anew.
func (a Account) PullMark() string {
	behind := ""
	if !a.Leads() {
		behind = " behind"
	}
	return fmt.Sprintf("%s%d %s%s -->", pullStart, a.Promoted(), ciWords[a.ci(a.lastPromoted())], behind)
}

// Leads reports whether the branch is strictly better than the default branch,
// with the change that waits for CI: both were measured by one evaluator.
func (a Account) Leads() bool {
	lead := a.Lead
	if last := a.lastPromoted(); last != nil && last.Outcome == history.PendingCI {
		lead = lead.After(last, a.Direction)
	}
	return lead.Better()
}

// Our part of the body of a pull request stands between these.
const (
	pullStart = markStart + "PULL "
	pullEnd   = markStart + "PULL END -->"
)

// neverDraft says, in our part of the body, that the repository has no drafts.
const neverDraft = markStart + "NO DRAFTS -->"

// NeverDraft reports whether a pull request was opened ready for review, because
// its repository has no drafts.
func NeverDraft(body string) bool { return strings.Contains(OursIn(body), neverDraft) }

// WithoutDraft notes that in our part of a body.
func WithoutDraft(ours string) string {
	return strings.Replace(ours, pullEnd, neverDraft+"\n"+pullEnd, 1)
}

// OursIn is our part of the body of a pull request, or "". Where a person deleted its end
// it ends with its last line; one without that is the whole body.
func OursIn(body string) string {
	from := strings.Index(body, pullStart)
	if from < 0 {
		return ""
	}
	for _, last := range []string{pullEnd, strings.TrimSpace(string(robot))} {
		if end := strings.Index(body[from:], last); end >= 0 {
			return body[from : from+end+len(last)]
		}
	}
	return body[from:]
}

// Within puts our part into the body of a pull request: in the place of the one
// that is there, else behind what people wrote.
func Within(body, ours string) string {
	ours = strings.TrimSuffix(ours, "\n")
	if NeverDraft(body) && !NeverDraft(ours) {
		ours = WithoutDraft(ours)
	}
	if old := OursIn(body); old != "" {
		return strings.Replace(body, old, ours, 1)
	}
	if strings.TrimSpace(body) == "" {
		return ours + "\n"
	}
	return strings.TrimRight(body, "\n") + "\n\n" + ours + "\n"
}

// Pull is our part of the body of the pull request: what was gained since the
// last baseline and in the last step, how it was measured, and how to see it for
// oneself.
func Pull(a Account, issue int) string {
	past, last := *a.Summary, a.lastPromoted()
	if last != nil && last.Best != nil && !past.Unmeasured() {
		past.Best = last.Best // also while CI has not said yes
	}
	head := MD("%s\n", Markup(a.PullMark()))
	if past.Initial != nil && past.Best != nil {
		before, now := Figure(past.Initial, past.Best), Figure(past.Best, past.Initial)
		if a.Leads() {
			head += MD("**%s: %s → %s** (%s; %s)", a.metric(), before, now, gain(&past), better(a.Program.Direction))
		} else {
			head += MD("⚠️ **Not better than `%s`: %s is %s there, and %s here** (%s). Do not merge it as it is: "+
				"the next gain beyond that is shown here.", Name(past.BaseBranch), a.metric(), before, now,
				better(a.Program.Direction))
		}
	}
	if issue > 0 {
		head += MD(" · program #%d", issue)
	}
	run := ""
	if last != nil {
		run = a.runOf(last)
	}
	parts := []Markup{head + links(run, a.Page) + "\n", Markup(a.ci(last)), a.steps(), Chart(a)}
	for i, part := range parts {
		if part != "" {
			parts[i] = Markup(strings.TrimRight(string(part), "\n")) + "\n\n"
		}
	}
	parts = append(parts, "### Evidence\n\n", List(a.evidence(last)...), MD("### Attempts\n\n%s%s\n",
		tally(a.Summary), spent(a.Summary)), Fold("See for yourself", a.reproduce()), "\n"+robot)
	return strings.TrimRight(body(parts...), "\n") + "\n" + pullEnd + "\n"
}

// lastPromoted is the latest decision whose change is on the branch.
func (a Account) lastPromoted() *history.Decided {
	return a.Attempt(a.Promoted()).Decided
}

// evidence says how sure the last step is.
func (a Account) evidence(last *history.Decided) []Markup {
	var list []Markup
	if last != nil {
		list = Outcome{Decided: last}.why()
		for _, e := range last.Evidence {
			list = append(list, MD("%s: %s", e.Stage, Trial(e)))
		}
	}
	switch {
	case a.Noisy:
		list = append(list, "the evaluation is noisy: both sides were measured in turns, and again in trees built anew")
	case last != nil && last.Rule != nil && last.Rule.Regime == decision.Single: // its reasons say so
	case a.Program.Runs == 1:
		list = append(list, "each side was measured once")
	default:
		list = append(list, "the evaluation repeats itself exactly, as far as was seen")
	}
	for _, g := range a.Program.Guardrails {
		list = append(list, MD("guardrail %s held (%s)", g.Metric, better(g.Direction)))
	}
	return list
}

// maxSteps bounds the list of what was kept.
const maxSteps = 30

// steps lists what was kept, the latest first.
func (a Account) steps() Markup {
	kept := a.unmerged()
	if len(kept) == 0 {
		return ""
	}
	var rows [][]any
	more := max(len(kept)-maxSteps, 0)
	for _, e := range slices.Backward(kept[more:]) {
		rows = append(rows, []any{
			e.Iteration, Figure(e.Metric, e.PreviousBest), e.Delta, Why(history.Accepted, e.Summary, nil, e.Warning),
		})
	}
	text := Grid("rrr", []any{"iteration", a.metric(), "gain", "change"}, rows...)
	if more > 0 {
		text += MD("\n… and %d earlier\n", more)
	}
	return text
}

// maxScript is how much of a script is shown, in bytes.
const maxScript = 4000

// reproduce shows how to measure it again.
func (a Account) reproduce() Markup {
	script := strings.TrimSpace(a.Program.Script)
	if len(script) > maxScript {
		script = "# " + a.Program.File + " has the whole script"
	}
	if a.Program.Setup != "" {
		script = strings.TrimSpace(a.Program.Setup) + "\n" + script
	}
	branch := "autoloop/" + a.Program.Name
	return Fenced("sh", fmt.Sprintf("git fetch origin %s %s\ngit checkout --detach %s # before; then: git checkout "+
		"--detach origin/%s\n%s", cmp.Or(a.BaseBranch, "HEAD"), branch, a.Base, branch, script), maxBody/2)
}
