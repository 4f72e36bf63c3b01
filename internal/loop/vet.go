package loop

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// What one text, one list, one table and one number of a handed event may have
// at most, and how many events a bundle may have: more than the most candidates
// with all stages of their trials.
const (
	maxHandedText   = 64 << 10
	maxHandedList   = 1000
	maxHandedTable  = 10_000
	maxHandedNumber = 1e12
	maxHandedEvents = 1000
)

// sanitize returns an event of a bundle with nothing in it but what a proposal says
// in an event of its kind. What is out of bounds is refused.
func sanitize(e history.Event) (history.Event, error) {
	clean := history.Event{
		Kind: e.Kind, Iteration: e.Iteration, Run: e.Run, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition,
		Proposal: e.Proposal, Reason: e.Reason, Reasons: lines(e.Reasons), Problem: e.Problem,
	}
	switch e.Kind { //nolint:exhaustive // unpack takes no others
	case history.Measured:
		clean.Role, clean.Stage, clean.Samples, clean.GuardrailSamples, clean.Numbers = e.Role, e.Stage, e.Samples, e.GuardrailSamples, e.Numbers
		clean.CaseSamples = e.CaseSamples
		clean.RejectedReason, clean.Output, clean.Seconds, clean.Prepare = e.RejectedReason, e.Output, e.Seconds, e.Prepare
		clean.Evaluation = e.Evaluation
	case history.Proposed, history.Decided:
		clean.Outcome, clean.Verdict, clean.Rule, clean.Evidence, clean.Warning = e.Outcome, e.Verdict, e.Rule, e.Evidence, e.Warning
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
	return clean, bounded(clean)
}

// masked is an event without secrets in what agents and evaluations said. A
// short secret may be a word of theirs, so it is hidden and nothing is refused.
func masked(e history.Event, masker process.Masker) history.Event {
	for _, text := range []*string{&e.Reason, &e.Problem, &e.RejectedReason, &e.Output, &e.Warning, &e.Model, &e.Summary, &e.Focus} {
		*text = masker.String(*text)
	}
	for _, list := range [][]string{e.Reasons, e.Lessons, e.Foreclosed, e.Ideas} {
		for i := range list {
			list[i] = masker.String(list[i])
		}
	}
	return e
}

// lines makes a line of every text.
func lines(texts []string) []string {
	var list []string
	for _, text := range texts {
		list = append(list, strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text))
	}
	return list
}

// bounded refuses texts, lists and numbers that no proposal has.
func bounded(e history.Event) error {
	lists := [][]string{
		{e.Reason, e.Problem, e.RejectedReason, e.Output, e.Warning, e.Delta, e.Digest, e.Patch, e.Focus, e.Agent, e.Model, e.Summary},
		e.Reasons, e.Changed, e.Lessons, e.Foreclosed, e.Ideas,
	}
	for _, list := range lists {
		if len(list) > maxHandedList {
			return refuse("its event %q has a list of %d texts, more than %d", e.Kind, len(list), maxHandedList)
		}
		for _, text := range list {
			if len(text) > maxHandedText {
				return refuse("its event %q has a text of %d bytes, more than %d", e.Kind, len(text), maxHandedText)
			}
		}
	}
	if len(e.Samples)+len(e.Evidence)+len(e.Durations)+len(e.Params) > maxHandedList || len(e.Numbers)+len(e.CaseSamples) > maxHandedTable {
		return refuse("its event %q has more than %d measurements", e.Kind, maxHandedList)
	}
	if err := ofItsRuns(e); err != nil {
		return err
	}
	numbers := []float64{e.Seconds, e.Prepare, float64(e.Proposal)}
	for _, seconds := range e.Durations {
		numbers = append(numbers, seconds)
	}
	numbers = append(numbers, consumptionOf(e.Usage)...)
	for _, number := range append(numbers, expenseOf(e.Evaluation)...) {
		if !(number >= 0 && number <= maxHandedNumber) { // also what is no number
			return refuse("its event %q counts %g, which cannot be", e.Kind, number)
		}
	}
	if e.Kind == history.Measured && len(e.Samples) > 0 && (e.Metric == nil || e.Metric.Cmp(statistics.Median(e.Samples)) != 0) {
		return refuse("a metric of its events is not the median of its samples")
	}
	return nil
}

// ofItsRuns refuses numbers beside the metric of other runs than its samples.
func ofItsRuns(e history.Event) error {
	for name, values := range e.GuardrailSamples {
		if len(values) > len(e.Samples) {
			return refuse("its event %q has %d values of %.80q for %d runs", e.Kind, len(values), name, len(e.Samples))
		}
	}
	for name, values := range e.CaseSamples {
		if len(values) != len(e.Samples) {
			return refuse("its event %q has %d values of %.80q for %d runs", e.Kind, len(values), name, len(e.Samples))
		}
	}
	return nil
}

// expenseOf are the numbers of an expense that are known.
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

// consumptionOf are the numbers of a usage that are known.
func consumptionOf(u *history.Usage) []float64 {
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

// dollars is an amount as a plain number, which bounds alone are held against.
func dollars(v metric.Value) float64 {
	var number float64
	if _, err := fmt.Sscan(v.String(), &number); err != nil {
		return math.NaN()
	}
	return number
}
