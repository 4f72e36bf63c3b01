package post

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/ledger"
)

// Iteration is the comment on one iteration: what was tried, what it came to,
// why, and what it cost.
func Iteration(a Account, e ledger.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n**Iteration %d** %s%s\n\n", IterationMark(e.Iteration), e.Iteration, Label(e.Outcome), runLink(a.RunURL))
	if e.Summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", line(e.Summary))
	}
	if e.Metric != nil {
		fmt.Fprintf(&b, "%s: **%s**", metricName(a.Program), e.Metric)
		if e.PreviousBest != nil {
			fmt.Fprintf(&b, ", best before %s, delta **%s** (%s)", e.PreviousBest, line(e.Delta), better(a))
		}
		b.WriteString("\n\n")
	}
	for _, reason := range e.Reasons {
		fmt.Fprintf(&b, "- %s\n", line(reason))
	}
	if e.Commit != "" {
		fmt.Fprintf(&b, "- commit %s\n", line(e.Commit))
	}
	fmt.Fprintf(&b, "- by agent %s%s%s\n", line(e.Agent), model(e.Model), usageText(e.Usage, e.Durations))
	return bounded(b.String())
}

func model(name string) string {
	if name == "" {
		return ""
	}
	return " (" + line(name) + ")"
}

// Label is an outcome in the words of comments.
func Label(outcome ledger.Outcome) string {
	switch outcome {
	case ledger.Accepted:
		return "✅ accepted"
	case ledger.Rejected:
		return "❌ rejected"
	case ledger.Error:
		return "⚠️ error"
	case ledger.PendingCI:
		return "⏳ waiting for CI"
	case ledger.CIFixExhausted:
		return "❌ rejected by CI"
	default:
		return line(string(outcome))
	}
}

// usageText is what an iteration cost, as far as it is known.
func usageText(u *ledger.Usage, durations map[string]float64) string {
	var parts []string
	seconds := 0.0
	for _, d := range durations {
		seconds += d
	}
	if seconds > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", seconds))
	}
	if u != nil {
		if tokens := total(u); tokens != nil {
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

func total(u *ledger.Usage) *int64 {
	if u.InputTokens == nil && u.OutputTokens == nil {
		return nil
	}
	var sum int64
	for _, tokens := range []*int64{u.InputTokens, u.OutputTokens} {
		if tokens != nil {
			sum += *tokens
		}
	}
	return &sum
}

// spentLine is what all iterations cost, as far as it is known.
func spentLine(a Account) string {
	var usd float64
	var tokens int64
	known, unknown := false, 0
	for _, e := range a.Decided() {
		switch {
		case e.Usage != nil && e.Usage.CostUSD != nil:
			usd += e.Usage.CostUSD.Float64()
			known = true
		case e.Agent != "tuner":
			unknown++
		}
		if e.Usage != nil {
			if sum := total(e.Usage); sum != nil {
				tokens += *sum
			}
		}
	}
	text := ""
	if tokens > 0 {
		text += fmt.Sprintf(", %d tokens", tokens)
	}
	if known {
		text += fmt.Sprintf(", %.2f USD", usd)
		if unknown > 0 {
			text += fmt.Sprintf(" and %d iterations of unknown cost", unknown)
		}
	}
	return text
}
