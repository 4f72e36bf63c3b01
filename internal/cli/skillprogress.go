package cli

import (
	"fmt"
	"io"

	"github.com/org/autoloop/internal/plain"
)

// skillProgress shows what a run is at: lines for what has ended, and on a terminal
// one that is drawn again and again, with what the improver said last and for how
// long it has worked.
type skillProgress struct {
	display

	doing string
	said  string
}

func newSkillProgress(env Env) *skillProgress {
	p := &skillProgress{display: display{out: env.Stderr, now: env.Now}}
	p.liveLine = newLiveLine(env, p.line)
	return p
}

// Begin says what goes on from now.
func (p *skillProgress) Begin(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.said, p.begun = doing, "", p.now()
	if p.liveLine == nil && doing != "" {
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
	p.Between(func() { fmt.Fprintln(to, line) })
}

func (p *skillProgress) line(sign string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return ""
	}
	text := fmt.Sprintf("%s (%ds) %s", sign, p.seconds(), p.doing)
	if p.said != "" {
		text += ": " + plain.Short(p.said, liveWidth)
	}
	return text
}
