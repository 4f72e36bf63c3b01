package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// OutcomeText is how an outcome is shown to people. The words of the state file and of
// JSON are their formats, and not among these.
type OutcomeText struct {
	Sign  string
	Word  string // everywhere
	Class string // its class in the style sheet of the page
}

// OutcomeOf is the one table of how outcomes are shown.
func OutcomeOf(outcome state.Status) OutcomeText {
	texts := map[state.Status]OutcomeText{
		history.Accepted:       {"✅", "kept", "kept"},
		history.Rejected:       {"❌", "not kept", "rejected"},
		history.Inconclusive:   {"❔", "not kept", "rejected"},
		history.Error:          {"⚠️", "error", "error"},
		history.PendingCI:      {"⏳", "waiting", "pending"},
		history.CIFixExhausted: {"❌", "not kept", "rejected"},
		history.Undone:         {"↩️", "undone", "rejected"},
	}
	// Of the others nothing was decided: busy, idle, or a dry run.
	return cmp.Or(texts[outcome], OutcomeText{"💤", string(outcome), "rejected"})
}

// Label is an outcome as comments and summaries show it.
func Label(outcome state.Status) string {
	text := OutcomeOf(outcome)
	return text.Sign + " " + text.Word
}

// Outcome is what people are told of an iteration on GitHub, in a comment and in the
// summary of a job.
type Outcome struct {
	*history.Decided
	Metric    string
	Direction *metric.Direction // nil when no program says it
	// Initial is what iteration 0 measured, nil where that is not told.
	Initial *metric.Value
	Seconds float64
	Links   []Markup
}

// Measured is the metric beside the best before and the beginning; "" when nothing was.
func (o Outcome) Measured() Markup {
	text, value := Markup(""), o.Decided.Metric
	if value == nil {
		text, value = "best ", o.Best
	}
	if value == nil {
		return ""
	}
	text += MD("%s **%s**", o.Metric, Figure(value, o.PreviousBest, o.Initial))
	if o.Direction != nil {
		text += MD(" (%s)", better(*o.Direction))
	}
	if o.Decided.Metric != nil && o.Delta != "" {
		text += MD(", %s against the best before", o.Delta)
		if o.PreviousBest != nil {
			text += MD(" (%s)", Figure(o.PreviousBest, value))
		}
	}
	if o.Initial != nil {
		text += MD("; %s at the beginning", Figure(o.Initial, value))
	}
	return text
}

// Body is what was tried, why it ended so, and, in the last line, who made it at what cost.
func (o Outcome) Body() Markup {
	var text Markup
	if o.Summary != "" {
		text = MD("> %s\n\n", o.Summary)
	}
	text += List(o.why()...)
	if origin := o.origin(); origin != "" {
		text += origin + "\n\n"
	}
	return text
}

// origin is the commit, who made it at what cost, and where to look.
func (o Outcome) origin() Markup {
	parts := []Markup{}
	if o.Commit != "" {
		parts = append(parts, Name(o.Commit))
	}
	who := []string{}
	if o.Agent != "" {
		who = append(who, "by "+o.Agent)
	}
	if o.Model != "" {
		who = append(who, o.Model)
	}
	if o.Seconds > 0 {
		who = append(who, Minutes(o.Seconds/60))
	}
	if used := usedBy(o.Usage); used != "" {
		who = append(who, used)
	}
	parts = append(parts, MD("%s", strings.Join(who, ", ")))
	if e := o.Evaluation; e != nil {
		parts = append(parts, MD("measuring: %s", used(e.Tokens, e.CostUSD, max(e.UnknownTokens, e.UnknownUSD))))
	}
	return Joined(" · ", append(parts, o.Links...)...)
}

// maxReasons bounds the reasons of an iteration that are told.
const maxReasons = 25

// why is what a decision rests on: its reasons but for the comparison of two numbers that
// stand above them, and what failed in CI with links in the place of the names.
func (o Outcome) why() []Markup {
	var list []Markup
	for _, r := range o.Reasons[:min(len(o.Reasons), maxReasons)] {
		compared := r.Is(decision.Better, decision.Worse) && o.Decided.Metric != nil &&
			(o.PreviousBest != nil || o.Delta != "")
		named := r.Is(decision.CIFound) && r.Term == ci.Failed &&
			slices.ContainsFunc(o.Failing, func(c history.Check) bool { return r.Path == c.Name })
		if !compared && !named {
			list = append(list, MD("%s", r))
		}
	}
	const most = 5
	var links []Markup
	for _, check := range o.Failing[:min(len(o.Failing), most)] {
		links = append(links, Linked(check.Name, check.URL))
	}
	if more := len(o.Failing) - most; more > 0 {
		links = append(links, MD("%d more", more))
	}
	if len(links) > 0 {
		list = append(list, "failing: "+Joined(", ", links...))
	}
	return list
}

// Iteration is the comment on one iteration.
func Iteration(a Account, e *history.Decided) string {
	o := Outcome{Decided: e, Metric: a.metric(), Direction: &a.Program.Direction}
	for _, seconds := range e.Durations {
		o.Seconds += seconds
	}
	if url := a.runOf(e); url != "" {
		o.Links = append(o.Links, Linked("run", url))
		if e.Agent != "tuner" {
			o.Links = append(o.Links, Linked("transcript", url+"#artifacts"))
		}
	}
	head := MD("%s\n**Iteration %d** %s", Markup(IterationMark(e.Iteration)), e.Iteration, Markup(Label(e.Outcome)))
	if e.Metric != nil {
		head += ": " + o.Measured()
	}
	return strings.TrimRight(body(head, "\n\n", o.Body()), "\n") + "\n"
}

// Why is why an iteration ended as it did, in a line: what was done when it was kept, also
// where it was taken back, else every reason.
func Why(outcome state.Status, summary string, reasons, flagged []decision.Reason) string {
	if outcome != history.Accepted && outcome != history.Undone && len(reasons) > 0 {
		return decision.Joined(reasons) // a flag is among them
	}
	if len(flagged) > 0 {
		summary = strings.TrimPrefix(summary+"; ", "; ") + "flagged: " + decision.Joined(flagged)
	}
	return summary
}

// Trial is what the comparison of a trial said.
func Trial(e decision.Evidence) string {
	figures := Rounded(e.Difference.Signed(), e.Low.String(), e.High.String())
	return fmt.Sprintf("medians %s and %s, %s, p = %.2g, difference %s (%.4g %% interval %s to %s)",
		Figure(&e.Incumbent, &e.Candidate), Figure(&e.Candidate, &e.Incumbent), Count(e.Pairs, "pair"), e.P,
		figures[0], e.Confidence*100, figures[1], figures[2])
}

// used is what an agent or a model used, as far as it is known, "" for nothing. unknown
// is how many answers did not say what they cost.
func used(tokens *int64, usd *metric.Value, unknown int) string {
	var parts []string
	if tokens != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", *tokens))
	}
	if usd != nil {
		parts = append(parts, USD(usd.Float64()))
	}
	if unknown > 0 {
		parts = append(parts, "what "+Count(unknown, "answer")+" cost is unknown")
	}
	return strings.Join(parts, ", ")
}

// usedBy is what an agent used, with the turns that it took.
func usedBy(u *metric.Usage) string {
	if u == nil {
		return ""
	}
	used := used(u.Tokens(), u.CostUSD, 0)
	if u.Turns != nil {
		return strings.TrimSuffix(Count(int(*u.Turns), "turn")+", "+used, ", ")
	}
	return used
}
