package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
)

func number64(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// TestProgressBlock: what a run shows on a terminal, and that piped it is a line
// a step.
func TestProgressBlock(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	env := Env{Stderr: &out, Now: func() time.Time { return now }, Getenv: func(string) string { return "" }}
	steps := []loop.Step{
		{Program: "speed", Iteration: 4, Name: "propose", Detail: "claude"},
		{Program: "speed", Iteration: 4, Name: "measure", Detail: "pair 3 of 8", Minor: true},
	}
	plain := newProgress(env)
	for _, step := range steps {
		plain.Step(step)
	}
	plain.Ended(loop.Result{Iteration: 4, Outcome: history.Rejected})
	plain.Close()
	assert.Equal(t, "speed #4 propose: claude\n", out.String())

	shown := &progress{display: display{now: env.Now, liveLine: &liveLine{}}}
	assert.Empty(t, shown.block("*"))
	shown.Step(steps[0])
	now = now.Add(7 * time.Second)
	assert.Equal(t, "* speed #4 propose: claude (7s)", shown.block("*"))
	shown.Step(loop.Step{Program: "speed", Iteration: 4, Name: "measured", Detail: "90"})
	assert.Equal(t, "* speed #4 measured: 90 (0s)  best so far 90", shown.block("*"))
	usage := &metric.Usage{CostUSD: number64("0.25")}
	shown.Ended(loop.Result{Iteration: 1, Outcome: history.Rejected, Initial: number64("100"), BestMetric: number64("100"), Reasons: []string{"no gain"}, Usage: usage})
	shown.Ended(loop.Result{Iteration: 2, Outcome: history.Error, BestMetric: number64("100"), Reasons: []string{"the agent\x1b[2J failed"}})
	shown.Ended(loop.Result{Iteration: 3, Outcome: history.Accepted, BestMetric: number64("90"), Metric: number64("90"), Summary: "use a table", Usage: usage})
	shown.Ended(loop.Result{Iteration: 4, Outcome: history.Rejected, BestMetric: number64("90"), Metric: number64("95.12345678"), Reasons: []string{"worse"}})
	assert.Equal(t, []string{
		"* speed #4 measured: 90 (0s)",
		"  best 90 ███▁▁, 1 of 4 kept, 0.50 USD",
		"  #2 error: the agent failed", "  #3 accepted 90: use a table", "  #4 rejected 95.1235: worse",
	}, strings.Split(shown.block("*"), "\n"))
}

// TestLiveBlock draws a block over itself, however many lines it had, and leaves
// nothing.
func TestLiveBlock(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "\r\x1b[K", erase(0))
	assert.Equal(t, "\r\x1b[K", erase(1))
	assert.Equal(t, "\r\x1b[3A\x1b[J", erase(4))
	var out bytes.Buffer
	lines := make(chan string, 3)
	lines <- "one"
	lines <- "one\ntwo"
	lines <- ""
	drawn := make(chan struct{})
	l := newLiveLine(Env{Stderr: &out, Terminal: true, Getenv: func(string) string { return "" }}, func(string) string {
		select {
		case text := <-lines:
			if text == "" {
				close(drawn)
			}
			return text
		default:
			return ""
		}
	})
	<-drawn
	l.Close()
	assert.Equal(t, "\r\x1b[Kone"+"\r\x1b[Kone\ntwo"+"\r\x1b[1A\x1b[J", out.String())
}

// TestALiveLineFitsTheTerminal: it is one column narrower than the terminal, and where
// nothing can be drawn again no line is shown.
func TestALiveLineFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const text = "a line that is longer than twenty characters"
	for name, c := range map[string]struct {
		terminal bool
		width    int
		term     string
		drawn    string // "" for no live line
	}{
		"narrow":         {true, 20, "xterm", "a line that is lon…"},
		"wide":           {true, 200, "xterm", text},
		"unknown width":  {true, 0, "xterm", text},
		"a dumb one":     {true, 80, "dumb", ""},
		"no terminal":    {false, 80, "xterm", ""},
		"of one column":  {true, 1, "xterm", text},
		"of two columns": {true, 2, "xterm", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			env := Env{Stderr: &out, Terminal: c.terminal, Width: c.width, Getenv: func(string) string { return c.term }}
			asked := make(chan struct{})
			var once sync.Once
			l := newLiveLine(env, func(string) string {
				once.Do(func() { close(asked) })
				return text
			})
			if c.drawn == "" {
				require.Nil(t, l)
				l.Between(func() { out.WriteString("printed\n") })
				l.Close()
				assert.Equal(t, "printed\n", out.String())
				return
			}
			<-asked
			l.Close()
			assert.Equal(t, "\r\x1b[K"+c.drawn, strings.SplitAfterN(out.String(), c.drawn, 2)[0])
			assert.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"), "an empty line is left")
		})
	}
}

// TestBetween prints above the block, which is drawn below it again.
func TestBetween(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &liveLine{out: &out, drawn: 3}
	l.Between(func() { out.WriteString("iteration 1\n") })
	assert.Equal(t, "\r\x1b[2A\x1b[Jiteration 1\n", out.String())
	assert.Zero(t, l.drawn, "nothing is erased twice")
}
