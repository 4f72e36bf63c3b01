package loop

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

// notName is what neither agents nor models have in their names.
var notName = lazyregexp.New(`[^A-Za-z0-9._:/@+\[\]-]+`)

// pureName returns a name in which nothing else can be said.
func pureName(text string) string {
	const most = 200
	text = notName().ReplaceAllString(text, "-")
	return text[:min(len(text), most)]
}

// clean empties the fields of an event that no proposal may set. Reasons say who gave them:
// people must not take them for those of the job that publishes. Those of a decision that can be
// computed again are replaced later. It refuses an event with a text, a list, a table or a number
// beyond the limits: metrics may be any number, what was paid may not be negative. It hides
// secrets in what agents and evaluations said, makes one line of the words of reasons, and names
// of what is one. A short secret may be an ordinary word, so a hit is hidden and not refused.
func (p *Proposal) clean(e history.Event, masker process.Masker) error {
	if problem := cleaned(reflect.ValueOf(e).Elem(), "", masker); problem != "" {
		return refuse("its event %q %s", history.KindOf(e), problem)
	}
	*e.Header() = history.Head{Iteration: p.Iteration}
	if e, is := e.(*history.Proposed); is && e.GrownFrom != nil &&
		(min(e.GrownFrom.Iteration, e.GrownFrom.Proposal) < 1 || e.GrownFrom.Iteration >= p.Iteration) {
		e.GrownFrom = nil
	}
	return nil
}

// cleaned cleans a value, and says what is beyond the limits in it. Said is the tag of a field
// of texts that somebody said, "" for others.
func cleaned(v reflect.Value, said string, masker process.Masker) (problem string) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > maxTextBytes {
			return fmt.Sprintf("has a text of %d bytes, more than %d", v.Len(), maxTextBytes)
		}
		if said != "" {
			v.SetString(masker.String(v.String()))
		}
		if said == "name" {
			v.SetString(pureName(v.String()))
		}
	case reflect.Int, reflect.Int64:
		return impossible(float64(v.Int()))
	case reflect.Float64:
		return impossible(v.Float())
	case reflect.Pointer:
		if !v.IsNil() {
			return cleaned(v.Elem(), said, masker)
		}
	case reflect.Slice:
		if v.Len() > maxListLength {
			return fmt.Sprintf("has a list of %d, more than %d", v.Len(), maxListLength)
		}
		for i := 0; i < v.Len() && problem == ""; i++ {
			problem = cleaned(v.Index(i), said, masker)
		}
	case reflect.Map:
		if v.Len() > maxTableLength {
			return fmt.Sprintf("has a table of %d, more than %d", v.Len(), maxTableLength)
		}
		for key, value := range v.Seq2() {
			problem = cmp.Or(problem, cleaned(key, "", masker), cleaned(value, "", masker))
		}
	case reflect.Struct:
		return cleanedFields(v, masker)
	default: // neither a text nor a number: true and false
	}
	return problem
}

func cleanedFields(v reflect.Value, masker process.Masker) (problem string) {
	switch value := v.Interface().(type) {
	case decision.Reason:
		if !value.Known(maxBecause) {
			return fmt.Sprintf("has a reason %.40q, which does not exist", value.Kind)
		}
		value.Path, value.Words = plain.Line(masker.String(value.Path)), plain.Line(masker.String(value.Words))
		v.Set(reflect.ValueOf(value))
	case metric.Value, time.Time, history.Head: // add looks at that
		return ""
	}
	_, event := v.Addr().Interface().(history.Event)
	for field, value := range v.Fields() {
		how, may := field.Tag.Lookup("proposal")
		if !field.IsExported() || problem != "" {
			continue
		}
		if event && !may && !field.Anonymous {
			value.SetZero()
		}
		if reasons, _ := reflect.TypeAssert[[]decision.Reason](value); how == "claimed" {
			for i, r := range reasons {
				reasons[i] = decision.Claimed.Because(r)
			}
		}
		problem = cleaned(value, field.Tag.Get("said"), masker)
		if cost, _ := reflect.TypeAssert[*metric.Value](value); cost != nil && field.Name == "CostUSD" {
			problem = impossible(cost.Float64())
		}
	}
	return problem
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
	for i, table := range []map[string][]metric.Value{e.GuardrailSamples, e.CaseSamples} {
		for name, values := range table {
			tooFew := i > 0 && len(values) < len(e.Samples) // a case has a rate in each run
			if tooFew || len(values) > len(e.Samples) {
				return refuse("its event %q has %d values of %.80q for %d runs", history.KindOf(e), len(values), name,
					len(e.Samples))
			}
		}
	}
	if len(e.Samples) > 0 && (e.Metric == nil || e.Metric.Cmp(statistics.Median(e.Samples)) != 0) {
		return refuse("a metric of its events is not the median of its samples")
	}
	return nil
}
