package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/autoloop/internal/iterate"
	"github.com/org/autoloop/internal/report"
)

// progress shows the steps of a run: on a terminal one line that is drawn
// again, with the time that the step takes; elsewhere a plain line a step.
type progress struct {
	out  io.Writer
	now  func() time.Time
	live bool

	mu      sync.Mutex
	text    string
	begun   time.Time
	metric  string
	stopped chan struct{}
}

// frames is the moving sign in front of a live line.
var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

const liveWidth = 100

func newProgress(env Env) *progress {
	p := &progress{out: env.Stderr, now: env.Now, live: env.Terminal && env.Getenv("TERM") != "dumb"}
	if p.live {
		p.stopped = make(chan struct{})
		go p.draw()
	}
	return p
}

// Step begins a step.
func (p *progress) Step(step iterate.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step.Name == "measured" {
		p.metric = step.Detail
	}
	text := fmt.Sprintf("%s #%d %s", step.Program, step.Iteration, step.Name)
	if step.Detail != "" {
		text += ": " + step.Detail
	}
	if !p.live {
		if !step.Minor {
			fmt.Fprintln(p.out, text)
		}
		return
	}
	p.text, p.begun = text, p.now()
}

// Close ends live drawing and leaves an empty line.
func (p *progress) Close() {
	if p.live {
		close(p.stopped)
		p.mu.Lock()
		defer p.mu.Unlock()
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	const beat = 100 * time.Millisecond
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-p.stopped:
			return
		case <-ticker.C:
			p.drawOnce(frames[frame%len(frames)])
		}
	}
}

func (p *progress) drawOnce(sign string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == "" {
		return
	}
	line := fmt.Sprintf("%s %s (%ds)", sign, p.text, int(p.now().Sub(p.begun).Seconds()))
	if p.metric != "" {
		line += "  best so far " + p.metric
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", report.Clip(line, liveWidth))
}
