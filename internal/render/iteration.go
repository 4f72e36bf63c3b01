package render

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Iteration is the comment on one iteration: what was tried, what it came to,
// why, and what it cost.
func Iteration(a Account, e history.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n**Iteration %d** %s", IterationMark(e.Iteration), e.Iteration, Label(e.Outcome))
	if e.Metric != nil {
		fmt.Fprintf(&b, ": %s **%s**", metricName(a.Program), figure(e.Metric))
		if e.PreviousBest != nil {
			fmt.Fprintf(&b, ", best before %s, %s (%s)", figure(e.PreviousBest), rounded(line(e.Delta)), better(a))
		}
	}
	b.WriteString(runLink(a.RunURL) + "\n\n")
	if e.Summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", said(e.Summary))
	}
	for _, reason := range reasons(e) {
		fmt.Fprintf(&b, "- %s\n", reason)
	}
	if e.Commit != "" {
		fmt.Fprintf(&b, "- commit %s\n", line(e.Commit))
	}
	fmt.Fprintf(&b, "- by agent %s%s%s\n", line(e.Agent), model(e.Model), usageText(e.Usage, e.Durations))
	if e.Evaluation != nil {
		fmt.Fprintf(&b, "- besides the agent, measuring used %s\n", expenseText(e.Evaluation))
	}
	return bounded(b.String())
}

var comparison = regexp.MustCompile(`^-?[\d.e+-]+ is (not )?better than -?[\d.e+-]+( \((lower|higher) is better\))?$`)

// reasons are those of a decision, but for the comparison of the two numbers
// that stand above them.
func reasons(e history.Event) []string {
	var list []string
	for _, reason := range e.Reasons {
		if e.Metric != nil && e.PreviousBest != nil && comparison.MatchString(reason) {
			continue
		}
		list = append(list, said(reason))
	}
	return list
}

func model(name string) string {
	if name == "" {
		return ""
	}
	return " (" + line(name) + ")"
}

// Label is an outcome in the words of comments.
func Label(outcome history.Outcome) string {
	switch outcome {
	case history.Accepted:
		return "✅ accepted"
	case history.Rejected:
		return "❌ rejected"
	case history.Error:
		return "⚠️ error"
	case history.PendingCI:
		return "⏳ waiting for CI"
	case history.CIFixExhausted:
		return "❌ rejected by CI"
	default:
		return line(string(outcome))
	}
}

// usageText is what an iteration cost, as far as it is known.
func usageText(u *metric.Usage, durations map[string]float64) string {
	var parts []string
	seconds := 0.0
	for _, d := range durations {
		seconds += d
	}
	if seconds > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", seconds))
	}
	if u != nil {
		if tokens := u.Tokens(); tokens != nil {
			parts = append(parts, fmt.Sprintf("%d tokens", *tokens))
		}
		if u.CostUSD != nil {
			parts = append(parts, u.CostUSD.String()+" USD")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// expenseText is what models used that measured.
func expenseText(e *history.Expense) string {
	var parts []string
	if e.Tokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", *e.Tokens))
	}
	if e.CostUSD != nil {
		parts = append(parts, e.CostUSD.String()+" USD")
	}
	if lacking := max(e.UnknownTokens, e.UnknownUSD); lacking > 0 {
		parts = append(parts, "what "+count(lacking, "answer", "answers")+" cost is unknown")
	}
	return strings.Join(parts, ", ")
}

// spentLine is what all iterations cost, as far as it is known.
func spentLine(a Account) string {
	summary := a.Summary()
	spent := summary.Spent(time.Time{})
	text := ""
	if spent.Tokens > 0 {
		text += fmt.Sprintf(", %d tokens", spent.Tokens)
	}
	if spent.USD > 0 {
		text += fmt.Sprintf(", %.2f USD", spent.USD)
		if spent.UnknownUSD > 0 {
			text += " and " + count(spent.UnknownUSD, "iteration", "iterations") + " of unknown cost"
		}
	}
	switch {
	case spent.MeasuringUSD > 0:
		text += fmt.Sprintf(" (%.2f USD of it for measuring)", spent.MeasuringUSD)
	case spent.MeasuringTokens > 0:
		text += fmt.Sprintf(" (%d tokens of it for measuring)", spent.MeasuringTokens)
	}
	return text
}
