package actions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
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
)

// ReportRun sets the step's outputs, annotates what is wrong and adds the summary
// of a run, whose report goes to a directory. The program is nil when none was
// selected.
func (s Step) ReportRun(p *program.Program, results []loop.Result, dir string) error {
	if results == nil {
		results = []loop.Result{}
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	file, err := s.WriteReport(dir, append(text, '\n'))
	if err != nil {
		return err
	}
	if err := s.SetOutputs(resultOutputs(results, file)...); err != nil {
		return err
	}
	if err := s.annotate(s.Dir, resultAnnotations(p, results)...); err != nil {
		return err
	}
	return s.AddSummary(resultSummary(s, results))
}

// resultOutputs are those of a run: what its last iteration came to.
func resultOutputs(results []loop.Result, report string) []Output {
	last := loop.Result{Outcome: history.Idle}
	if len(results) > 0 {
		last = results[len(results)-1]
	}
	return []Output{
		{"outcome", string(last.Outcome)},
		{"verdict", string(valueOf(last.Verdict))},
		{"metric", value(last.Metric)},
		{"best-metric", value(last.BestMetric)},
		{"pr-number", number(last.PullRequest)},
		{"issue-number", number(last.Issue)},
		{"report", report},
	}
}

func value(v *metric.Value) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// number is the number of an issue or a pull request; 0 means no number.
func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// valueOf is what a pointer points to; nil is the zero value.
func valueOf[T any](pointer *T) T {
	var value T
	if pointer != nil {
		value = *pointer
	}
	return value
}

// resultAnnotations are the iterations that ended in an error, and the warnings.
func resultAnnotations(p *program.Program, results []loop.Result) []annotation {
	var list []annotation
	said := map[string]bool{}
	for _, r := range results {
		title := fmt.Sprintf("Autoloop: %s, iteration %d", r.Program, r.Iteration)
		if r.Outcome == history.Error {
			a := annotation{level: errorLevel, title: title, message: strings.Join(r.Reasons, "; ")}
			if p != nil {
				a.file = p.File
			}
			list = append(list, a)
		}
		for _, text := range r.Warnings {
			if !said[text] {
				list = append(list, warning(title, text))
			}
			said[text] = true
		}
	}
	return list
}

// resultSummary is what a run came to, for people: the decision, what it rests
// on, what it cost, and where to look.
func resultSummary(s Step, results []loop.Result) string {
	var out strings.Builder
	if len(results) == 0 {
		return "## Autoloop\n\nNothing ran: AUTOLOOP_PAUSED is true, or no program is due.\n\n"
	}
	shown := 0
	for ; shown < len(results) && out.Len() < maxSummary; shown++ {
		writeResult(&out, s, &results[shown])
	}
	if more := len(results) - shown; more > 0 {
		fmt.Fprintf(&out, "%d more iterations are in the report.\n\n", more)
	}
	return process.NewMasker(s.Environ).String(out.String())
}

func writeResult(out *strings.Builder, s Step, r *loop.Result) {
	title := "Autoloop"
	if r.Program != "" {
		title = fmt.Sprintf("%s, iteration %d", render.Inline(r.Program, maxSummaryText), r.Iteration)
	}
	fmt.Fprintf(out, "## %s %s: %s\n\n", sign(r.Outcome), title, r.Outcome)
	if r.Summary != "" {
		fmt.Fprintf(out, "> %s\n\n", render.Inline(r.Summary, maxSummaryText))
	}
	if rows := resultRows(s, r); len(rows) > 0 {
		out.WriteString(render.Table{Header: []string{"", ""}, Rows: rows}.Markdown() + "\n")
	}
	if len(r.Guardrails) > 0 {
		out.WriteString(railTable(r.Guardrails).Markdown() + "\n")
	}
	writeList(out, "Why", r.Reasons)
	writeList(out, "⚠️ Warnings", r.Warnings)
	if r.Stopped != "" {
		fmt.Fprintf(out, "No further iteration: %s\n\n", render.Inline(r.Stopped, maxSummaryText))
	}
}

func sign(outcome history.Outcome) string {
	switch outcome {
	case history.Accepted:
		return "✅"
	case history.Rejected:
		return "❌"
	case history.Error, history.CIFixExhausted:
		return "⚠️"
	case history.PendingCI:
		return "⏳"
	case history.Busy, history.Idle, history.DryRun:
	}
	return "💤"
}

func resultRows(s Step, r *loop.Result) [][]string {
	var rows [][]string
	add := func(name, markup string) {
		if markup != "" {
			rows = append(rows, []string{name, markup})
		}
	}
	if r.Verdict != nil {
		add("Verdict", string(*r.Verdict))
	}
	add("Metric", value(r.Metric))
	if r.Delta != nil {
		add("Against the best before", render.Inline(*r.Delta, maxSummaryText))
	}
	add("Best", value(r.BestMetric))
	add("At iteration 0", value(r.Initial))
	if len(r.Samples.Candidate) > 1 {
		add("Incumbent's samples", samplesText(r.Samples.Incumbent))
		add("Candidate's samples", samplesText(r.Samples.Candidate))
	}
	for _, e := range r.Evidence {
		add("Test, "+e.Stage, fmt.Sprintf("p = %.4g, shift %s to %s (%g %%), %d pairs", e.P, e.Low, e.High, e.Confidence*100, e.Pairs))
	}
	add("Proposed by", render.Inline(strings.TrimSpace(r.Agent+" "+r.Model), maxSummaryText))
	add("Cost", costText(r.Usage))
	add("Cost of measuring", expenseText(r.Evaluation))
	add("Time", strconv.FormatFloat(r.Seconds, 'f', 1, 64)+" s")
	add("Files changed", filesText(r.Changed))
	add("Commit", githubLink(s, "commit/", valueOf(r.Commit), shortCommit(valueOf(r.Commit))))
	add("Pull request", githubLink(s, "pull/", number(r.PullRequest), "#"+number(r.PullRequest)))
	add("Issue", githubLink(s, "issues/", number(r.Issue), "#"+number(r.Issue)))
	return rows
}

func railTable(rails []loop.Rail) render.Table {
	table := render.Table{Header: []string{"guardrail", "at iteration 0", "candidate", "may get worse by"}, Right: map[int]bool{1: true, 2: true, 3: true}}
	for _, rail := range rails {
		allowed := rail.Allowed.Value.String()
		if rail.Allowed.Percent {
			allowed += " %"
		}
		table.Rows = append(table.Rows, []string{
			fmt.Sprintf("%s (%s is better)", render.Inline(rail.Metric, maxSummaryText), rail.Direction), cmp.Or(value(rail.Initial), "—"), cmp.Or(value(rail.Candidate), "—"), allowed,
		})
	}
	return table
}

func writeList(out *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "%s\n\n", title)
	for _, line := range lines[:min(len(lines), maxSummaryList)] {
		fmt.Fprintf(out, "- %s\n", render.Inline(line, maxSummaryText))
	}
	if more := len(lines) - maxSummaryList; more > 0 {
		fmt.Fprintf(out, "- and %d more\n", more)
	}
	out.WriteString("\n")
}

func samplesText(values []metric.Value) string {
	texts := make([]string, 0, len(values))
	for _, value := range values[:min(len(values), maxSummaryList)] {
		texts = append(texts, value.String())
	}
	if len(values) > maxSummaryList {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// costText is what an agent used; what is unknown is left out.
func costText(u *metric.Usage) string {
	if u == nil {
		return ""
	}
	var parts []string
	if u.CostUSD != nil {
		parts = append(parts, "$"+u.CostUSD.String())
	}
	if u.InputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in", *u.InputTokens))
	}
	if u.OutputTokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens out", *u.OutputTokens))
	}
	return strings.Join(parts, ", ")
}

// expenseText is what models used that measured; what is unknown is said.
func expenseText(e *history.Expense) string {
	if e == nil {
		return ""
	}
	var parts []string
	if e.CostUSD != nil {
		parts = append(parts, "$"+e.CostUSD.String())
	}
	if e.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", *e.Tokens))
	}
	if lacking := max(e.UnknownTokens, e.UnknownUSD); lacking > 0 {
		parts = append(parts, fmt.Sprintf("%d answers of unknown cost", lacking))
	}
	return strings.Join(parts, ", ")
}

func filesText(files []string) string {
	texts := make([]string, 0, len(files))
	for _, file := range files[:min(len(files), maxSummaryList)] {
		texts = append(texts, render.Inline(file, maxSummaryText))
	}
	if more := len(files) - maxSummaryList; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
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

// shortCommit is a commit's name as people read it.
func shortCommit(commit string) string {
	const shown = 12
	return commit[:min(len(commit), shown)]
}
