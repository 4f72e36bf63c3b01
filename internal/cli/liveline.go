package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/org/autoloop/internal/plain"
)

const (
	// liveWidth is how wide a live line may be, in characters; a narrower terminal
	// has less.
	liveWidth = 100
	// beat is how often it is drawn.
	beat = 100 * time.Millisecond
)

// frames is the moving sign in front of a live line.
var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// liveLine is a line of a terminal, or a few, that are drawn again and again.
type liveLine struct {
	out     io.Writer
	text    func(sign string) string
	stopped chan struct{}
	drawing sync.WaitGroup
	width   int

	mu    sync.Mutex
	drawn int // lines
}

// display shows how far something is: on a terminal by a live line, elsewhere by
// plain ones.
type display struct {
	*liveLine // nil elsewhere

	out   io.Writer
	now   func() time.Time
	mu    sync.Mutex
	begun time.Time // of what goes on
}

// seconds is for how long it goes on.
func (d *display) seconds() int { return int(d.now().Sub(d.begun).Seconds()) }

// newLiveLine draws what text returns, nothing while that is "". It is nil where
// standard error is no terminal that can draw again.
func newLiveLine(env Env, text func(sign string) string) *liveLine {
	if !env.Terminal || env.Getenv("TERM") == "dumb" {
		return nil
	}
	l := &liveLine{out: env.Stderr, text: text, stopped: make(chan struct{}), width: liveWidth}
	if columns := env.TableWidth(); columns > 1 {
		l.width = min(l.width, columns-1) // a line that fills the last column is two in some terminals
	}
	l.drawing.Go(l.draw)
	return l
}

// Close ends the drawing and leaves an empty line.
func (l *liveLine) Close() {
	if l == nil {
		return
	}
	close(l.stopped)
	l.drawing.Wait()
	fmt.Fprint(l.out, erase(l.drawn))
}

// Between prints something that stays above the line.
func (l *liveLine) Between(print func()) {
	if l == nil {
		print()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprint(l.out, erase(l.drawn))
	l.drawn = 0
	print()
}

// erase removes so many lines, from the one where the terminal is upwards.
func erase(lines int) string {
	if lines < 2 {
		return "\r\x1b[K"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", lines-1)
}

func (l *liveLine) draw() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-l.stopped:
			return
		case <-ticker.C:
			text := l.text(frames[frame%len(frames)])
			if text == "" {
				continue
			}
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				lines[i] = plain.Clip(line, l.width)
			}
			l.mu.Lock()
			fmt.Fprint(l.out, erase(l.drawn)+strings.Join(lines, "\n"))
			l.drawn = len(lines)
			l.mu.Unlock()
		}
	}
}
