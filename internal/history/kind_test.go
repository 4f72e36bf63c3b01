package history_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// everyKind has an event of each kind.
func everyKind(t *testing.T) map[history.EventKind]history.Event {
	t.Helper()
	all := map[history.EventKind]history.Event{}
	for _, e := range events(t, "started|measured|proposed|decided|pushed|finished|checked|paused|resumed|completed|"+
		"set|answered") {
		all[e.Header().Event] = e
		e.Header().Event = ""
	}
	return all
}

// fill gives every field of a struct a value that is not its zero.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case []decision.Reason: // of which one can follow from others
		v.Set(reflect.ValueOf([]decision.Reason{{Kind: decision.Tie, Path: "p", Count: 7}}))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)))
		return
	case metric.Value:
		v.Set(reflect.ValueOf(metric.MustValue("9007199254740993.25")))
		return
	case metric.Direction:
		v.Set(reflect.ValueOf(metric.Lower))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("<a> & \"b\"").Convert(v.Type().Key()), value)
	case reflect.String:
		v.SetString("é <&> \"\n\u2028")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.1)
	default:
		panic("a field of another kind: " + v.Type().String())
	}
}

// TestEveryFieldIsWrittenAndRead: what an event of any kind has in it is what is read of
// its line, and what nobody said is not written.
func TestEveryFieldIsWrittenAndRead(t *testing.T) {
	t.Parallel()
	for kind, e := range everyKind(t) {
		line, err := history.Line(e)
		require.NoError(t, err)
		assert.JSONEq(t, `{"schema": 1, "event": "`+string(kind)+
			`", "time": "0001-01-01T00:00:00Z", "run_id": "", "iteration": 0}`, string(line), kind)
		assert.Zero(t, e.Header().Schema, "the event stays as it is")
		fill(reflect.ValueOf(e).Elem())
		line, err = history.Line(e)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(line, &fields))
		for name, value := range fields {
			assert.NotEmpty(t, value, "%s of %s", name, kind)
		}
		again, err := history.ParseEvent(line)
		require.NoError(t, err)
		second, err := history.Line(again)
		require.NoError(t, err)
		assert.Equal(t, string(line), string(second))
		stamped, err := history.Line(history.Stamp(again, "other", noon))
		require.NoError(t, err)
		assert.Equal(t, string(line), strings.NewReplacer(`"2026-01-02T12:00:00Z"`, `"2026-01-02T03:04:05.678Z"`,
			`"run_id":"other"`, `"run_id":"é \u003c\u0026\u003e \"\n\u2028"`).Replace(string(stamped)))
	}
}

// TestRatesOfCases are those of each run where they were recorded, else of the last.
func TestRatesOfCases(t *testing.T) {
	t.Parallel()
	numbers := map[string]metric.Value{"case.a": *value("0.5"), "other": *value("3")}
	assert.Equal(t, decision.RatesOf(numbers), (&history.Measured{Numbers: numbers}).CaseRates())
	each := map[string][]metric.Value{"case.a": {*value("0"), *value("1")}}
	assert.Equal(t, decision.CaseRates(each), (&history.Measured{Numbers: numbers, CaseSamples: each}).CaseRates())
	assert.Empty(t, (&history.Measured{Numbers: numbers, CaseSamples: map[string][]metric.Value{}}).CaseRates(),
		"no case was measured")
}

// TestUndoneIterations are told from other settings, among all events.
func TestUndoneIterations(t *testing.T) {
	t.Parallel()
	var undone []int
	for _, e := range history.Of[*history.Set](events(t, `paused | set key=undone value="2" | `+
		`set key=pull value="3" | set key=undone value=x`)) {
		undone = append(undone, history.UndoneBy(e))
	}
	assert.Equal(t, []int{2, 0, 0}, undone)
	assert.Zero(t, history.UndoneBy(&history.Paused{}))
}
