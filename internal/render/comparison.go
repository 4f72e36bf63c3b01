package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/tasks"
)

// Comparison is the report of a comparison, with its warnings among the notes.
type Comparison tasks.Report

// Text renders the report for a terminal.
func (c Comparison) Text() string { return string(c.Verdict) + c.render(onTerminal()) }

// Markdown renders the report for a pull request or a job summary.
func (c Comparison) Markdown() string {
	const title = "###"
	return fmt.Sprintf("%s %s %s", title, sign(c.Verdict), c.Verdict) + c.render(markdown(title))
}

// HTML renders the report for a page.
func (c Comparison) HTML() string { return html("# " + string(c.Verdict) + c.render(onPage())) }

// render is the report behind the word for its verdict.
func (c Comparison) render(f form) string {
	promotable := "no"
	if c.Promotable {
		promotable = "yes"
	}
	out := f.text(strings.TrimPrefix(rounded(c.Summary), string(c.Verdict)), maxLine) + "\n"
	for _, fact := range []string{
		"promotable: " + f.strong(promotable), "baseline: " + f.text(sideText(c.Totals.Baseline), maxLine),
		"candidate: " + f.text(sideText(c.Totals.Candidate), maxLine),
	} {
		out += f.fact + fact + "\n"
	}
	if len(c.Deltas) > 0 {
		out += "\n" + f.table(Table{
			Header: []string{"task", "runs", "checks", "composite", "delta", "judge", "tokens", "USD", "verdict"},
			Align:  "lrrrrrrr", Rows: lists.Map(c.Deltas, f.delta),
		})
	}
	line := func(text string) string { return f.text(rounded(text), maxLine) }
	text := func(reason tasks.Reason) string { return line(reason.Text) }
	out += f.section("Hard regressions", lists.Map(c.Regressions, text)) +
		f.section("Improvements", lists.Map(c.Improvements, text)) +
		f.section("Notes", append(lists.Map(c.Notes, text), lists.Map(c.Warnings, line)...)) +
		f.section("Failed in the candidate", failures(c.Candidate, f))
	if said := rationales(c.Baseline, c.Candidate, f); len(said) > 0 {
		out += f.fold("What the judge said", f.list(said))
	}
	return out
}

// delta is the row of a task. The verdict is the last column, so that colours change no widths.
func (f form) delta(d tasks.Delta) []string {
	verdict := string(d.Verdict)
	switch {
	case d.BaselineRuns == 0 && !d.Regressed:
		verdict = "new"
	case d.CandidateRuns == 0:
		verdict = "missing"
	}
	return []string{
		f.text(d.TaskID, maxLabel), change(strconv.Itoa(d.BaselineRuns), strconv.Itoa(d.CandidateRuns)),
		change(checks(d.BaselineObjective), checks(d.CandidateObjective)),
		change(Figure(d.BaselineComposite), Figure(d.CandidateComposite)),
		Signed(d.Composite), Signed(d.Judge), Signed(d.Tokens), Signed(d.USD), verdict,
	}
}

func change(before, after string) string {
	if before == after {
		return before
	}
	return before + " → " + after
}

func checks(o *tasks.Objective) string {
	if o == nil {
		return "—"
	}
	return o.String()
}

func sideText(s tasks.Side) string {
	label := cmp.Or(plain.Short(s.ConfigLabel, maxLabel), "(no label)")
	text := fmt.Sprintf("%s, %s, %s of %s checks passed", label, Count(s.Runs, "run"), Figure(s.Passed),
		Figure(s.Total))
	if tokens := s.Cost.Tokens; tokens != nil {
		text += ", " + rounded(tokens.String()) + " tokens"
	}
	if s.Cost.USD != nil {
		text += ", " + USD(s.Cost.USD.Float64())
	}
	return text
}

func sign(verdict decision.Verdict) string {
	switch verdict {
	case decision.Improved:
		return "✅"
	case decision.Regressed:
		return "❌"
	default:
		return "➖"
	}
}
