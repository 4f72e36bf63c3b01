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

// LogTable is a list of iterations without a row yet.
func LogTable() Table {
	return Table{
		Header: []string{"iteration", "time", "outcome", "metric", "best", "why"},
		Align:  "rllrr",
	}
}

// LogRow is a decision in a LogTable, with every reason whole.
func LogRow(e *history.Decided) []string {
	figures := Rounded(metric.Text(e.Metric, "—"), metric.Text(e.Best, "—"), plain.Line(Why(e.Outcome, e.Summary, e.Reasons, e.Warning)))
	return append([]string{
		strconv.Itoa(e.Iteration), e.Time.UTC().Format("2006-01-02 15:04"),
		OutcomeOf(e.Outcome).Word,
	}, figures...)
}

// LogFields are the columns of LogRecord.
func LogFields() []string {
	return []string{
		"iteration", "time", "outcome", "metric", "best", "seconds", "p", "commit", "summary",
		"agent", "turns", "tokens", "usd",
	}
}

// LogRecord is a decision for other programs; one run of its candidate took so many
// seconds, 0 for unknown.
func LogRecord(e *history.Decided, seconds float64) []string {
	probability, took := "", ""
	if n := len(e.Evidence); n > 0 {
		probability = strconv.FormatFloat(e.Evidence[n-1].P, 'g', -1, 64)
	}
	if seconds > 0 {
		took = strconv.FormatFloat(seconds, 'f', -1, 64)
	}
	turns, tokens, usd := "", "", ""
	if u := e.Usage; u != nil {
		turns, tokens, usd = countText(u.Turns), countText(u.Tokens()), metric.Text(u.CostUSD, "")
	}
	return []string{
		strconv.Itoa(e.Iteration), e.Time.UTC().Format(time.RFC3339), string(e.Outcome), metric.Text(e.Metric, ""),
		metric.Text(e.Best, ""), took, probability, e.Commit,
		plain.Line(e.Summary), plain.Line(e.Agent), turns, tokens, usd,
	}
}

// countText is a number of things, "" for unknown.
func countText[N int | int64](count *N) string {
	if count == nil {
		return ""
	}
	return strconv.FormatInt(int64(*count), 10)
}

// Decision is one iteration with all that decided it, where its time went, and what its agent used.
func Decision(d *history.Decisions) string {
	e := d.Found
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
	if d.Seconds > 0 {
		line("one run", Minutes(d.Seconds/60))
	}
	line("took", took(d))
	line("used", UsedBy(e.Usage))
	line("commit", e.Commit)
	line("changed", strings.Join(e.Changed, ", "))
	for _, reason := range e.Reasons {
		line("reason", rounded(reason.String()))
	}
	line("warning", decision.Joined(e.Warning))
	return out.String()
}

// took says how long an iteration took up to its decision, and what for.
func took(d *history.Decisions) string {
	if d.Took <= 0 {
		return ""
	}
	agent, trees := d.Found.Durations["propose"], d.Found.Durations["measure"]
	evaluation := 0.0
	for _, m := range d.Measured {
		runs := float64(max(len(m.Samples), 1))
		evaluation += m.Seconds * runs
		if m.Role != history.Baseline && m.Stage != "" {
			trees -= m.Seconds * runs
		} else {
			trees += m.Prepare * min(runs, 2) // before the trial, in at most two trees
		}
	}
	trees = max(trees, 0)
	rest := max(d.Took.Seconds()-agent-evaluation-trees, 0)
	return fmt.Sprintf("%s: agent %s, evaluation %s, trees and setup %s, git and GitHub %s",
		Minutes(d.Took.Minutes()), Minutes(agent/60), Minutes(evaluation/60), Minutes(trees/60), Minutes(rest/60))
}

// FailedOutput is the end of what the last evaluation of a candidate printed, if it
// failed.
func FailedOutput(measured []*history.Measured, decided *history.Decided) string {
	var out strings.Builder
	for _, e := range slices.Backward(measured) {
		if e.Role != history.Candidate || e.Run != decided.Run {
			continue
		}
		if e.Problem != "" && e.Output != "" {
			fmt.Fprintf(&out, "\nthe evaluation printed, at its end:\n")
			for line := range strings.Lines(e.Output) {
				fmt.Fprintf(&out, "  %s\n", plain.Short(strings.TrimRight(line, "\n"), len(line)))
			}
		}
		break
	}
	return out.String()
}
