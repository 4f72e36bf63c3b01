package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/autoloop/internal/loop"
)

// progress shows the steps of a run: on a terminal one line that is drawn
// again, with the time that the step takes; elsewhere a plain line a step.
type progress struct {
	out  io.Writer
	now  func() time.Time
	live *liveLine

	mu     sync.Mutex
	text   string
	begun  time.Time
	metric string
}

func newProgress(env Env) *progress {
	p := &progress{out: env.Stderr, now: env.Now}
	p.live = newLiveLine(env, p.line)
	return p
}

// Step begins a step.
func (p *progress) Step(step loop.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step.Name == "measured" {
		p.metric = step.Detail
	}
	text := fmt.Sprintf("%s #%d %s", step.Program, step.Iteration, step.Name)
	if step.Detail != "" {
		text += ": " + step.Detail
	}
	if p.live == nil {
		if !step.Minor {
			fmt.Fprintln(p.out, text)
		}
		return
	}
	p.text, p.begun = text, p.now()
}

// Close ends live drawing and leaves an empty line.
func (p *progress) Close() { p.live.Close() }

func (p *progress) line(sign string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" {
		return ""
	}
	line := fmt.Sprintf("%s %s (%ds)", sign, p.text, int(p.now().Sub(p.begun).Seconds()))
	if p.metric != "" {
		line += "  best so far " + p.metric
	}
	return line
}
