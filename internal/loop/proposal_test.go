package loop

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// TestUnrecordedFix is a failed attempt: what it used is not lost, and nothing of it
// is kept.
func TestUnrecordedFix(t *testing.T) {
	t.Parallel()
	tokens := int64(7)
	decided := &history.Decided{Outcome: history.PendingCI, Evaluation: &history.Expense{Tokens: &tokens}}
	decided.Agent, decided.Usage, decided.Durations, decided.Summary = "a", &metric.Usage{InputTokens: &tokens},
		map[string]float64{"propose": 1}, "s"
	p := &Proposal{
		Manifest: Manifest{Kind: forFix, Run: "r", Iteration: 2},
		Checked:  &history.Checked{Head: history.Head{Iteration: 2}, Signature: "build"}, Decided: decided,
		Measured: []*history.Measured{{Role: history.Candidate, Stage: decision.Once}},
	}
	require.True(t, p.Kept())
	p.FailFix(decision.Say("it was refused"))
	assert.False(t, p.Kept())
	assert.Nil(t, p.Decided)
	assert.Equal(t, "it was refused", p.Checked.Failed.String())
	assert.Equal(t, "build", p.Checked.Signature)
	assert.Equal(t, "a", p.Checked.Agent)
	assert.Equal(t, &metric.Usage{InputTokens: &tokens}, p.Checked.Usage)
	assert.Equal(t, map[string]float64{"propose": 1}, p.Checked.Durations)
	assert.Equal(t, &history.Expense{Tokens: &tokens}, p.Checked.Evaluation)
	require.NoError(t, p.Sanitize(process.Masker{}), "and it may travel")
	assert.Equal(t, &metric.Usage{InputTokens: &tokens}, p.Checked.Usage)
}

// TestExecutorOfSuite: the baseline says it where there is one, else the decision.
func TestExecutorOfSuite(t *testing.T) {
	t.Parallel()
	one, other := &history.Executor{Agent: "one"}, &history.Executor{Agent: "other"}
	for _, c := range []struct {
		p    Proposal
		want *history.Executor
	}{
		{Proposal{}, nil},
		{Proposal{Decided: &history.Decided{}}, nil},
		{Proposal{Decided: &history.Decided{Executor: one}}, one},
		{Proposal{Baseline: []*history.Measured{{Executor: other}}, Decided: &history.Decided{Executor: one}}, other},
		{Proposal{Baseline: []*history.Measured{{}, {Executor: other}}, Decided: &history.Decided{Executor: one}}, nil},
	} {
		assert.Equal(t, c.want, c.p.Executor())
	}
}

// TestNumberOfCandidate that decides: an only one is the first.
func TestNumberOfCandidate(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, (&Proposal{}).Number())
	for number, want := range map[int]int{0: 1, 1: 1, 2: 2, 9: 9} {
		assert.Equal(t, want, (&Proposal{Decided: &history.Decided{Proposal: number}}).Number())
	}
}

// everything is an event with something in every field.
const everything = `{"schema":1,"time":"2026-01-01T00:00:00Z","run_id":"r","iteration":2,"lease":{"host":"h"},"reserved":{"tokens":1},"unused":true,"stopped":true,"role":"candidate","stage":"once","metric":2,
"samples":[2],"guardrail_samples":{"g":[1]},"case_samples":{"case.1":[1]},"numbers":{"a":1},"noisy":true,"evaluator_writes":{"r.txt":true},"problem":"p","rejected_reason":"p","output":"o",
"direction":"higher","target":9,"evaluator":"e","definition":"d","executor":{"agent":"a"},"base":"b","base_branch":"main","seconds":1,"prepare_seconds":1,"outcome":"accepted",
"verdict":"improved","reasons":[{"kind":"said"}],"rule":{"regime":"single"},"seed":"s","disagreement":{"kind":"said"},"evidence":[{"stage":"pairs","pairs":8}],"warning":[{"kind":"said"}],"leaves_nothing":true,"previous_best":1,"best":2,
"delta":"+1","incumbent":"i","commit":"c","branch":"autoloop/p","agent":"a","model":"m","usage":{"input_tokens":1},"summary":"s","changed":["f"],
"params":{"k":1},"failing_checks":[{"name":"build"}],"evaluation":{"tokens":1},"durations":{"propose":1},"proposal":1,"digest":"d","patch":"p","grown_from":{"iteration":1,"proposal":1},"focus":"f","lessons":["l"],"foreclosed":["f"],"ideas":["i"],
"not_before":"2026-01-01T00:00:00Z","signature":"s","failed":{"kind":"said"},"reason":{"kind":"said"},"key":"k","value":"v","event":"`

// TestSanitizeLeavesOutWhatPublishingSays holds what becomes of every field: one that
// a proposing job writes and that is lost on the way would make other records.
func TestSanitizeLeavesOutWhatPublishingSays(t *testing.T) {
	t.Parallel()
	for kind, left := range map[history.EventKind]string{
		"measured": "direction base_branch commit",
		"proposed": "direction target incumbent commit disagreement failing_checks",
		"decided":  "direction target incumbent commit disagreement failing_checks",
		"checked":  "commit failing_checks",
		"finished": "outcome unused stopped",
	} {
		log, err := testrepo.Ledger([]byte(strings.ReplaceAll(everything, "\n", "") + string(kind) + `"}`))
		require.NoError(t, err)
		before := reflect.ValueOf(log.Events[0]).Elem()
		for _, field := range reflect.VisibleFields(before.Type()) {
			require.False(t, field.IsExported() && before.FieldByIndex(field.Index).IsZero(), "%s is not in this test",
				field.Name)
		}
		all := fieldsOf(t, log.Events[0])
		p := &Proposal{Manifest: Manifest{Iteration: 2}}
		require.NoError(t, p.clean(log.Events[0], process.Masker{}))
		kept := fieldsOf(t, log.Events[0])
		assert.ElementsMatch(t, strings.Fields(left),
			slices.DeleteFunc(all, func(key string) bool { return slices.Contains(kept, key) }), kind)
	}
}

// fieldsOf are the fields of an event that this version knows and that say something.
func fieldsOf(t *testing.T, e history.Event) []string {
	t.Helper()
	text, err := json.Marshal(e)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return slices.Collect(maps.Keys(fields))
}

// FuzzSanitize looks for proposals on which cleaning panics, or that are refused
// otherwise than by a *RefusedError.
func FuzzSanitize(f *testing.F) {
	for _, word := range []string{"IcpD", "BD", "F", "N"} {
		text := ""
		for _, letter := range word {
			text += letters[letter] + ","
		}
		f.Add(text, false)
	}
	f.Add(letters['C'], true)
	f.Add(`"postponed":{"not_before":"2026-01-01T00:00:00Z","usage":{"cost_usd":-1}}`, true)
	f.Fuzz(func(t *testing.T, text string, fix bool) {
		kind := forIteration
		if fix {
			kind = forFix
		}
		p, err := of(t, text, kind)
		if err != nil {
			return
		}
		if err := p.Sanitize(process.Masker{}); err != nil {
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
		}
	})
}
