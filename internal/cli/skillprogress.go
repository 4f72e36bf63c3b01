package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/autoloop/internal/plain"
)

// skillProgress shows what a run is at: lines for what has ended, and on a terminal
// one that is drawn again and again, with what the improver said last and for how
// long it has worked.
type skillProgress struct {
	out  io.Writer
	now  func() time.Time
	live *liveLine

	mu    sync.Mutex
	doing string
	said  string
	begun time.Time
}

func newSkillProgress(env Env) *skillProgress {
	p := &skillProgress{out: env.Stderr, now: env.Now}
	p.live = newLiveLine(env, p.line)
	return p
}

// Begin says what goes on from now.
func (p *skillProgress) Begin(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.said, p.begun = doing, "", p.now()
	if p.live == nil && doing != "" {
		fmt.Fprintln(p.out, doing)
	}
}

// Improving is told of the improver.
func (p *skillProgress) Improving(iteration int, line string) {
	if line == "" {
		p.Begin(fmt.Sprintf("iteration %d: the improver works", iteration))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = line
}

// Tell prints a line about something that has ended.
func (p *skillProgress) Tell(to io.Writer, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	fmt.Fprintln(to, line)
}

// Close leaves an empty line.
func (p *skillProgress) Close() { p.live.Close() }

func (p *skillProgress) line(sign string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return ""
	}
	text := fmt.Sprintf("%s (%ds) %s", sign, int(p.now().Sub(p.begun).Seconds()), p.doing)
	if p.said != "" {
		text += ": " + plain.Short(p.said, liveWidth)
	}
	return text
}
