package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// How much the summary of a job shows of a text and of a list, in characters and
// lines, and how many bytes it may have before the last iteration: GitHub refuses
// one of more than a megabyte.
const (
	maxSummaryText = 400
	maxSummaryList = 20
	maxSummary     = 700 << 10
	// shownCommit is how much of a commit's name people read.
	shownCommit = 12
)

// resultSummary is what a run came to, for people: the decision, what it rests
// on, what it cost, and where to look. The program is nil when none was selected.
func resultSummary(s Step, p *program.Program, results []loop.Result) string {
	var out strings.Builder
	if len(results) == 0 {
		return "## Autoloop\n\nNothing ran: AUTOLOOP_PAUSED is true, or no program is due.\n\n"
	}
	shown := 0
	masker := process.NewMasker(s.Environ)
	for ; shown < len(results) && out.Len() < maxSummary; shown++ {
		r := masked(results[shown], masker)
		writeResult(&out, s, p, &r)
	}
	if more := len(results) - shown; more > 0 {
		fmt.Fprintf(&out, "%d more iterations are in the report.\n\n", more)
	}
	return out.String()
}

// metricOf is what the program measures.
func metricOf(p *program.Program) string {
	if p == nil || p.Metric == "" {
		return "metric"
	}
	return inline(p.Metric)
}

// masked returns a result without secrets in its texts. What is rendered has its
// marks escaped, and no secret could be told in it.
func masked(r loop.Result, masker process.Masker) loop.Result {
	all := func(texts []string) []string {
		list := make([]string, 0, len(texts))
		for _, text := range texts[:min(len(texts), maxSummaryList)] {
			list = append(list, masker.String(text))
		}
		if more := len(texts) - maxSummaryList; more > 0 {
			list = append(list, fmt.Sprintf("and %d more", more))
		}
		return list
	}
	r.Summary, r.Model, r.Stopped = masker.String(r.Summary), masker.String(r.Model), masker.String(r.Stopped)
	reasons := make(decision.Lines, 0, len(r.Reasons))
	for i, text := range all(decision.Texts(r.Reasons)) {
		if i < len(r.Reasons) && r.Reasons[i].Is(decision.Better, decision.Worse) { // they have numbers alone
			reasons = append(reasons, r.Reasons[i])
		} else {
			reasons = append(reasons, decision.Say(text))
		}
	}
	r.Reasons, r.Warnings, r.Changed = reasons, all(r.Warnings), all(r.Changed)
	r.Guardrails = slices.Clone(r.Guardrails)
	for i := range r.Guardrails {
		r.Guardrails[i].Metric = masker.String(r.Guardrails[i].Metric)
	}
	return r
}

func writeResult(out *strings.Builder, s Step, p *program.Program, r *loop.Result) {
	fmt.Fprintf(out, "## %s\n\n", headline(r))
	if text := comparedText(p, r); text != "" {
		out.WriteString(text + "\n\n")
	}
	if r.Bundle != "" {
		out.WriteString("Nothing is recorded yet: the job that publishes verifies this, and records it.\n\n")
	}
	if r.Summary != "" {
		fmt.Fprintf(out, "> %s\n\n", render.Said(r.Summary))
	}
	writeList(out, "", render.Why(r.Reasons, r.Failing, r.Metric != nil && r.Delta != nil))
	if links := resultLinks(s, r); len(links) > 0 {
		out.WriteString(strings.Join(links, " · ") + "\n\n")
	}
	warnings := make([]string, len(r.Warnings))
	for i, warning := range r.Warnings {
		warnings[i] = render.Said(warning)
	}
	writeList(out, "⚠️ Warnings\n\n", warnings)
	if r.Stopped != "" {
		fmt.Fprintf(out, "No further iteration: %s\n\n", render.Stopped(r.Stopped))
	}
	writeDetails(out, r)
}

// headline is the iteration and what became of it, in the words of comments. What
// is only proposed is neither accepted nor rejected yet.
func headline(r *loop.Result) string {
	text := render.OutcomeOf(r.Outcome)
	sign, outcome := text.Sign, text.Word
	if r.Bundle != "" {
		sign, outcome = "📦", text.Proposed
	}
	if r.Program == "" {
		return sign + " Autoloop: " + outcome
	}
	return fmt.Sprintf("%s %s, iteration %d: %s", sign, inline(r.Program), r.Iteration, outcome)
}

// comparedText is the metric beside the best before and the beginning.
func comparedText(p *program.Program, r *loop.Result) string {
	name, direction := metricOf(p), ""
	if p != nil {
		direction = fmt.Sprintf(" (%s is better)", p.Direction)
	}
	switch {
	case r.Metric != nil && r.Delta != nil:
		return fmt.Sprintf("%s **%s**%s, %s against the best before; %s at the beginning", name,
			render.Figure(r.Metric, r.Initial), direction, render.Said(*r.Delta), render.Figure(r.Initial, r.Metric))
	case r.Metric != nil:
		return fmt.Sprintf("%s **%s**%s", name, render.Figure(r.Metric), direction)
	case r.BestMetric != nil:
		return fmt.Sprintf("Best %s **%s**%s; %s at the beginning", name, render.Figure(r.BestMetric, r.Initial),
			direction, render.Figure(r.Initial, r.BestMetric))
	default:
		return ""
	}
}

// resultLinks are where to look.
func resultLinks(s Step, r *loop.Result) []string {
	var links []string
	add := func(link string) {
		if link != "" {
			links = append(links, link)
		}
	}
	add(githubLink(s, "pull/", number(r.PullRequest), "pull request #"+number(r.PullRequest)))
	add(githubLink(s, "issues/", number(r.Issue), "issue #"+number(r.Issue)))
	commit := valueOf(r.Commit)
	add(githubLink(s, "commit/", commit, "commit "+commit[:min(len(commit), shownCommit)]))
	if url := state.SafeURL(s.ProgramPage(s.Dir, r.Program)); url != "" {
		add("[all that was tried](" + url + ")")
	}
	if id := s.Getenv("GITHUB_RUN_ID"); id != "" && r.Transcript != "" {
		add(githubLink(s, "actions/runs/", id+"#artifacts", "transcript"))
	}
	return links
}

// writeDetails folds what the decision rests on, and what it cost.
func writeDetails(out *strings.Builder, r *loop.Result) {
	var rows [][]string
	add := func(name, markup string) {
		if markup != "" {
			rows = append(rows, []string{name, markup})
		}
	}
	if len(r.Samples.Candidate) > 1 {
		add("Samples of the best before", samplesText(r.Samples.Incumbent))
		add("Samples of the candidate", samplesText(r.Samples.Candidate))
	}
	for _, e := range r.Evidence {
		add("Test, "+string(e.Stage), render.Trial(e))
	}
	add("Files changed", plain.Literal(strings.Join(r.Changed, ", "), maxSummaryList*maxSummaryText))
	add("Proposed by", inline(strings.TrimSpace(r.Agent+" "+r.Model)))
	add("Cost", render.UsedBy(r.Usage))
	add("Cost of measuring", render.Measuring(r.Evaluation))
	add("Time", render.Minutes(r.Seconds/60))
	out.WriteString("<details><summary>Details</summary>\n\n" + render.Table{
		Header: []string{"", ""},
		Rows:   rows,
	}.Markdown() + "\n")
	if len(r.Guardrails) > 0 {
		out.WriteString(railTable(r.Guardrails).Markdown() + "\n")
	}
	out.WriteString("</details>\n\n")
}

// inline is a text of somebody else's as harmless markdown on one line.
func inline(text string) string { return plain.Literal(text, maxSummaryText) }

func railTable(rails []loop.Rail) render.Table {
	table := render.Table{
		Header: []string{"guardrail", "at iteration 0", "candidate", "may get worse by"},
		Align:  "lrrr",
	}
	for _, rail := range rails {
		allowed := rail.Allowed.Value.String()
		if rail.Allowed.Percent {
			allowed += " %"
		}
		table.Rows = append(table.Rows, []string{
			fmt.Sprintf("%s (%s is better)", inline(rail.Metric), rail.Direction),
			render.Figure(rail.Initial, rail.Candidate), render.Figure(rail.Candidate, rail.Initial), allowed,
		})
	}
	return table
}

// writeList lists lines of markdown.
func writeList(out *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	out.WriteString(title)
	for _, line := range lines {
		fmt.Fprintf(out, "- %s\n", line)
	}
	out.WriteString("\n")
}

func samplesText(values []metric.Value) string {
	texts := make([]string, 0, len(values))
	for _, value := range values[:min(len(values), maxSummaryList)] {
		texts = append(texts, value.String())
	}
	texts = render.Rounded(texts...)
	if len(values) > maxSummaryList {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// githubLink is a link to something of the repository on GitHub; without one, the
// label alone, and nothing for nothing. Name and label are ours: numbers and
// commits.
func githubLink(s Step, kind, name, label string) string {
	if name == "" {
		return ""
	}
	server, repository := s.Getenv("GITHUB_SERVER_URL"), s.Getenv("GITHUB_REPOSITORY")
	if server == "" || repository == "" {
		return label
	}
	return "[" + label + "](" + server + "/" + repository + "/" + kind + name + ")"
}
