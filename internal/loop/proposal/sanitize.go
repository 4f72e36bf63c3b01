package proposal

import (
	"fmt"
	"math"
	"regexp"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// The limits of one text, one list, one table and one number of an event, and of
// the number of events: more than the most candidates need for all stages of
// their trials.
const (
	maxTextBytes   = 64 << 10
	maxListLength  = 1000
	maxTableLength = 10_000
	maxNumber      = 1e12
	maxEventCount  = 1000
)

// sanitize copies the fields that a proposal may set in an event of this kind and
// drops the rest. It refuses values that are out of bounds.
func sanitize(e history.Event) (history.Event, error) {
	clean := history.Event{
		Kind: e.Kind, Iteration: e.Iteration, Run: e.Run, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition, Executor: e.Executor,
		Proposal: e.Proposal, Reason: e.Reason, Reasons: lines(e.Reasons), Problem: e.Problem,
	}
	switch e.Kind { //nolint:exhaustive // Decode refuses the others
	case history.Measured:
		clean.Role, clean.Stage, clean.Samples, clean.GuardrailSamples, clean.Numbers = e.Role, e.Stage, e.Samples, e.GuardrailSamples, e.Numbers
		clean.CaseSamples, clean.EvaluatorWrites, clean.Strict = e.CaseSamples, e.EvaluatorWrites, e.Strict
		clean.RejectedReason, clean.Output, clean.Seconds, clean.Prepare = e.RejectedReason, e.Output, e.Seconds, e.Prepare
		clean.Evaluation = e.Evaluation
	case history.Proposed, history.Decided:
		clean.Outcome, clean.Verdict, clean.Rule, clean.Seed, clean.Evidence, clean.Warning = e.Outcome, e.Verdict, e.Rule, e.Seed, e.Evidence, e.Warning
		clean.Held, clean.LeavesNothing = e.Held, e.LeavesNothing
		clean.PreviousBest, clean.Best, clean.Delta, clean.Changed = e.PreviousBest, e.Best, e.Delta, e.Changed
		clean.Params, clean.Digest, clean.Patch, clean.Focus = e.Params, e.Digest, e.Patch, e.Focus
		clean.Lessons, clean.Foreclosed, clean.Ideas = e.Lessons, e.Foreclosed, e.Ideas
		clean.Agent, clean.Model, clean.Summary, clean.Usage, clean.Durations = e.Agent, e.Model, e.Summary, e.Usage, e.Durations
		clean.Evaluation = e.Evaluation
	case history.Checked, history.Finished:
		clean.Agent, clean.Summary, clean.Usage, clean.Durations, clean.NotBefore = e.Agent, e.Summary, e.Usage, e.Durations, e.NotBefore
		clean.Evaluation = e.Evaluation
	}
	if e.Kind == history.Decided {
		clean.Patch = ""
	}
	if from := e.GrownFrom; e.Kind == history.Proposed && from != nil && from.Iteration > 0 && from.Iteration < e.Iteration && from.Proposal > 0 {
		clean.GrownFrom = &history.Ancestor{Iteration: from.Iteration, Proposal: from.Proposal}
	}
	return clean, bounded(clean)
}

// masked hides secrets in the texts of agents and evaluations. A short secret may
// be an ordinary word, so a hit is hidden and not refused.
func masked(e history.Event, masker process.Masker) history.Event {
	for _, text := range []*string{&e.Reason, &e.Problem, &e.RejectedReason, &e.Output, &e.Warning, &e.Held, &e.Model, &e.Summary, &e.Focus} {
		*text = masker.String(*text)
	}
	for _, list := range [][]string{e.Reasons, e.Lessons, e.Foreclosed, e.Ideas} {
		for i := range list {
			list[i] = masker.String(list[i])
		}
	}
	return e
}

// reported begins a reason that only the proposing job knows: people must not
// take it for one of the job that publishes.
const reported = "the proposing job says: "

// attributed returns an event whose reasons say that the proposing job gave them.
// Those of a decision that can be computed again are replaced later.
func attributed(e history.Event) history.Event {
	reasons := make([]string, len(e.Reasons))
	for i, reason := range e.Reasons {
		reasons[i] = reported + reason
	}
	e.Reasons = reasons
	if e.Warning != "" {
		e.Warning = reported + e.Warning
	}
	e.Agent, e.Model = name(e.Agent), name(e.Model)
	return e
}

// notName is what neither agents nor models have in their names.
var notName = regexp.MustCompile(`[^A-Za-z0-9._:/@+\[\]-]+`)

// name returns a name in which nothing else can be said.
func name(text string) string {
	const most = 200
	text = notName.ReplaceAllString(text, "-")
	return text[:min(len(text), most)]
}

// lines turns every text into one line.
func lines(texts []string) []string {
	var list []string
	for _, text := range texts {
		list = append(list, plain.Line(text))
	}
	return list
}

// bounded refuses texts, lists and numbers beyond the limits.
func bounded(e history.Event) error {
	lists := [][]string{
		{e.Reason, e.Problem, e.RejectedReason, e.Output, e.Warning, e.Held, e.Delta, e.Seed, e.Digest, e.Patch, e.Focus, e.Agent, e.Model, e.Summary},
		e.Reasons, e.Changed, e.Lessons, e.Foreclosed, e.Ideas,
	}
	if x := e.Executor; x != nil {
		lists = append(lists, []string{x.Agent, x.Version, x.Model, x.Command, x.CommandSHA256, x.Judge, x.Server})
	}
	for _, list := range lists {
		if len(list) > maxListLength {
			return Refuse("its event %q has a list of %d texts, more than %d", e.Kind, len(list), maxListLength)
		}
		for _, text := range list {
			if len(text) > maxTextBytes {
				return Refuse("its event %q has a text of %d bytes, more than %d", e.Kind, len(text), maxTextBytes)
			}
		}
	}
	if len(e.Samples)+len(e.Evidence)+len(e.Durations)+len(e.Params) > maxListLength || len(e.Numbers)+len(e.CaseSamples)+len(e.EvaluatorWrites) > maxTableLength {
		return Refuse("its event %q has more than %d measurements", e.Kind, maxListLength)
	}
	if err := matchesRuns(e); err != nil {
		return err
	}
	numbers := []float64{e.Seconds, e.Prepare, float64(e.Proposal)}
	for _, seconds := range e.Durations {
		numbers = append(numbers, seconds)
	}
	numbers = append(numbers, consumptionOf(e.Usage)...)
	for _, number := range append(numbers, expenseOf(e.Evaluation)...) {
		if !(number >= 0 && number <= maxNumber) { // true for NaN too
			return Refuse("its event %q counts %g, which cannot be", e.Kind, number)
		}
	}
	if e.Kind == history.Measured && len(e.Samples) > 0 && (e.Metric == nil || e.Metric.Cmp(statistics.Median(e.Samples)) != 0) {
		return Refuse("a metric of its events is not the median of its samples")
	}
	return nil
}

// matchesRuns refuses more values beside the metric than there are runs.
func matchesRuns(e history.Event) error {
	for name, values := range e.GuardrailSamples {
		if len(values) > len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", e.Kind, len(values), name, len(e.Samples))
		}
	}
	for name, values := range e.CaseSamples {
		if len(values) != len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", e.Kind, len(values), name, len(e.Samples))
		}
	}
	return nil
}

// expenseOf returns the known numbers of an expense.
func expenseOf(e *history.Expense) []float64 {
	if e == nil {
		return nil
	}
	known := []float64{float64(e.UnknownTokens), float64(e.UnknownUSD)}
	if e.Tokens != nil {
		known = append(known, float64(*e.Tokens))
	}
	if e.CostUSD != nil {
		known = append(known, dollars(*e.CostUSD))
	}
	return known
}

// consumptionOf returns the known numbers of a usage.
func consumptionOf(u *metric.Usage) []float64 {
	if u == nil {
		return nil
	}
	var known []float64
	for _, n := range []*int64{u.InputTokens, u.OutputTokens, u.CachedTokens} {
		if n != nil {
			known = append(known, float64(*n))
		}
	}
	for _, n := range []*int{u.Turns, u.ToolCalls} {
		if n != nil {
			known = append(known, float64(*n))
		}
	}
	if u.CostUSD != nil {
		known = append(known, dollars(*u.CostUSD))
	}
	return known
}

// dollars converts an amount for the comparison with the limits.
func dollars(v metric.Value) float64 {
	var number float64
	if _, err := fmt.Sscan(v.String(), &number); err != nil {
		return math.NaN()
	}
	return number
}
