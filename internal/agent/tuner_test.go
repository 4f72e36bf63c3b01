package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

func TestTuningWritesOnlyTheNumbers(t *testing.T) {
	dir := t.TempDir()
	text := "package x\n\nconst (\n\ta = 0.5 // tune: 0..1\n\tb = 20 // tune: 1..400 int log\n)\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.go"), []byte("package x\n"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()

	files, proposed, err := proposeTuning(root, []string{"x.go", "y.go", "missing.go"}, nil, metric.Lower, 1)
	require.NoError(t, err)
	require.NoError(t, writeTuning(root, files, proposed.Values))
	after, err := os.ReadFile(filepath.Join(dir, "x.go"))
	require.NoError(t, err)
	assert.NotEqual(t, text, string(after))
	info, err := os.Stat(filepath.Join(dir, "x.go"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())

	written, err := tuner.ParseFile("x.go", after)
	require.NoError(t, err)
	assert.Equal(t, string(after), string(written.Rewrite(proposed.Values)), "the numbers are the values")
	params, err := proposed.Params()
	require.NoError(t, err)
	require.Len(t, params, 2)
	for name, value := range proposed.Values {
		assert.InDelta(t, value, params[name].Float64(), 0, name)
	}
	assert.Contains(t, proposed.Summary, "→")

	_, again, err := proposeTuning(root, []string{"x.go"},
		[]tuner.Observation{trialOf(PastIteration{Params: params}, nil)}, metric.Lower, 1)
	require.NoError(t, err)
	assert.NotEqual(t, proposed.Values, again.Values)
}

func TestTuningNotesAndErrors(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("x = 50.0 // tune: 0..1\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.go"), []byte("x = 50.0 // tune: 1..0\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "narrow.go"),
		[]byte("\nx = 50.0 // tune: 1..1.0000000000000002\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain.go"), []byte("x = 50.0\n"), 0o644))
	require.NoError(t, os.Symlink("x.go", filepath.Join(dir, "link.go")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()

	_, proposed, err := proposeTuning(root, []string{"x.go"}, nil, metric.Lower, 1)
	require.NoError(t, err)
	assert.Contains(t, proposed.Summary, "x 50 → ")
	assert.Contains(t, proposed.Summary, " (was outside 0..1)")
	assert.LessOrEqual(t, proposed.Values["x.go:x"], 1.0)

	_, _, err = proposeTuning(root, []string{"plain.go", "link.go"}, nil, metric.Lower, 1)
	require.ErrorIs(t, err, tuner.ErrNoMarks)
	_, _, err = proposeTuning(root, []string{"bad.go"}, nil, metric.Lower, 1)
	require.ErrorContains(t, err, "bad.go:1: tune mark: the minimum 1 is not below the maximum 0")
	_, _, err = proposeTuning(root, []string{"narrow.go"}, nil, metric.Lower, 1)
	require.EqualError(t, err, "narrow.go:2: tune mark: the range 1..1.0000000000000002 is too narrow to hold two numbers")
	assert.Equal(t, Unavailable, unavailable(err))

	assert.True(t, HasTuneMarks(dir, []string{"plain.go", "x.go"}))
	assert.True(t, HasTuneMarks(dir, []string{"bad.go"}))
	assert.False(t, HasTuneMarks(dir, []string{"plain.go", "link.go", "../x.go", "missing"}))
	assert.False(t, HasTuneMarks(filepath.Join(dir, "missing"), []string{"x.go"}))
}

func TestHistoryOf(t *testing.T) {
	number := func(text string) *metric.Value { v := metric.MustValue(text); return &v }
	at := func(text string) map[string]metric.Value {
		return map[string]metric.Value{"x": metric.MustValue(text)}
	}
	type pair struct{ x, value any }
	for name, c := range map[string]struct {
		history []PastIteration
		want    []pair
	}{
		"nothing yet: the incumbent's present values": {nil, []pair{{nil, 5.0}}},
		"none accepted": {
			[]PastIteration{{Params: at("1"), Metric: number("7")}, {Params: at("2")}},
			[]pair{{nil, 5.0}, {1.0, 7.0}, {2.0, nil}},
		},
		"accepted": {
			[]PastIteration{
				{Params: at("1"), Metric: number("7")},
				{Params: at("2"), Metric: number("5"), Accepted: true},
			},
			[]pair{{1.0, 7.0}, {2.0, 5.0}},
		},
		"another agent's work is the present, and lifted all alike": {
			[]PastIteration{
				{Params: at("1"), Metric: number("6"), Previous: number("8"), Accepted: true},
				{Metric: number("5"), Previous: number("6"), Accepted: true},
				{Metric: number("9"), Previous: number("5")},
				{Params: at("2"), Metric: number("7"), Previous: number("5")},
			},
			[]pair{{1.0, 6.0}, {nil, 6.0}, {2.0, 8.0}},
		},
		"better and yet refused counts no better than what was there": {
			[]PastIteration{
				{Params: at("1"), Metric: number("5"), Accepted: true},
				{Params: at("2"), Metric: number("1")},
			},
			[]pair{{1.0, 5.0}, {2.0, 5.0}},
		},
		"the incumbent measured anew moves nothing": {
			[]PastIteration{
				{Params: at("1"), Metric: number("5"), Previous: number("7"), Accepted: true},
				{Params: at("2"), Metric: number("7"), Previous: number("6.5")},
				{Params: at("3"), Metric: number("4"), Previous: number("6"), Accepted: true},
				{Params: at("4"), Metric: number("5"), Previous: number("5.5")},
			},
			[]pair{{1.0, 5.0}, {2.0, 5.5}, {3.0, 3.0}, {4.0, 3.0}},
		},
		"several proposals of one iteration": {
			[]PastIteration{
				{Iteration: 1, Params: at("1"), Metric: number("8"), Previous: number("9")},
				{Iteration: 1, Params: at("2"), Metric: number("7"), Previous: number("9"), Accepted: true},
				{Iteration: 1, Params: at("3"), Metric: number("6"), Previous: number("9")},
				{Iteration: 9, Params: at("4"), Metric: number("8"), Previous: number("7")},
			},
			[]pair{{1.0, 8.0}, {2.0, 7.0}, {3.0, 7.0}, {4.0, 8.0}},
		},
		"differences are exact": {
			[]PastIteration{
				{Params: at("1"), Metric: number("0.3"), Previous: number("0.1")},
				{Params: at("2"), Metric: number("0.5"), Previous: number("0.3")},
			},
			[]pair{{nil, 0.1}, {1.0, 0.3}, {2.0, 0.3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.history {
				if c.history[i].Iteration == 0 {
					c.history[i].Iteration = i + 1
				}
			}
			var got []pair
			for _, trial := range historyOf(Request{
				History: c.history, Direction: metric.Lower,
				Incumbent: number("5"),
			}) {
				p := pair{}
				if x, ok := trial.Params["x"]; ok {
					p.x = x
				}
				if trial.Value != nil {
					p.value = *trial.Value
				}
				got = append(got, p)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestTunerSaysThatNothingIsLeft runs the agent until it has tried all three
// values: it then changes nothing, and says so.
func TestTunerSaysThatNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.go")
	const text = "x = 1 // tune: 1..3 int\n"
	measured := metric.MustValue("5")
	request := Request{Dir: dir, Targets: []string{"x.go"}, Direction: metric.Lower, Incumbent: &measured}
	tried := map[string]bool{}
	for range 2 {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		reply, err := Tuner{}.Propose(t.Context(), request)
		require.NoError(t, err)
		require.Nil(t, reply.Failure)
		tried[reply.Params["x.go:x"].String()] = true
		request.History = append(request.History, PastIteration{Params: reply.Params, Metric: &measured})
	}
	assert.Equal(t, map[string]bool{"2": true, "3": true}, tried)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	reply, err := Tuner{}.Propose(t.Context(), request)
	require.NoError(t, err)
	assert.Nil(t, reply.Failure)
	assert.Nil(t, reply.Params)
	assert.Contains(t, reply.Summary, "nothing left to try")
	assert.LessOrEqual(t, len(reply.Summary), MaxSummary)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, text, string(after))
}
