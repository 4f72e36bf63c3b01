package render_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const text = "---\nmetric: seconds\nmetric_direction: lower\ntarget-metric: 1\nguardrails:\n  - {metric: size, max-regression: 5%}\n---\n" +
	"## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\ngo run ./bench # prints ``` too\n```\n"

// hostile is what an agent might say.
const hostile = "faster | @octocat <img src=x onerror=alert(1)> ![x](http://evil) <!-- AUTOLOOP:STATUS -->\nsecond line"

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// account is a program with a baseline, a gain, a rejection and an error.
func account(t *testing.T) render.Account {
	t.Helper()
	cost, in, out := value("0.12"), int64(1200), int64(300)
	events := []history.Event{
		{Kind: history.Started, Run: "r1", Iteration: 1, Time: noon},
		{Kind: history.Measured, Role: history.Baseline, Metric: value("8"), Commit: "b45e"},
		{
			Kind: history.Decided, Iteration: 1, Outcome: history.Accepted, Metric: value("6"), PreviousBest: value("8"), Best: value("6"), Delta: "-2",
			Summary: hostile, Reasons: []string{"6 is better than 8", hostile}, Agent: "claude", Model: "m-1", Commit: strings.Repeat("c", 40),
			Usage: &history.Usage{CostUSD: cost, InputTokens: &in, OutputTokens: &out}, Durations: map[string]float64{"propose": 12, "measure": 3.25},
			Evaluation: &history.Expense{Tokens: &in, CostUSD: cost, UnknownUSD: 2},
		},
		{Kind: history.Finished, Run: "r1"},
		{
			Kind: history.Decided, Iteration: 2, Outcome: history.Rejected, Metric: value("7"), PreviousBest: value("6"), Best: value("6"), Delta: "+1",
			Summary: "slower", Reasons: []string{"7 is not better than 6"}, Agent: "tuner",
		},
		{Kind: history.Decided, Iteration: 3, Outcome: history.Error, Best: value("6"), Reasons: []string{"the evaluation fails"}, Agent: "tuner"},
	}
	doc := state.New("speed")
	m := doc.Machine()
	m.LastRun, m.IterationCount, m.BestMetric, m.InitialMetric, m.Issue = &noon, 3, value("6"), value("8"), 4
	m.RecentStatuses = []string{"accepted", "rejected", "error"}
	doc.SetMachine(m)
	for i := range 14 {
		doc.AddEntry(state.Entry{Iteration: i + 1, Time: noon, Status: state.Rejected, Change: fmt.Sprintf("try %d", i+1), Metric: value("7")})
	}
	p := program.Parse(".autoloop/programs/speed.md", []byte(text))
	require.NoError(t, p.Err())
	return render.Account{Program: p, Events: events, State: doc.Bytes(), RunURL: "https://github.test/run/1"}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestGolden(t *testing.T) {
	t.Parallel()
	a := account(t)
	golden(t, "status.md", render.Status(a))
	golden(t, "pull.md", render.Pull(a, 4))
	golden(t, "accepted.md", render.Iteration(a, a.Decided()[0]))
	golden(t, "error.md", render.Iteration(a, a.Decided()[2]))
	golden(t, "issue.md", render.Issue(a))
}

func TestWhatAgentsSayIsHarmless(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.Warnings = []string{hostile}
	for _, body := range []string{render.Status(a), render.Pull(a, 4), render.Iteration(a, a.Decided()[0]), render.Notice(a, 1, "paused", hostile, []string{"alice"})} {
		assert.NotContains(t, strings.ReplaceAll(body, "@alice", ""), "@octocat")
		assert.NotContains(t, body, "<img")
		assert.NotContains(t, body, "![x]")
		assert.Equal(t, 1, strings.Count(body, "<!--"), "our mark alone")
		assert.True(t, render.Marked(body))
	}
}

func TestStatusSaysHowItStands(t *testing.T) {
	t.Parallel()
	a := account(t)
	assert.Contains(t, render.Status(a), "▶️ **Running**")
	a.Events = append(a.Events, history.Event{Kind: history.Paused, Reason: "plateau"})
	assert.Contains(t, render.Status(a), "⏸️ **Paused**: plateau")
	a.Events = append(a.Events, history.Event{Kind: history.Completed, Reason: "target reached"})
	assert.Contains(t, render.Status(a), "🏁 **Completed**: target reached")
	assert.Equal(t, 10, strings.Count(render.Status(a), "\n### Iteration "), "the latest ten")
}

func TestChartIsThinnedAndPlain(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.Events = a.Events[:2]
	assert.Empty(t, render.Chart(a), "one point is no line")
	for i := range 500 {
		a.Events = append(a.Events, history.Event{Kind: history.Decided, Iteration: i + 1, Outcome: history.Rejected, Best: value("1e-9")})
	}
	chart := render.Chart(a)
	assert.LessOrEqual(t, strings.Count(chart, ","), 2*40)
	assert.Contains(t, chart, `"500"`, "its end is kept")
	assert.NotContains(t, chart, "e-09")
	a.Program.Metric = "a\"]b\n```"
	assert.Contains(t, render.Chart(a), "best a  b", "nothing of a name ends the quotation")
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.State = append(a.State, strings.Repeat("- mine\n", 20_000)...)
	for i := range 100 {
		a.Events = append(a.Events, history.Event{Kind: history.Decided, Iteration: i + 4, Outcome: history.Accepted, Best: value("1"), Summary: strings.Repeat("ä", 5000)})
	}
	for _, body := range []string{render.Status(a), render.Pull(a, 4)} {
		assert.LessOrEqual(t, len(body), 65_536)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	n, ok := render.IterationOf(render.IterationMark(12) + "\nx")
	assert.True(t, ok)
	assert.Equal(t, 12, n)
	for _, body := range []string{"> " + render.IterationMark(12), " " + render.StatusMark, "hello", "<!-- AUTOLOOP:ITERATION 99999999999999999999 -->"} {
		_, ok := render.IterationOf(body)
		assert.False(t, ok, body)
	}
	assert.False(t, render.Marked("> "+render.StatusMark), "a quotation is not ours")
}
