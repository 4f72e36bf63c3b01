package actions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// How much the summary of a job shows of a list, and how many bytes it may have before the
// last iteration: GitHub refuses one of more than a megabyte.
const (
	maxSummaryList = 20
	maxSummary     = 700 << 10
	// shownCommit is how much of a commit's name people read.
	shownCommit = 12
)

// resultSummary is what a run came to, for people: the decision, what it rests
// on, what it cost, and where to look. The program is nil when none was selected.
func resultSummary(s Step, p *program.Program, results []render.Result) string {
	if len(results) == 0 {
		return "## Autoloop\n\nNothing ran: AUTOLOOP_PAUSED is true, or no program is due.\n\n"
	}
	var out strings.Builder
	masker := process.NewMasker(s.Environ)
	for i, r := range results {
		if out.Len() >= maxSummary {
			fmt.Fprintf(&out, "%d more iterations are in the report.\n\n", len(results)-i)
			break
		}
		out.WriteString(string(resultText(s, p, masked(r, masker))))
	}
	return out.String()
}

// masked returns a result without secrets in its texts. What is rendered has its
// marks escaped, and no secret could be told in it.
func masked(r render.Result, masker process.Masker) render.Result {
	all := func(texts []string) (list []string) {
		list = lists.Map(texts[:min(len(texts), maxSummaryList)], masker.String)
		if more := len(texts) - maxSummaryList; more > 0 {
			list = append(list, fmt.Sprintf("and %d more", more))
		}
		return list
	}
	r.Summary, r.Model, r.Stopped = masker.String(r.Summary), masker.String(r.Model), masker.String(r.Stopped)
	reasons := decision.Lines{}
	for i, text := range all(decision.Texts(r.Reasons)) {
		if reasons = append(reasons, decision.Say(text)); i < len(r.Reasons) &&
			r.Reasons[i].Is(decision.Better, decision.Worse) {
			reasons[i] = r.Reasons[i] // they have numbers alone
		}
	}
	r.Reasons, r.Warnings, r.Changed = reasons, all(r.Warnings), all(r.Changed)
	r.Guardrails = slices.Clone(r.Guardrails)
	for i := range r.Guardrails {
		r.Guardrails[i].Metric = masker.String(r.Guardrails[i].Metric)
	}
	return r
}

// resultText is one iteration, in the words of its comment.
func resultText(s Step, p *program.Program, r render.Result) render.Markup {
	o := render.Outcome{
		Decided: &history.Decided{
			Metric: r.Metric, Best: r.BestMetric, Delta: valueOf(r.Delta), Reasons: r.Reasons, Evaluation: r.Evaluation,
			Work: history.Work{Summary: r.Summary, Agent: r.Agent, Model: r.Model, Usage: r.Usage},
		},
		Metric: "metric", Initial: r.Initial, Seconds: r.Seconds, Links: resultLinks(s, r),
	}
	o.Failing = r.Failing
	if p != nil {
		o.Metric, o.Direction = cmp.Or(p.Metric, o.Metric), &p.Direction
	}
	text := render.OutcomeOf(r.Outcome)
	sign, outcome := text.Sign, text.Word
	if r.Bundle != "" { // what is only proposed is neither kept nor not kept yet
		sign, outcome = "📦", "proposed"
	}
	head := render.MD("## %s Autoloop: %s\n\n", render.Markup(sign), outcome)
	if r.Program != "" {
		head = render.MD("## %s %s, iteration %d: %s\n\n", render.Markup(sign), r.Program, r.Iteration, outcome)
	}
	if measured := o.Measured(); measured != "" {
		head += measured + "\n\n"
	}
	if r.Bundle != "" {
		head += "Nothing is recorded yet: the job that publishes verifies this, and records it.\n\n"
	}
	head += o.Body()
	if len(r.Warnings) > 0 {
		head += "⚠️ Warnings\n\n" + render.List(lines("%s", r.Warnings)...)
	}
	if r.Stopped != "" {
		head += "No further iteration: " + render.Stopped(r.Stopped) + "\n\n"
	}
	return head + render.Fold("Details", details(r)) + "\n"
}

// lines are texts of others, each in words of ours.
func lines(ours string, texts []string) []render.Markup {
	return lists.Map(texts, func(text string) render.Markup { return render.MD(ours, text) })
}

// resultLinks are where to look.
func resultLinks(s Step, r render.Result) []render.Markup {
	base := s.repositoryURL() + "/"
	var links []render.Markup
	add := func(there bool, text render.Markup, url string) {
		if there {
			links = append(links, render.Linked(text, url))
		}
	}
	add(r.PullRequest > 0, render.MD("pull request #%d", r.PullRequest), base+"pull/"+number(r.PullRequest))
	add(r.Issue > 0, render.MD("issue #%d", r.Issue), base+"issues/"+number(r.Issue))
	commit := valueOf(r.Commit)
	add(commit != "", "commit "+render.Name(commit[:min(len(commit), shownCommit)]), base+"commit/"+commit)
	url := s.ProgramPage(s.Dir, r.Program)
	add(url != "", "all that was tried", url)
	add(s.InActions() && r.Transcript != "", "transcript", s.RunURL()+"#artifacts")
	return links
}

// details is what the decision rests on, a line each; "" for nothing more than was said.
func details(r render.Result) render.Markup {
	var list []render.Markup
	say := func(ours string, parts ...any) { list = append(list, render.MD(ours, parts...)) }
	for _, e := range r.Evidence {
		say("test, %s: %s", e.Stage, render.Trial(e))
	}
	for _, rail := range r.Guardrails {
		percent := ""
		if rail.MaxRegression.Percent {
			percent = " %"
		}
		say("guardrail %s (%s is better): %s at iteration 0, %s now; it may get worse by %s", rail.Metric, rail.Direction,
			render.Figure(rail.Initial, rail.Candidate), render.Figure(rail.Candidate, rail.Initial),
			rail.MaxRegression.Value.String()+percent)
	}
	if changed := lines("%s", r.Changed); len(changed) > 0 {
		say("changed: %s", render.Joined(", ", changed...))
	}
	return render.List(list...)
}
