package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Iteration is the comment on one iteration: what was tried, what it came to,
// why, and what it cost.
func Iteration(a Account, e *history.Decided) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n**Iteration %d** %s", IterationMark(e.Iteration), e.Iteration, Label(e.Outcome))
	if e.Metric != nil {
		fmt.Fprintf(&b, ": %s **%s** (%s)", metricName(a.Program), Figure(e.Metric), better(a))
		if e.PreviousBest != nil {
			fmt.Fprintf(&b, ", best before %s: %s", Figure(e.PreviousBest), rounded(line(e.Delta)))
		}
	}
	b.WriteString("\n\n")
	if e.Summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", Said(e.Summary))
	}
	list := Reasons(e.Reasons, e.Metric != nil && e.PreviousBest != nil)
	if links := CheckLinks(e.Failing); links != "" {
		list = append(withoutFailing(list, e.Failing), "failing: "+links)
	}
	for _, reason := range list {
		fmt.Fprintf(&b, "- %s\n", reason)
	}
	if len(list) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(origin(a, e) + "\n")
	return bounded(b.String())
}

// origin is the last line: the commit, who made it at what cost, and where to
// look.
func origin(a Account, e *history.Decided) string {
	var parts []string
	if e.Commit != "" {
		parts = append(parts, line(e.Commit))
	}
	parts = append(parts, "by "+line(e.Agent)+model(e.Model)+usageText(e.Usage, e.Durations))
	if e.Evaluation != nil {
		parts = append(parts, "measuring: "+expenseText(e.Evaluation))
	}
	if url := a.runOf(e); url != "" {
		parts = append(parts, "[run]("+url+")")
		if e.Agent != "tuner" {
			parts = append(parts, "[transcript]("+url+"#artifacts)")
		}
	}
	return strings.Join(parts, " · ")
}

// withoutFailing leaves out the reasons that only name a failing check.
func withoutFailing(reasons []string, checks []history.Check) []string {
	return slices.DeleteFunc(reasons, func(reason string) bool {
		return slices.ContainsFunc(checks, func(c history.Check) bool { return reason == Said(c.Name+" fails") })
	})
}

// CheckLinks are links to checks, at most a few.
func CheckLinks(checks []history.Check) string {
	const most = 5
	var links []string
	for _, check := range checks[:min(len(checks), most)] {
		label := strings.NewReplacer("[", `\[`, "]", `\]`).Replace(plain.Quote(check.Name, 80))
		if url := state.SafeURL(check.URL); url != "" {
			label = "[" + label + "](" + url + ")"
		}
		links = append(links, label)
	}
	if more := len(checks) - most; more > 0 {
		links = append(links, fmt.Sprintf("%d more", more))
	}
	return strings.Join(links, ", ")
}

var comparison = lazyregexp.New(`^-?[\d.e+-]+ is ((not )?better than|worse than the best) -?[\d.e+-]+( \((lower|higher) is better\))?$`)

// Reasons are those of a decision for people; compared leaves out the comparison
// of two numbers that stand above them.
func Reasons(reasons []string, compared bool) []string {
	var list []string
	for _, reason := range reasons {
		if compared && comparison().MatchString(reason) {
			continue
		}
		list = append(list, Said(reason))
	}
	return list
}

func model(name string) string {
	if name == "" {
		return ""
	}
	return " (" + line(name) + ")"
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
		parts = append(parts, "what "+Count(lacking, "answer", "answers")+" cost is unknown")
	}
	return strings.Join(parts, ", ")
}

// spentLine is what all iterations cost, as far as it is known.
func spentLine(a Account) string {
	past := a.Summary()
	spent := past.Spent(time.Time{})
	text := ""
	if spent.Tokens > 0 {
		text += fmt.Sprintf(", %d tokens", spent.Tokens)
	}
	if spent.USD > 0 {
		text += fmt.Sprintf(", %.2f USD", spent.USD)
		if spent.UnknownUSD > 0 {
			text += " and " + Count(spent.UnknownUSD, "iteration", "iterations") + " of unknown cost"
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
