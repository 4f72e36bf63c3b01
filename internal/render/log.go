package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// LogTable lists the iterations of a program, with every reason whole.
func LogTable(a Account) Table {
	table := Table{Header: []string{"iteration", "time", "outcome", "metric", "best", "why"}, Align: "rllrr"}
	for _, e := range a.Attempts {
		figures := Rounded(metric.Text(e.Metric, "—"), metric.Text(e.Best, "—"),
			plain.Line(Why(e.Outcome, e.Summary, e.Reasons, e.Warning)))
		table.Rows = append(table.Rows, append([]string{
			strconv.Itoa(e.Iteration), e.Time.UTC().Format("2006-01-02 15:04"), OutcomeOf(e.Outcome).Word,
		}, figures...))
	}
	return table
}

// LogRecords are the iterations of a program for other programs, behind their header;
// seconds are those of one run of the candidate.
func LogRecords(a Account) [][]string {
	rows := [][]string{{
		"iteration", "time", "outcome", "metric", "best", "seconds", "p", "commit", "summary",
		"agent", "turns", "tokens", "usd",
	}}
	for _, e := range a.Attempts {
		probability, took := "", ""
		if n := len(e.Evidence); n > 0 {
			probability = strconv.FormatFloat(e.Evidence[n-1].P, 'g', -1, 64)
		}
		if n := e.Candidate().Seconds; n > 0 {
			took = strconv.FormatFloat(n, 'f', -1, 64)
		}
		turns, tokens, usd := "", "", ""
		if u := e.Usage; u != nil {
			turns, tokens, usd = countText(u.Turns), countText(u.Tokens()), metric.Text(u.CostUSD, "")
		}
		rows = append(rows, []string{
			strconv.Itoa(e.Iteration), e.Time.UTC().Format(time.RFC3339), string(e.Outcome), metric.Text(e.Metric, ""),
			metric.Text(e.Best, ""), took, probability, e.Commit,
			plain.Line(e.Summary), plain.Line(e.Agent), turns, tokens, usd,
		})
	}
	return rows
}

// countText is a number of things, "" for unknown.
func countText(count *int64) string {
	if count == nil {
		return ""
	}
	return strconv.FormatInt(*count, 10)
}

// Detail is an iteration with all that decided it, where its time went, and what its
// agent used.
func Detail(e history.Attempt) string {
	var out strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%-10s %s\n", name, plain.Line(text))
		}
	}
	line("iteration", strconv.Itoa(e.Iteration))
	line("time", e.Time.UTC().Format(time.RFC3339))
	line("outcome", OutcomeOf(e.Outcome).Word)
	line("summary", e.Summary)
	line("agent", strings.TrimSpace(e.Agent+" "+e.Model))
	figures := Rounded(metric.Text(e.Metric, ""), metric.Text(e.PreviousBest, ""), metric.Text(e.Best, ""))
	for i, name := range []string{"metric", "before", "best"} {
		line(name, figures[i])
	}
	if n := e.Candidate().Seconds; n > 0 {
		line("one run", Minutes(n/60))
	}
	line("took", took(e))
	line("used", usedBy(e.Usage))
	line("commit", e.Commit)
	line("changed", strings.Join(e.Changed, ", "))
	for _, reason := range e.Reasons {
		line("reason", rounded(reason.String()))
	}
	line("warning", decision.Joined(e.Warning))
	return out.String() + failed(e)
}

// took says how long the iteration took up to its decision, and what for.
func took(a history.Attempt) string {
	if a.Took <= 0 {
		return ""
	}
	agent, trees := a.Durations["propose"], a.Durations["measure"]
	evaluation := 0.0
	for _, m := range a.Measured {
		runs := float64(max(len(m.Samples), 1))
		evaluation += m.Seconds * runs
		if m.Role != history.Baseline && m.Stage != "" {
			trees -= m.Seconds * runs
		} else {
			trees += m.Prepare * min(runs, 2) // before the trial, in at most two trees
		}
	}
	trees = max(trees, 0)
	rest := max(a.Took.Seconds()-agent-evaluation-trees, 0)
	return fmt.Sprintf("%s: agent %s, evaluation %s, trees and setup %s, git and GitHub %s",
		Minutes(a.Took.Minutes()), Minutes(agent/60), Minutes(evaluation/60), Minutes(trees/60), Minutes(rest/60))
}

// failed is the end of what the last evaluation of the candidate printed in the run that decided, if
// it failed.
func failed(a history.Attempt) string {
	a.Measured = slices.DeleteFunc(slices.Clone(a.Measured), func(m *history.Measured) bool { return m.Run != a.Run })
	e := a.Candidate()
	if e.Problem == "" || e.Output == "" {
		return ""
	}
	text := "\nthe evaluation printed, at its end:\n"
	for line := range strings.Lines(e.Output) {
		text += "  " + plain.Short(strings.TrimRight(line, "\n"), len(line)) + "\n"
	}
	return text
}
