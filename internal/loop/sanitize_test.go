package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// all is an event of each kind that a bundle may have, with something in every field
// that its proposal may set.
var all = map[history.EventKind]string{
	"measured": `"role":"candidate","stage":"once","metric":2,"samples":[2],"guardrail_samples":{"g":[1]},"case_samples":{"case.1":[1]},
		"numbers":{"a":1},"noisy":true,"evaluator_writes":{"r.txt":true},"problem":"p","rejected_reason":"p","output":"o","evaluator":"e",
		"definition":"d","seconds":1,"prepare_seconds":1,"proposal":1,"reason":{"kind":"said","words":"r"},` +
		spent + executor,
	"proposed": decided + `"patch":"p","grown_from":{"iteration":1,"proposal":1}`,
	"decided":  decided,
	"checked": `"failed":{"kind":"said","words":"p"},"reasons":[{"kind":"said","words":"x"}],"signature":"r",` +
		effort +
		spent,
	"finished": `"not_before":"2026-01-01T00:00:00Z","reason":{"kind":"said","words":"r"},` + effort + spent,
}

const (
	decided = `"metric":2,"noisy":true,"evaluator":"e","definition":"d","outcome":"rejected","verdict":"neutral",
		"reasons":[{"kind":"said","words":"x"}],"warning":[{"kind":"said","words":"w"}],"previous_best":1,"best":2,
		"delta":"+1","seed":"s","leaves_nothing":true,"proposal":1,"digest":"d","focus":"f",
		"rule":{"regime":"single"},` + notes + work + evidence + spent + executor
	effort = `"agent":"a","summary":"s","usage":{"input_tokens":1,"output_tokens":1,"cached_tokens":1,"cost_usd":1,"turns":1,"tool_calls":1},
		"durations":{"propose":1},`
	work     = effort + `"model":"m","changed":["f"],"params":{"k":1},`
	spent    = `"evaluation":{"tokens":1,"cost_usd":1,"unknown_tokens":1,"unknown_usd":1},`
	executor = `"executor":{"agent":"a","version":"v","model":"m","command":"c","command_sha256":"s","judge":"j",` +
		`"judge_version":"v","server":"s"},`
	notes    = `"lessons":["l"],"foreclosed":["f"],"ideas":["i"],`
	evidence = `"evidence":[{"stage":"pairs","pairs":8,"confidence":0.95,"incumbent_median":1,"candidate_median":2,` +
		`"difference":1,"low":0,"high":2,"p_value":0.1}],`
)

// keys are where a proposal has its events.
var keys = map[history.EventKind]string{
	"measured": `"measured":[%s],"decided":{"outcome":"rejected"}`,
	"proposed": `"proposed":[%s],"decided":{"outcome":"rejected"}`,
	"decided":  `"decided":%s`, "checked": `"checked":%s`, "finished": `"postponed":%s`,
}

// decodeOne cleans a proposal with this event in it, and returns the fields that are left.
func decodeOne(t *testing.T, kind history.EventKind, event any, masker process.Masker) (map[string]any, error) {
	t.Helper()
	line, err := json.Marshal(event)
	require.NoError(t, err)
	purpose := forIteration
	if kind == "checked" {
		purpose = forFix
	}
	p, err := of(t, fmt.Sprintf(keys[kind], line), purpose)
	require.NoError(t, err)
	if err := p.Sanitize(masker); err != nil {
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		return nil, err
	}
	text, err := json.Marshal(p.Events()[0])
	require.NoError(t, err)
	var left map[string]any
	require.NoError(t, json.Unmarshal(text, &left))
	return left, nil
}

func eventOf(t *testing.T, kind history.EventKind) map[string]any {
	t.Helper()
	text := fmt.Sprintf(`{"event":%q,"run_id":"r","iteration":2,`,
		kind) + strings.TrimSuffix(strings.TrimSpace(all[kind]),
		",") + "}"
	var event map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &event), kind)
	return event
}

// places are the places of the values in an event, as paths.
func places(value any, at string) []string {
	var list []string
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			list = append(list, places(value[key], at+"/"+key)...)
		}
	case []any:
		for i, one := range value {
			list = append(list, places(one, at+"/"+strconv.Itoa(i))...)
		}
	default:
		list = append(list, at)
	}
	return list
}

// at is the value at a place, and with is the event with another value there.
func at(value any, place string) any {
	for key := range strings.SplitSeq(strings.TrimPrefix(place, "/"), "/") {
		switch in := value.(type) {
		case map[string]any:
			value = in[key]
		case []any:
			i, _ := strconv.Atoi(key)
			if i >= len(in) {
				return nil
			}
			value = in[i]
		default:
			return nil
		}
	}
	return value
}

func with(value any, place string, other any) any {
	key, rest, more := strings.Cut(strings.TrimPrefix(place, "/"), "/")
	replaced := func(was any) any {
		if more {
			return with(was, rest, other)
		}
		return other
	}
	switch value := value.(type) {
	case map[string]any:
		value = maps.Clone(value)
		value[key] = replaced(value[key])
		return value
	case []any:
		value = slices.Clone(value)
		i, _ := strconv.Atoi(key)
		value[i] = replaced(value[i])
		return value
	default:
		return value
	}
}

// told is where a reason is after it was said whose it is.
func told(place string) string {
	for _, list := range []string{"/reasons/0/", "/warning/0/"} {
		if rest, is := strings.CutPrefix(place, list); is {
			return list + "because/0/" + rest
		}
	}
	return place
}

// isChecked are texts whose every value but a few is refused, here or when the proposal is
// verified.
func isChecked(kind history.EventKind, place string) bool {
	switch {
	case strings.HasSuffix(place, "/kind"):
		return true
	}
	switch place {
	case "/event", "/run_id", "/role", "/stage", "/outcome", "/not_before":
		return true
	default: // a decision is held against the program, and computed again
		return kind == "decided" && (strings.HasPrefix(place, "/rule/") || strings.HasPrefix(place, "/evidence/"))
	}
}

// TestValuesOfABundleAreBounded wherever they are: texts, lists, tables, and what is counted.
// Metrics may be any number.
func TestValuesOfABundleAreBounded(t *testing.T) {
	t.Parallel()
	text := func(n int) any { return strings.Repeat("x", n) }
	list := func(value any) func(n int) any { return func(n int) any { return slices.Repeat([]any{value}, n) } }
	table := func(value any) func(n int) any {
		return func(n int) any {
			entries := map[string]any{}
			for i := range n {
				entries[fmt.Sprint("k", i)] = value
			}
			return entries
		}
	}
	named := func(value any) func(n int) any {
		return func(n int) any { return map[string]any{strings.Repeat("x", n): value} }
	}
	for place, c := range map[string]struct {
		value func(n int) any
		most  int
	}{
		"measured/output": {text, maxTextBytes}, "decided/reasons/0/words": {text, maxTextBytes},
		"decided/executor/judge": {text, maxTextBytes}, "proposed/lessons/0": {text, maxTextBytes},
		"measured/numbers": {named(1), maxTextBytes}, "measured/case_samples": {named([]any{1}), maxTextBytes},
		"proposed/reasons": {list(map[string]any{"kind": "tie"}), maxListLength},
		"decided/lessons":  {list("x"), maxListLength}, "decided/params": {table(1), maxTableLength},
		"measured/evaluator_writes": {table(true), maxTableLength},
	} {
		kind, at, _ := strings.Cut(place, "/")
		event := eventOf(t, history.EventKind(kind))
		_, err := decodeOne(t, history.EventKind(kind), with(event, at, c.value(c.most)), process.Masker{})
		require.NoError(t, err, place)
		_, err = decodeOne(t, history.EventKind(kind), with(event, at, c.value(c.most+1)), process.Masker{})
		require.ErrorContains(t, err, fmt.Sprintf("its event %q has ", kind), place)
		assert.Regexp(t, fmt.Sprintf(`more than %d\b`, c.most), err.Error(), place)
	}
	for place, anything := range map[string]bool{
		"decided/usage/cost_usd": false, "decided/usage/input_tokens": false, "measured/seconds": false,
		"checked/durations/propose": false, "finished/evaluation/cost_usd": false, "proposed/proposal": false,
		"measured/numbers/a": true, "decided/best": true,
	} {
		kind, at, _ := strings.Cut(place, "/")
		for _, number := range []string{"-1", "1000000000001", "1000000000000", "0"} {
			_, err := decodeOne(t, history.EventKind(kind), with(eventOf(t, history.EventKind(kind)), at,
				json.Number(number)), process.Masker{})
			assert.Equal(
				t,
				anything || len(number) != 2 && number != "1000000000001",
				err == nil,
				"%s %s",
				place,
				number,
			)
		}
	}
	p := &Proposal{Manifest: Manifest{Kind: forIteration}, Decided: &history.Decided{}}
	for range 1001 {
		p.Proposed = append(p.Proposed, &history.Proposed{})
	}
	require.ErrorContains(t, p.Sanitize(process.Masker{}), "more than 1000 events")
}

// TestSecretsInTextsAreHidden: whatever an agent or an evaluation says may have one of the
// publishing job in it. What is a name, a digest or a path is not changed: a
// bundle with a secret in it is refused before it is decoded.
func TestSecretsInTextsAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2" // short enough to be a word
	masker := process.NewMasker(nil, secret)
	hidden := map[history.EventKind][]string{}
	for kind := range all {
		event := eventOf(t, kind)
		for _, place := range places(event, "") {
			if _, is := at(event, place).(string); !is || isChecked(kind, place) {
				continue
			}
			left, err := decodeOne(t, kind, with(event, place, "say "+secret+" twice: "+secret), masker)
			require.NoError(t, err, "%s %s", kind, place)
			text, _ := at(left, told(place)).(string)
			if !strings.Contains(text, secret) {
				assert.Contains(t, strings.ReplaceAll(text, "-", " "), "say", "%s %s", kind, place)
				hidden[kind] = append(hidden[kind], strings.TrimPrefix(place, "/"))
			}
		}
	}
	assert.Equal(t, map[history.EventKind][]string{
		"measured": {"output", "problem", "reason/words", "rejected_reason"},
		"proposed": {
			"agent", "focus", "foreclosed/0", "ideas/0", "lessons/0", "model", "reasons/0/words", "summary",
			"warning/0/words",
		},
		"decided": {
			"agent", "focus", "foreclosed/0", "ideas/0", "lessons/0", "model", "reasons/0/words", "summary",
			"warning/0/words",
		},
		"checked":  {"agent", "failed/words", "reasons/0/words", "signature", "summary"},
		"finished": {"agent", "reason/words", "summary"},
	}, hidden)
}

// TestReasonsOfABundleAreMarkedClaimed: reasons and warnings of the proposing job say that they are its own, in one
// line; names have nothing in them that a name does not have.
func TestReasonsOfABundleAreMarkedClaimed(t *testing.T) {
	t.Parallel()
	const hostile, line = "✅ CI\x1b[2J is green\n\n::error::x @octocat", "✅ CI is green ::error::x @octocat"
	for kind := range all {
		event := eventOf(t, kind)
		for _, place := range []string{"/reasons/0", "/warning/0"} {
			if at(event, place) == nil {
				continue
			}
			left, err := decodeOne(t, kind, with(event, place+"/words", hostile), process.Masker{})
			require.NoError(t, err)
			assert.Equal(t, line, at(left, told(place+"/words")), "%s %s", kind, place)
			_, err = decodeOne(t, kind, with(event, place+"/kind", "made-up"), process.Masker{})
			require.ErrorContains(t, err, "which does not exist")
			assert.Equal(t, "claimed", at(left, place+"/kind"), "%s %s", kind, place)
		}
	}
	for _, c := range []struct{ name, want string }{
		{"", ""},
		{"openai/gpt-4.1+x@2[beta]", "openai/gpt-4.1+x@2[beta]"},
		{"a  b\tc", "a-b-c"},
		{"`x`|<b>é", "-x-b-"},
		{hostile, "-CI-[2J-is-green-::error::x-@octocat"},
		{strings.Repeat("x", 201), strings.Repeat("x", 200)},
	} {
		assert.Equal(t, c.want, pureName(c.name))
	}
}

// TestAncestorOfCandidate: it can only have grown from one of an earlier iteration.
func TestAncestorOfCandidate(t *testing.T) {
	t.Parallel()
	for from, is := range map[[2]int]bool{{1, 1}: true, {1, 0}: false, {0, 1}: false, {2, 1}: false} {
		event := with(eventOf(t, "proposed"), "/grown_from", map[string]any{"iteration": from[0], "proposal": from[1]})
		left, err := decodeOne(t, "proposed", event, process.Masker{})
		require.NoError(t, err)
		assert.Equal(t, is, left["grown_from"] != nil, from)
	}
}
