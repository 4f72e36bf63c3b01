package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/history"
)

// CI is what a pull request's body says of CI.
type CI string

// The words on CI.
const (
	CINone    CI = ""
	CIPending CI = "⏳ CI pending: what the body says holds once it is green."
	CIGreen   CI = "✅ CI is green on the exact commit."
)

func (c CI) word() string {
	switch c {
	case CIPending:
		return "pending"
	case CIGreen:
		return "green"
	default:
		return "none"
	}
}

// Kept is the decision whose change was put onto the branch last and is still
// to be promoted: nil when there is none since the last pull request ended.
func (a Account) Kept() *history.Event {
	var kept []*history.Event
	for i := range a.Events {
		e := &a.Events[i]
		switch {
		case e.Kind == history.Set && e.Key == history.PullEnded && e.Value != "":
			kept = nil
		case e.Kind != history.Decided:
		default:
			kept = slices.DeleteFunc(kept, func(before *history.Event) bool { return before.Iteration == e.Iteration })
			if promoted(e) {
				kept = append(kept, e)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	last := kept[len(kept)-1]
	if books := a.Books(); last.Outcome == history.Accepted && books.Incumbent == books.Base {
		return nil
	}
	return last
}

func promoted(e *history.Event) bool {
	return e.Outcome == history.Accepted || e.Outcome == history.PendingCI
}

// ci is what CI said of the iteration that was kept last.
func (a Account) ci(kept *history.Event) CI {
	switch {
	case kept == nil:
		return CINone
	case kept.Outcome == history.PendingCI:
		return CIPending
	}
	for _, e := range a.Events {
		if e.Kind == history.Decided && e.Iteration == kept.Iteration && e.Outcome == history.PendingCI {
			return CIGreen
		}
	}
	return CINone
}

// PullMark begins the body that the pull request has now; a body that begins
// with another is written anew.
func (a Account) PullMark() string {
	last, iteration := a.lastPromoted(), 0
	if last != nil {
		iteration = last.Iteration
	}
	return fmt.Sprintf("%sPULL %d %s -->", markStart, iteration, a.ci(last).word())
}

// Pull is the body of the pull request: what was gained since the last baseline
// and in the last step, how it was measured, and how to see it for oneself.
func Pull(a Account, issue int) string {
	books, last := a.Books(), a.lastPromoted()
	ci := a.ci(last)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", a.PullMark())
	if issue > 0 {
		fmt.Fprintf(&b, "Program #%d. ", issue)
	}
	fmt.Fprintf(&b, "Every commit here was measured, and is a strict gain of %s (%s).\n\n", metricName(a.Program), better(a))
	if ci != CINone {
		fmt.Fprintf(&b, "%s\n\n", ci)
	}
	b.WriteString("| | value | gain |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| iteration 0, nothing changed | %s | |\n", number(books.Initial))
	if last != nil {
		fmt.Fprintf(&b, "| before the last step | %s | |\n", number(last.PreviousBest))
		fmt.Fprintf(&b, "| now (iteration %d) | **%s** | last step **%s** |\n", last.Iteration, number(last.Best), cell(last.Delta))
	}
	if last != nil && last.Best != nil {
		books.Best = last.Best // also while CI has not said yes
	}
	if books.Initial != nil && books.Best != nil {
		fmt.Fprintf(&b, "| since iteration 0 | | **%s** |\n", cell(gain(a, books)))
	}
	b.WriteString("\n")
	pullEvidence(&b, a, books, last)
	pullSteps(&b, a)
	pullCost(&b, a, books)
	reproduce(&b, a, books)
	b.WriteString("\n" + robot)
	return bounded(b.String())
}

// lastPromoted is the latest decision whose change is on the branch.
func (a Account) lastPromoted() *history.Event {
	decided := a.Decided()
	for i := len(decided) - 1; i >= 0; i-- {
		if promoted(&decided[i]) {
			return &decided[i]
		}
	}
	return nil
}

// pullEvidence says how sure the last step is.
func pullEvidence(b *strings.Builder, a Account, books history.Books, last *history.Event) {
	b.WriteString("### Evidence\n\n")
	if last != nil {
		for _, reason := range last.Reasons {
			fmt.Fprintf(b, "- %s\n", line(reason))
		}
		for _, e := range last.Evidence {
			fmt.Fprintf(b, "- %s: %d runs of each side, medians %s and %s, difference %s, between %s and %s at confidence %g (p = %.4f)\n",
				line(e.Stage), e.Pairs, e.Incumbent, e.Candidate, e.Difference, e.Low, e.High, e.Confidence, e.P)
		}
	}
	switch {
	case books.Noisy:
		b.WriteString("- the evaluation is noisy: both sides were measured in turns, and again in trees built anew\n")
	case a.Program.Runs == 1:
		b.WriteString("- each side was measured once\n")
	default:
		b.WriteString("- the evaluation repeats itself exactly, as far as was seen\n")
	}
	for _, g := range a.Program.Guardrails {
		fmt.Fprintf(b, "- guardrail %s held (%s is better)\n", line(g.Metric), g.Direction)
	}
	b.WriteString("\n")
}

// maxSteps bounds the list of what was kept.
const maxSteps = 30

// pullSteps lists what was kept, the latest first.
func pullSteps(b *strings.Builder, a Account) {
	decided := a.Decided()
	var rows []string
	for i := len(decided) - 1; i >= 0; i-- {
		e := decided[i]
		if promoted(&e) {
			rows = append(rows, fmt.Sprintf("| %d | %s | %s | %s |\n", e.Iteration, number(e.Metric), cell(e.Delta), cell(e.Summary)))
		}
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString("### Steps\n\n| iteration | value | delta | change |\n|---|---|---|---|\n")
	for _, row := range rows[:min(len(rows), maxSteps)] {
		b.WriteString(row)
	}
	if more := len(rows) - maxSteps; more > 0 {
		fmt.Fprintf(b, "\n… and %d earlier ones\n", more)
	}
	b.WriteString("\n")
}

func pullCost(b *strings.Builder, a Account, books history.Books) {
	fmt.Fprintf(b, "### Attempts\n\n%d iterations: %d kept, %d rejected, %d errors%s\n\n", len(books.Attempts), books.Count(history.Accepted),
		books.Count(history.Rejected), books.Count(history.Error), spentLine(a))
}

// reproduce shows how to measure it again.
func reproduce(b *strings.Builder, a Account, books history.Books) {
	b.WriteString("### See for yourself\n\nRun the evaluation on the base and on this branch:\n\n")
	fence := "```"
	for strings.Contains(a.Program.Script, fence) {
		fence += "`"
	}
	setup := ""
	if a.Program.Setup != "" {
		setup = strings.TrimSpace(a.Program.Setup) + "\n"
	}
	script := a.Program.Script
	if len(script) > 4000 {
		script = "# " + line(a.Program.File) + " has the whole script\n"
	}
	fmt.Fprintf(b, "%ssh\n# base: git checkout %s\n# this: git checkout autoloop/%s\n%s%s\n%s\n", fence, line(books.Base), a.Program.Name, setup, strings.TrimSpace(script), fence)
}
