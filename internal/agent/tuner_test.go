package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// tuned is a Tuner's work on a directory with one file.
func tuned(t *testing.T, name, text string, past ...*history.Decided) (reply Reply, after string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	require.NoError(t, os.Symlink(name, filepath.Join(dir, "link.go")))
	measured := metric.MustValue("5")
	reply, err := Tuner{}.Propose(t.Context(), Request{
		Dir: dir, Targets: []string{name, "link.go", "missing.go"}, Direction: metric.Lower, Incumbent: &measured,
		History: past,
	})
	require.NoError(t, err)
	info := must(os.Stat(file))
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	written := must(os.ReadFile(file))
	missing := Tuner{}.Missing(Request{Dir: dir, Targets: []string{name, "link.go", "../x.go"}})
	assert.Equal(t, name == "plain.go", missing != "")
	return reply, string(written)
}

func TestTuningWritesOnlyTheNumbers(t *testing.T) {
	const text = "package x\n\nconst (\n\ta = 50.0 // tune: 0..1\n\tb = 20 // tune: 1..400 int log\n)\n"
	reply, after := tuned(t, "x.go", text)
	require.Nil(t, reply.Failure)
	assert.Contains(t, reply.Summary, "a 50 → ")
	assert.Contains(t, reply.Summary, " (was outside 0..1)")
	require.Len(t, reply.Params, 2)
	values := map[string]float64{}
	for name, value := range reply.Params {
		values[name] = value.Float64()
	}
	assert.LessOrEqual(t, values["x.go:a"], 1.0)
	before := must(tuner.ParseFile("x.go", []byte(text)))
	assert.Equal(t, string(before.Rewrite(values)), after, "the numbers are the values")
	again, _ := tuned(t, "x.go", text, &history.Decided{Work: history.Work{Params: reply.Params}})
	assert.NotEqual(t, reply.Params, again.Params)
}

func TestMarksThatMakeTheTunerUnavailable(t *testing.T) {
	for name, text := range map[string]string{
		"plain.go": "x = 50.0\n", "bad.go": "x = 50.0 // tune: 1..0\n",
		"narrow.go": "\nx = 50.0 // tune: 1..1.0000000000000002\n",
	} {
		reply, after := tuned(t, name, text)
		require.NotNil(t, reply.Failure, name)
		assert.Equal(t, Unavailable, reply.Failure.Kind)
		golden.Row(t, name, reply.Failure.Message)
		assert.Equal(t, text, after)
	}
}

func TestHistoryOf(t *testing.T) {
	number := func(text string) *metric.Value {
		if text == "" {
			return nil
		}
		v := metric.MustValue(text)
		return &v
	}
	golden.Table(t, map[string]string{ // of each proposal: iteration, x, measured, before, kept
		"nothing yet: the incumbent's present values": " => -:5",
		"none accepted": "1,1,7,,;2,2,,, => -:5 1:7 2:-",
		"accepted":      "1,1,7,,;2,2,5,,kept => 1:7 2:5",
		"another agent's work is the present, and lifted all alike": "1,1,6,8,kept;2,,5,6,kept;3,,9,5,;4,2,7,5," +
			" => 1:6 -:6 2:8",
		"better and yet refused counts no better than what was there": "1,1,5,,kept;2,2,1,, => 1:5 2:5",
		"the incumbent measured anew moves nothing": "1,1,5,7,kept;2,2,7,6.5,;3,3,4,6,kept;4,4,5,5.5," +
			" => 1:5 2:5.5 3:3 4:3",
		"several proposals of one iteration": "1,1,8,9,;1,2,7,9,kept;1,3,6,9,;9,4,8,7, => 1:8 2:7 3:7 4:8",
		"differences are exact":              "1,1,0.3,0.1,;2,2,0.5,0.3, => -:0.1 1:0.3 2:0.3",
	}, func(_ *testing.T, rows string) any {
		request := Request{Direction: metric.Lower, Incumbent: number("5")}
		for line := range strings.SplitSeq(strings.TrimSpace(rows), ";") {
			if line == "" {
				continue
			}
			field := strings.Split(line, ",")
			past := &history.Decided{Metric: number(field[2]), PreviousBest: number(field[3])}
			if field[4] == "kept" {
				past.Outcome = history.Accepted
			}
			past.Iteration, _ = strconv.Atoi(field[0])
			if x := number(field[1]); x != nil {
				past.Params = map[string]metric.Value{"x": *x}
			}
			request.History = append(request.History, past)
		}
		var got []string
		for _, trial := range historyOf(request) {
			x, value := "-", "-"
			if at, ok := trial.Params["x"]; ok {
				x = fmt.Sprint(at)
			}
			if trial.Value != nil {
				value = fmt.Sprint(*trial.Value)
			}
			got = append(got, x+":"+value)
		}
		return strings.Join(got, " ")
	})
}

// TestTunerSaysThatNothingIsLeft runs the agent until it has tried all three
// values: it then changes nothing, and says so.
func TestTunerSaysThatNothingIsLeft(t *testing.T) {
	const text = "x = 1 // tune: 1..3 int\n"
	measured := metric.MustValue("5")
	var past []*history.Decided
	for range 2 {
		reply, _ := tuned(t, "x.go", text, past...)
		require.Nil(t, reply.Failure)
		tried := &history.Decided{Work: history.Work{Params: reply.Params}, Metric: &measured}
		require.NotContains(t, past, tried)
		past = append(past, tried)
	}
	reply, after := tuned(t, "x.go", text, past...)
	assert.Nil(t, reply.Failure)
	assert.Nil(t, reply.Params)
	assert.Contains(t, reply.Summary, "nothing left to try")
	assert.Equal(t, text, after)
}
