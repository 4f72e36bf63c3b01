package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/tests/golden"
)

func number64(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// TestStatusLine: what a run shows on a terminal, and that piped it is a line a step.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	env := Env{
		Step: actions.Step{Stderr: &out, Getenv: func(string) string { return "" }},
		Now:  func() time.Time { return now },
	}
	step := live.Status{Program: "speed", Iteration: 4, Stage: "measure", Detail: "pair 3 of 8", Minor: true}
	piped := newProgress(env)
	piped.Step(live.Status{Program: "speed", Iteration: 4, Stage: "propose", Detail: "claude"})
	piped.Step(step)
	piped.Between(func() { out.WriteString("between\n") })
	piped.Close()
	assert.Equal(t, "speed #4 propose: claude\nbetween\n", out.String())

	shown := &progress{now: env.Now, live: true}
	shown.Step(step)
	now = now.Add(7 * time.Second)
	assert.Equal(t, "* (7s) speed #4 measure: pair 3 of 8", shown.line("*"))
	usage := &metric.Usage{CostUSD: number64("0.25")}
	shown.Ended(render.Result{Iteration: 1, Outcome: history.Rejected, BestMetric: number64("100"), Usage: usage})
	shown.Ended(render.Result{Iteration: 2, Outcome: history.Accepted, BestMetric: number64("90"), Usage: usage})
	shown.Begin("iteration 3: the improver works")
	shown.Say("I read the\u200b suite")
	golden.Row(t, "* (0s) iteration 3:", shown.line("*"))
}

// TestStatusLineFitsTerminal: it is one column narrower than the terminal, and where
// nothing can be drawn again no line is shown.
func TestStatusLineFitsTerminal(t *testing.T) {
	t.Parallel()
	const text = "a line that is longer than twenty characters"
	type terminal struct {
		terminal bool
		width    int
		term     string
	}
	for env, want := range map[terminal]string{
		{true, 20, "xterm"}: " (0s) a line that…", {true, 200, "xterm"}: " (0s) " + text,
		{true, 0, "xterm"}: " (0s) " + text, {true, 80, "dumb"}: "", {false, 80, "xterm"}: "",
	} {
		drawn := make(chan string, 100)
		p := newProgress(Env{
			Step: actions.Step{
				Stderr: writerFunc(func(p []byte) (int, error) { drawn <- string(p); return len(p), nil }),
				Getenv: func(string) string { return env.term },
			},
			Terminal: env.terminal, Width: env.width, Now: func() time.Time { return time.Unix(0, 0) },
		})
		p.Begin(text)
		first := <-drawn
		p.Close()
		if want == "" {
			assert.Equal(t, text+"\n", first, env)
			continue
		}
		assert.Regexp(t, `^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`, strings.TrimPrefix(first, erase), env)
		assert.True(t, strings.HasSuffix(first, want), first)
	}
}

// TestLongWorkIsSaidAgain: where no line is drawn, what takes long is no silence.
func TestLongWorkIsSaidAgain(t *testing.T) {
	t.Parallel()
	said := make(chan string, 100)
	p := newProgressEvery(Env{
		Step: actions.Step{
			Stderr: writerFunc(func(p []byte) (int, error) { said <- string(p); return len(p), nil }),
			Getenv: func(string) string { return "" },
		},
		Now: func() time.Time { return time.Unix(0, 0) },
	}, 50*time.Millisecond)
	p.Begin("installing")
	assert.Equal(t, "installing\n", <-said)
	assert.Equal(t, "still (0s): installing\n", <-said)
	p.Begin("")
	for len(said) > 0 {
		<-said
	}
	time.Sleep(120 * time.Millisecond)
	p.Close()
	assert.Empty(t, said, "nothing goes on")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
