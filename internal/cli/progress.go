package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
)

const (
	// liveWidth is how wide the status line may be, in characters; a narrower terminal
	// has less.
	liveWidth = 100
	// beat is how often it is drawn.
	beat = 100 * time.Millisecond
	// repeat is how often what takes long is said again where no line is drawn.
	repeat = 10 * time.Second
	// erase removes it.
	erase = "\r\x1b[K"
)

// frames is the moving sign in front of the status line.
var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// progress shows what goes on: on a terminal by a status line that is drawn again and
// again, with for how long; elsewhere by a plain line for each thing, which is said
// again while it goes on.
type progress struct {
	out     io.Writer
	now     func() time.Time
	live    bool
	width   int
	stopped chan struct{}
	drawing sync.WaitGroup

	mu    sync.Mutex
	doing string
	begun time.Time
	said  string // by who does it
	// kept of ended iterations of this run were, with the best metric and what they cost.
	kept, ended int
	best        *metric.Value
	usd         float64
}

func newProgress(env Env) *progress { return newProgressEvery(env, repeat) }

// newProgressEvery says plain lines again at every interval.
func newProgressEvery(env Env, every time.Duration) *progress {
	p := &progress{out: env.Stderr, now: env.Now, width: liveWidth, stopped: make(chan struct{})}
	if columns := env.TableWidth(); columns > 1 {
		p.width = min(p.width, columns-1) // a line that fills the last column is two in some terminals
	}
	if p.live = env.Terminal && env.Getenv("TERM") != "dumb"; p.live {
		every = beat
	}
	p.drawing.Go(func() { p.draw(every) })
	return p
}

// Begin says what goes on from now; "" is nothing.
func (p *progress) Begin(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.said, p.begun = plain.Line(doing), "", p.now()
	if !p.live && doing != "" {
		fmt.Fprintln(p.out, doing)
	}
}

// Say adds to the status line what somebody said who does it.
func (p *progress) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = line
}

// Between prints something that stays above the status line.
func (p *progress) Between(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		fmt.Fprint(p.out, erase)
	}
	print()
}

// Close ends the drawing and leaves an empty line.
func (p *progress) Close() {
	close(p.stopped)
	p.drawing.Wait()
	if p.live {
		fmt.Fprint(p.out, erase)
	}
}

func (p *progress) draw(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-p.stopped:
			return
		case <-ticker.C:
			p.mu.Lock()
			switch {
			case p.doing == "":
			case p.live:
				fmt.Fprint(p.out, erase+plain.Clip(p.line(frames[frame%len(frames)]), p.width))
			default:
				fmt.Fprintf(p.out, "still (%ds): %s\n", p.seconds(), p.doing)
			}
			p.mu.Unlock()
		}
	}
}

// line is the status line.
func (p *progress) line(sign string) string {
	text := fmt.Sprintf("%s (%ds) %s", sign, p.seconds(), p.doing)
	if p.said != "" {
		text += ": " + plain.Short(p.said, liveWidth)
	}
	return text + p.totals()
}

// seconds is for how long it goes on.
func (p *progress) seconds() int { return int(p.now().Sub(p.begun).Seconds()) }

// Step begins a step of an iteration; a minor one is shown on a terminal alone.
func (p *progress) Step(s live.Status) {
	if p.live || !s.Minor {
		p.Begin(s.String())
	}
}

// Ended adds an iteration to what the run adds up to.
func (p *progress) Ended(r render.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if p.best = r.BestMetric; r.Outcome == history.Accepted {
		p.kept++
	}
	if r.Usage != nil && r.Usage.CostUSD != nil {
		p.usd += r.Usage.CostUSD.Float64()
	}
}

// totals is what the iterations of this run add up to.
func (p *progress) totals() string {
	if p.ended == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d of %d kept", p.kept, p.ended)
	if p.best != nil {
		text += ", best " + render.Figure(p.best)
	}
	if p.usd > 0 {
		text += ", " + render.USD(p.usd)
	}
	return text
}
