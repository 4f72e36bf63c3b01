package proposal

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/org/autoloop/internal/decision"
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
	maxBecause     = 5 // reasons one below the other
)

// sanitize copies the fields that a proposal may set in an event of this kind and
// drops the rest. Reasons say who gave them: people must not take them for those of the
// job that publishes. Those of a decision that can be computed again are replaced later.
func sanitize(e history.Event) (history.Event, error) {
	head := history.Head{Run: e.Header().Run, Iteration: e.Header().Iteration}
	switch e := e.(type) {
	case *history.Measured:
		return &history.Measured{
			Head: head, Role: e.Role, Stage: e.Stage, Metric: e.Metric, Samples: e.Samples,
			GuardrailSamples: e.GuardrailSamples, CaseSamples: e.CaseSamples,
			Numbers: e.Numbers, Noisy: e.Noisy, Problem: e.Problem, RejectedReason: e.RejectedReason,
			EvaluatorWrites: e.EvaluatorWrites,
			Output:          e.Output, Evaluator: e.Evaluator, Definition: e.Definition, Executor: e.Executor,
			Seconds: e.Seconds, Prepare: e.Prepare,
			Evaluation: e.Evaluation, Proposal: e.Proposal, Reason: e.Reason,
		}, nil
	case *history.Proposed:
		clean := &history.Proposed{
			Head: head, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition,
			Outcome: e.Outcome, Verdict: e.Verdict,
			Reasons: claimed(e.Reasons), Evidence: e.Evidence, Warning: claimed(e.Warning),
			PreviousBest: e.PreviousBest, Delta: e.Delta, Work: e.Work,
			Proposal: e.Proposal, Digest: e.Digest, Patch: e.Patch, Focus: e.Focus, Notes: e.Notes,
		}
		if from := e.GrownFrom; from != nil && from.Iteration > 0 && from.Iteration < e.Iteration && from.Proposal > 0 {
			clean.GrownFrom = &history.Ancestor{Iteration: from.Iteration, Proposal: from.Proposal}
		}
		return clean, nil
	case *history.Decided:
		return &history.Decided{
			Head: head, Metric: e.Metric, Noisy: e.Noisy, Evaluator: e.Evaluator, Definition: e.Definition,
			Executor: e.Executor, Outcome: e.Outcome,
			Verdict: e.Verdict, Reasons: claimed(e.Reasons), Rule: e.Rule, Evidence: e.Evidence,
			Warning: claimed(e.Warning), PreviousBest: e.PreviousBest, Best: e.Best,
			Delta: e.Delta, Work: e.Work, Seed: e.Seed, LeavesNothing: e.LeavesNothing,
			Evaluation: e.Evaluation, Proposal: e.Proposal, Digest: e.Digest, Focus: e.Focus, Notes: e.Notes,
		}, nil
	case *history.Checked:
		return &history.Checked{
			Head: head, Failed: e.Failed, Reasons: claimed(e.Reasons), Work: effortOf(e.Work),
			Evaluation: e.Evaluation, Signature: e.Signature,
		}, nil
	case *history.Finished:
		return &history.Finished{
			Head: head, Work: effortOf(e.Work), Evaluation: e.Evaluation, NotBefore: e.NotBefore,
			Reason: e.Reason,
		}, nil
	default:
		return nil, misplaced(e)
	}
}

// effortOf is the work of an attempt that decides nothing.
func effortOf(w history.Work) history.Work {
	return history.Work{Agent: w.Agent, Usage: w.Usage, Summary: w.Summary, Durations: w.Durations}
}

// claimed are reasons that only the proposing job knows.
func claimed(reasons []decision.Reason) []decision.Reason {
	var list []decision.Reason
	for _, r := range reasons {
		list = append(list, decision.Reason{Kind: decision.Claimed, Because: []decision.Reason{r}})
	}
	return list
}

// mask hides secrets in what agents and evaluations said, wherever it is in a value, and
// makes one line of the words of reasons, and names of what is one. A short secret may be an ordinary word, so a
// hit is hidden and not refused.
func mask(v reflect.Value, masker process.Masker) {
	switch v.Kind() { //nolint:exhaustive // nothing was said in the others
	case reflect.Pointer:
		if !v.IsNil() {
			mask(v.Elem(), masker)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mask(v.Index(i), masker)
		}
	case reflect.Struct:
		if reason, is := reflect.TypeAssert[decision.Reason](v); is {
			v.FieldByName("Path").SetString(plain.Line(masker.String(reason.Path)))
			v.FieldByName("Words").SetString(plain.Line(masker.String(reason.Words)))
		}
		for field, value := range v.Fields() {
			how, said := field.Tag.Lookup("said")
			switch {
			case !field.IsExported():
			case said && value.Kind() == reflect.Slice:
				for i := range value.Len() {
					value.Index(i).SetString(masker.String(value.Index(i).String()))
				}
			case said && value.Kind() == reflect.String:
				value.SetString(masker.String(value.String()))
				if how == "name" {
					value.SetString(name(value.String()))
				}
			default:
				mask(value, masker)
			}
		}
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

// bounded refuses an event with a text, a list, a table or a number beyond the limits.
// Metrics may be any number; what was paid may not be negative.
func bounded(e history.Event) error {
	if problem := beyond(reflect.ValueOf(e).Elem()); problem != "" {
		return Refuse("its event %q %s", history.KindOf(e), problem)
	}
	return nil
}

func beyond(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxTextBytes {
			return fmt.Sprintf("has a text of %d bytes, more than %d", v.Len(), maxTextBytes)
		}
	case reflect.Int, reflect.Int64:
		return impossible(float64(v.Int()))
	case reflect.Float64:
		return impossible(v.Float())
	case reflect.Pointer:
		if !v.IsNil() {
			return beyond(v.Elem())
		}
	case reflect.Slice:
		if v.Len() > maxListLength {
			return fmt.Sprintf("has a list of %d, more than %d", v.Len(), maxListLength)
		}
		for i := range v.Len() {
			if problem := beyond(v.Index(i)); problem != "" {
				return problem
			}
		}
	case reflect.Map:
		if v.Len() > maxTableLength {
			return fmt.Sprintf("has a table of %d, more than %d", v.Len(), maxTableLength)
		}
		for name, value := range v.Seq2() {
			if problem := cmp.Or(beyond(name), beyond(value)); problem != "" {
				return problem
			}
		}
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[decision.Reason]():
			if reason, _ := reflect.TypeAssert[decision.Reason](v); !reason.Known(maxBecause) {
				return fmt.Sprintf("has a reason %.40q, which does not exist", reason.Kind)
			}
		case reflect.TypeFor[metric.Value](), reflect.TypeFor[time.Time](),
			reflect.TypeFor[history.Head](): // add looks at that
			return ""
		}
		for field, value := range v.Fields() {
			if !field.IsExported() {
				continue
			}
			problem := beyond(value)
			if cost, is := value.Interface().(*metric.Value); is && cost != nil && field.Name == "CostUSD" {
				problem = impossible(cost.Float64())
			}
			if problem != "" {
				return problem
			}
		}
	default: // neither a text nor a number: true and false
	}
	return ""
}

func impossible(number float64) string {
	if number >= 0 && number <= maxNumber { // false for NaN too
		return ""
	}
	return fmt.Sprintf("counts %g, which cannot be", number)
}

// matchesRuns refuses a metric that is not that of its runs, and more values beside
// it than there are runs.
func matchesRuns(e *history.Measured) error {
	for name, values := range e.GuardrailSamples {
		if len(values) > len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", history.KindOf(e), len(values), name,
				len(e.Samples))
		}
	}
	for name, values := range e.CaseSamples {
		if len(values) != len(e.Samples) {
			return Refuse("its event %q has %d values of %.80q for %d runs", history.KindOf(e), len(values), name,
				len(e.Samples))
		}
	}
	if len(e.Samples) > 0 && (e.Metric == nil || e.Metric.Cmp(statistics.Median(e.Samples)) != 0) {
		return Refuse("a metric of its events is not the median of its samples")
	}
	return nil
}
