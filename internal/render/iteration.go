package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Iteration is the comment on one iteration: what was tried, what it came to,
// why, and what it cost.
func Iteration(a Account, e *history.Decided) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n**Iteration %d** %s", IterationMark(e.Iteration), e.Iteration, Label(e.Outcome))
	if e.Metric != nil {
		fmt.Fprintf(&b, ": %s **%s** (%s)", metricName(a.Program), Figure(e.Metric, e.PreviousBest), better(a))
		if e.PreviousBest != nil {
			fmt.Fprintf(&b, ", best before %s: %s", Figure(e.PreviousBest, e.Metric), rounded(line(e.Delta)))
		}
	}
	b.WriteString("\n\n")
	if e.Summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", Said(e.Summary))
	}
	list := Why(e.Reasons, e.Failing, e.Metric != nil && e.PreviousBest != nil)
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
		parts = append(parts, named(e.Commit))
	}
	who := "by " + line(e.Agent) + model(e.Model)
	seconds := 0.0
	for _, d := range e.Durations {
		seconds += d
	}
	if seconds > 0 {
		who += ", " + Minutes(seconds/60)
	}
	if used := UsedBy(e.Usage); used != "" {
		who += ", " + used
	}
	parts = append(parts, who)
	if e.Evaluation != nil {
		parts = append(parts, "measuring: "+Measuring(e.Evaluation))
	}
	if url := a.runOf(e); url != "" {
		parts = append(parts, "[run]("+url+")")
		if e.Agent != "tuner" {
			parts = append(parts, "[transcript]("+url+"#artifacts)")
		}
	}
	return strings.Join(parts, " · ")
}

// Why is what a decision rests on, a line each: its reasons, and what failed in CI with
// links in the place of the names.
func Why(reasons []decision.Reason, failing []history.Check, compared bool) []string {
	list := Reasons(slices.DeleteFunc(slices.Clone(reasons), func(r decision.Reason) bool {
		return r.Is(decision.CIFound) && r.Term == string(ci.Failed) &&
			slices.ContainsFunc(failing, func(c history.Check) bool { return r.Path == c.Name })
	}), compared)
	if links := checkLinks(failing); links != "" {
		list = append(list, "failing: "+links)
	}
	return list
}

// checkLinks are links to checks, at most a few.
func checkLinks(checks []history.Check) string {
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

// Reasons are those of a decision for people; compared leaves out the comparison
// of two numbers that stand above them.
func Reasons(reasons []decision.Reason, compared bool) []string {
	var list []string
	for _, reason := range reasons {
		if compared && reason.Is(decision.Better, decision.Worse) {
			continue
		}
		list = append(list, Said(reason.String()))
	}
	return list
}

// Trial is what the comparison of a trial said.
func Trial(e decision.Evidence) string {
	figures := Rounded(e.Difference.Signed(), e.Low.String(), e.High.String())
	return fmt.Sprintf("%s, p = %.2g, difference %s (%.4g %% interval %s to %s)",
		Count(e.Pairs, "pair", "pairs"), e.P, figures[0], e.Confidence*100, figures[1], figures[2])
}

func model(name string) string {
	if name == "" {
		return ""
	}
	return " (" + line(name) + ")"
}

// Used is what an agent or a model used, as far as it is known, "" for nothing. unknown
// is how many answers did not say what they cost.
func Used(tokens *int64, usd *metric.Value, unknown int) string {
	var parts []string
	if tokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", *tokens))
	}
	if usd != nil {
		parts = append(parts, USD(usd.Float64()))
	}
	if unknown > 0 {
		parts = append(parts, "what "+Count(unknown, "answer", "answers")+" cost is unknown")
	}
	return strings.Join(parts, ", ")
}

// UsedBy is what an agent used.
func UsedBy(u *metric.Usage) string {
	if u == nil {
		return ""
	}
	return Used(u.Tokens(), u.CostUSD, 0)
}

// Measuring is what models used that measured.
func Measuring(e *history.Expense) string {
	if e == nil {
		return ""
	}
	return Used(e.Tokens, e.CostUSD, max(e.UnknownTokens, e.UnknownUSD))
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
		text += ", " + USD(spent.USD)
		if spent.UnknownUSD > 0 {
			text += " and " + Count(spent.UnknownUSD, "iteration", "iterations") + " of unknown cost"
		}
	}
	switch {
	case spent.MeasuringUSD > 0:
		text += " (" + USD(spent.MeasuringUSD) + " of it for measuring)"
	case spent.MeasuringTokens > 0:
		text += fmt.Sprintf(" (%d tokens of it for measuring)", spent.MeasuringTokens)
	}
	return text
}
