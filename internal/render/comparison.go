package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// Comparison is the report of a comparison, with the outcomes that it is of:
// they tell which checks failed and what the judge said.
type Comparison struct {
	score.Comparison
	Before, After format.SuiteOutcome
	// Paint colours the word for a verdict; nil leaves it plain.
	Paint func(verdict decision.Verdict, text string) string
}

// Text renders the report for a terminal.
func (c Comparison) Text() string {
	var out strings.Builder
	out.WriteString(c.paint(c.Verdict, string(c.Verdict)) + strings.TrimPrefix(rounded(c.Summary), string(c.Verdict)) + "\n")
	fmt.Fprintf(&out, "promotable: %s\n", yes(c.Promotable))
	fmt.Fprintf(&out, "baseline: %s\ncandidate: %s\n", sideText(c.Totals.Baseline), sideText(c.Totals.Candidate))
	if len(c.Deltas) > 0 {
		out.WriteString("\n" + c.table(plain.Short, c.paint).String())
	}
	for _, group := range c.groups() {
		if len(group.reasons) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n%s:\n", group.title)
		for _, reason := range group.reasons {
			fmt.Fprintf(&out, "  - %s\n", plain.Short(rounded(reason.Text), maxLine))
		}
	}
	if failed := failures(c.After, plainStyle()); len(failed) > 0 {
		fmt.Fprintf(&out, "\nfailed in the candidate:\n  - %s\n", strings.Join(failed, "\n  - "))
	}
	if said := rationales(c.Before, c.After, plainStyle(), maxSaid); len(said) > 0 {
		fmt.Fprintf(&out, "\nwhat the judge said:\n  - %s\n", strings.Join(said, "\n  - "))
	}
	return out.String()
}

// Markdown renders the report for a pull request or a job summary.
func (c Comparison) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "### %s %s\n\n%s\n\n", sign(c.Verdict), c.Verdict, plain.Literal(rounded(c.Summary), maxLine))
	fmt.Fprintf(&out, "Promotable: **%s**\n\n", yes(c.Promotable))
	fmt.Fprintf(&out, "- baseline: %s\n- candidate: %s\n", plain.Literal(sideText(c.Totals.Baseline), maxLine), plain.Literal(sideText(c.Totals.Candidate), maxLine))
	if len(c.Deltas) > 0 {
		out.WriteString("\n" + c.table(plain.Literal, func(_ decision.Verdict, text string) string { return text }).Markdown())
	}
	for _, group := range c.groups() {
		if len(group.reasons) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n**%s**\n\n", capital(group.title))
		for _, reason := range group.reasons {
			fmt.Fprintf(&out, "- %s\n", plain.Literal(rounded(reason.Text), maxLine))
		}
	}
	if failed := failures(c.After, markdownStyle()); len(failed) > 0 {
		fmt.Fprintf(&out, "\n**Failed in the candidate**\n\n- %s\n", strings.Join(failed, "\n- "))
	}
	if said := rationales(c.Before, c.After, markdownStyle(), maxListed); len(said) > 0 {
		fmt.Fprintf(&out, "\n<details><summary>What the judge said</summary>\n\n- %s\n\n</details>\n", strings.Join(said, "\n- "))
	}
	return out.String()
}

func (c Comparison) paint(verdict decision.Verdict, text string) string {
	if c.Paint == nil {
		return text
	}
	return c.Paint(verdict, text)
}

type group struct {
	title   string
	reasons []score.Reason
}

func (c Comparison) groups() []group {
	return []group{{"hard regressions", c.Regressions}, {"improvements", c.Improvements}, {"notes", c.Notes}}
}

// table has a row a task. The verdict is the last column, so that colours
// change no widths.
func (c Comparison) table(text func(string, int) string, paint func(decision.Verdict, string) string) Table {
	table := Table{
		Header: []string{"task", "runs", "checks", "composite", "delta", "judge", "tokens", "USD", "verdict"},
		Right:  map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true},
	}
	for _, d := range c.Deltas {
		verdict := paint(d.Verdict, string(d.Verdict))
		switch {
		case d.BaselineRuns == 0 && !d.Regressed:
			verdict = "new"
		case d.CandidateRuns == 0:
			verdict = paint(decision.Regressed, "missing")
		}
		table.Rows = append(table.Rows, []string{
			text(d.TaskID, maxLabel), change(strconv.Itoa(d.BaselineRuns), strconv.Itoa(d.CandidateRuns)),
			change(checks(d.BaselineObjective), checks(d.CandidateObjective)),
			change(Figure(d.BaselineComposite), Figure(d.CandidateComposite)),
			signed(d.Composite), signed(d.Judge), signed(d.Tokens), signed(d.USD), verdict,
		})
	}
	return table
}

func change(before, after string) string {
	if before == after {
		return before
	}
	return before + " → " + after
}

func checks(o *format.Objective) string {
	if o == nil {
		return "—"
	}
	return o.String()
}

func signed(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return rounded(v.Signed())
}

func sideText(s score.Side) string {
	label := cmp.Or(plain.Short(s.ConfigLabel, maxLabel), "(no label)")
	text := fmt.Sprintf("%s, %s, %s of %s checks passed", label, Count(s.Runs, "run", "runs"), Figure(s.Passed), Figure(s.Total))
	for _, cost := range []struct {
		value *metric.Number
		unit  string
	}{{s.Cost.Tokens, "tokens"}, {s.Cost.USD, "USD"}} {
		if cost.value != nil {
			text += ", " + rounded(cost.value.String()) + " " + cost.unit
		}
	}
	return text
}

func yes(truth bool) string {
	if truth {
		return "yes"
	}
	return "no"
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

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
