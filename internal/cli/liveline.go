package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/autoloop/internal/plain"
)

const (
	// liveWidth is how wide a live line may be, in characters.
	liveWidth = 100
	// beat is how often it is drawn.
	beat = 100 * time.Millisecond
)

// frames is the moving sign in front of a live line.
var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// liveLine is a line of a terminal that is drawn again and again.
type liveLine struct {
	out     io.Writer
	text    func(sign string) string
	stopped chan struct{}
	drawing sync.WaitGroup
}

// newLiveLine draws what text returns, nothing while that is "". It is nil where
// standard error is no terminal that can draw again.
func newLiveLine(env Env, text func(sign string) string) *liveLine {
	if !env.Terminal || env.Getenv("TERM") == "dumb" {
		return nil
	}
	l := &liveLine{out: env.Stderr, text: text, stopped: make(chan struct{})}
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
	fmt.Fprint(l.out, "\r\x1b[K")
}

func (l *liveLine) draw() {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-l.stopped:
			return
		case <-ticker.C:
			if text := l.text(frames[frame%len(frames)]); text != "" {
				fmt.Fprintf(l.out, "\r\x1b[K%s", plain.Clip(text, liveWidth))
			}
		}
	}
}
