package proposal

import (
	"fmt"
	"math"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
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

// content is what is checked alike in events of every kind: it points into the
// event.
type content struct {
	said    []*string  // texts of agents and evaluations
	lists   [][]string // the same, as lists
	reasons []string
	warning *string
	work    *history.Work
	expense *history.Expense

	names  []string // texts of programs
	counts []float64
	list   int // how many measurements it has in lists
	table  int // and in tables
	key    int // the bytes of the longest name in a table
}

// sanitize copies the fields that a proposal may set in an event of this kind and
// drops the rest.
func sanitize(e history.Event) (history.Event, content, error) {
	head := history.Head{Run: e.Header().Run, Iteration: e.Header().Iteration}
	switch e := e.(type) {
	case *history.Measured:
		clean := &history.Measured{
			Head: head, Role: e.Role, Stage: e.Stage, Metric: e.Metric, Samples: e.Samples, GuardrailSamples: e.GuardrailSamples, CaseSamples: e.CaseSamples,
			Numbers: e.Numbers, Noisy: e.Noisy, Strict: e.Strict, Problem: e.Problem, RejectedReason: e.RejectedReason, EvaluatorWrites: e.EvaluatorWrites,
			Output: e.Output, Evaluator: e.Evaluator, Definition: e.Definition, Executor: e.Executor, Seconds: e.Seconds, Prepare: e.Prepare,
			Evaluation: e.Evaluation, Proposal: e.Proposal, Reason: e.Reason,
		}
		return clean, content{
			said: []*string{&clean.Problem, &clean.RejectedReason, &clean.Output, &clean.Reason}, expense: clean.Evaluation,
			names: append(namesOf(e.Executor), e.Evaluator, e.Definition), counts: []float64{e.Seconds, e.Prepare, float64(e.Proposal)},
			list: len(e.Samples), table: len(e.Numbers) + len(e.CaseSamples) + len(e.GuardrailSamples) + len(e.EvaluatorWrites),
			key: max(longest(e.Numbers), longest(e.CaseSamples), longest(e.GuardrailSamples), longest(e.EvaluatorWrites)),
		}, nil
	case *history.Proposed:
		clean := &history.Proposed{
			Head: head, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition, Outcome: e.Outcome, Verdict: e.Verdict,
			Reasons: lines(e.Reasons), Evidence: e.Evidence, Warning: e.Warning, PreviousBest: e.PreviousBest, Delta: e.Delta, Work: e.Work,
			Proposal: e.Proposal, Digest: e.Digest, Patch: e.Patch, Focus: e.Focus, Notes: e.Notes,
		}
		if from := e.GrownFrom; from != nil && from.Iteration > 0 && from.Iteration < e.Iteration && from.Proposal > 0 {
			clean.GrownFrom = &history.Ancestor{Iteration: from.Iteration, Proposal: from.Proposal}
		}
		return clean, content{
			said: []*string{&clean.Focus}, lists: listsOf(clean.Notes), reasons: clean.Reasons, warning: &clean.Warning, work: &clean.Work,
			names: append(stagesOf(e.Evidence), e.Evaluator, e.Definition, e.Verdict, e.Delta, e.Digest, e.Patch), counts: []float64{float64(e.Proposal)}, list: len(e.Evidence),
		}, nil
	case *history.Decided:
		clean := &history.Decided{
			Head: head, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition, Executor: e.Executor, Outcome: e.Outcome,
			Verdict: e.Verdict, Reasons: lines(e.Reasons), Rule: e.Rule, Evidence: e.Evidence, Warning: e.Warning, PreviousBest: e.PreviousBest, Best: e.Best,
			Delta: e.Delta, Work: e.Work, Seed: e.Seed, Held: e.Held, LeavesNothing: e.LeavesNothing,
			Evaluation: e.Evaluation, Proposal: e.Proposal, Digest: e.Digest, Focus: e.Focus, Notes: e.Notes,
		}
		return clean, content{
			said: []*string{&clean.Focus, &clean.Held}, lists: listsOf(clean.Notes), reasons: clean.Reasons, warning: &clean.Warning, work: &clean.Work, expense: e.Evaluation,
			names: append(namesOf(e.Executor), e.Evaluator, e.Definition, e.Verdict, e.Delta, e.Digest, e.Seed), counts: []float64{float64(e.Proposal)}, list: len(e.Evidence),
		}, nil
	case *history.Checked:
		clean := &history.Checked{Head: head, Problem: e.Problem, Reasons: lines(e.Reasons), Work: workOf(e.Work), Evaluation: e.Evaluation, Reason: e.Reason}
		return clean, content{said: []*string{&clean.Problem, &clean.Reason}, reasons: clean.Reasons, work: &clean.Work, expense: e.Evaluation}, nil
	case *history.Finished:
		clean := &history.Finished{Head: head, Work: workOf(e.Work), Evaluation: e.Evaluation, NotBefore: e.NotBefore, Reason: plain.Line(e.Reason)}
		return clean, content{said: []*string{&clean.Reason}, work: &clean.Work, expense: e.Evaluation}, nil
	default:
		return nil, content{}, misplaced(e)
	}
}

// workOf is the work of an attempt that decides nothing.
func workOf(w history.Work) history.Work {
	return history.Work{Agent: w.Agent, Usage: w.Usage, Summary: w.Summary, Durations: w.Durations}
}

func listsOf(n history.Notes) [][]string { return [][]string{n.Lessons, n.Foreclosed, n.Ideas} }

func namesOf(x *history.Executor) []string {
	if x == nil {
		return nil
	}
	return []string{x.Agent, x.Version, x.Model, x.Command, x.CommandSHA256, x.Judge, x.JudgeVersion, x.Server}
}

func stagesOf(evidence []history.Evidence) []string {
	var stages []string
	for _, e := range evidence {
		stages = append(stages, e.Stage)
	}
	return stages
}

// longest is how many bytes the longest name in a table has.
func longest[V any](table map[string]V) int {
	most := 0
	for name := range table {
		most = max(most, len(name))
	}
	return most
}

// texts are the texts of agents and evaluations, each alone.
func (c content) texts() []*string {
	all := c.said
	if c.warning != nil {
		all = append(all, c.warning)
	}
	if c.work != nil {
		all = append(all, &c.work.Model, &c.work.Summary)
	}
	return all
}

// mask hides secrets in the texts of agents and evaluations. A short secret may
// be an ordinary word, so a hit is hidden and not refused.
func (c content) mask(masker process.Masker) {
	for _, text := range c.texts() {
		*text = masker.String(*text)
	}
	for _, list := range append(c.lists, c.reasons) {
		for i := range list {
			list[i] = masker.String(list[i])
		}
	}
}

// reported begins a reason that only the proposing job knows: people must not
// take it for one of the job that publishes.
const reported = "the proposing job says: "

// attribute makes reasons say that the proposing job gave them. Those of a decision
// that can be computed again are replaced later.
func (c content) attribute() {
	for i, reason := range c.reasons {
		c.reasons[i] = reported + reason
	}
	if c.warning != nil && *c.warning != "" {
		*c.warning = reported + *c.warning
	}
	if c.work != nil {
		c.work.Agent, c.work.Model = name(c.work.Agent), name(c.work.Model)
	}
}

// notName is what neither agents nor models have in their names.
var notName = lazyregexp.New(`[^A-Za-z0-9._:/@+\[\]-]+`)

// name returns a name in which nothing else can be said.
func name(text string) string {
	const most = 200
	text = notName().ReplaceAllString(text, "-")
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
func (c content) bounded(kind history.Kind) error {
	lists := append([][]string{c.names, c.reasons}, c.lists...)
	for _, text := range c.texts() {
		lists = append(lists, []string{*text})
	}
	numbers := append(c.counts, expenseOf(c.expense)...)
	if w := c.work; w != nil {
		lists, c.list = append(lists, w.Changed, []string{w.Agent}), c.list+len(w.Durations)+len(w.Params)
		c.key = max(longest(w.Durations), longest(w.Params))
		numbers = append(numbers, consumptionOf(w.Usage)...)
		for _, seconds := range w.Durations {
			numbers = append(numbers, seconds)
		}
	}
	for _, list := range lists {
		if len(list) > maxListLength {
			return Refuse("its event %q has a list of %d texts, more than %d", kind, len(list), maxListLength)
		}
		for _, text := range list {
			if len(text) > maxTextBytes {
				return Refuse("its event %q has a text of %d bytes, more than %d", kind, len(text), maxTextBytes)
			}
		}
	}
	switch {
	case c.key > maxTextBytes:
		return Refuse("its event %q has a name of %d bytes, more than %d", kind, c.key, maxTextBytes)
	case c.list > maxListLength:
		return Refuse("its event %q has more than %d measurements", kind, maxListLength)
	case c.table > maxTableLength:
		return Refuse("its event %q has more than %d measurements", kind, maxTableLength)
	}
	for _, number := range numbers {
		if !(number >= 0 && number <= maxNumber) { // true for NaN too
			return Refuse("its event %q counts %g, which cannot be", kind, number)
		}
	}
	return nil
}

// matchesRuns refuses a metric that is not that of its runs, and more values beside
// it than there are runs.
func matchesRuns(e *history.Measured) error {
	for name, values := range e.GuardrailSamples {
		if len(values) > len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", history.KindOf(e), len(values), name, len(e.Samples))
		}
	}
	for name, values := range e.CaseSamples {
		if len(values) != len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", history.KindOf(e), len(values), name, len(e.Samples))
		}
	}
	if len(e.Samples) > 0 && (e.Metric == nil || e.Metric.Cmp(statistics.Median(e.Samples)) != 0) {
		return Refuse("a metric of its events is not the median of its samples")
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
