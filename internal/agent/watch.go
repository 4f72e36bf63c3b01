package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
)

// The reasons for which we end an agent before it ends by itself.
var (
	errHopeless = errors.New("it waits for what will not come")
	errFinished = errors.New("its work is over")
	errLimit    = errors.New("it used more than it may")
)

// maxLine bounds one line of output with its break; what is longer is not read.
const maxLine = 8 << 20

// watch listens to an agent while it works, and ends it when there is nothing
// to wait for, or when it has used what it may.
type watch struct {
	mu     sync.Mutex // while the process runs
	reader commandline.Reader
	limit  metric.Limit
	linger time.Duration
	end    context.CancelCauseFunc
	timer  *time.Timer
	tails  []*lines
	// words, optional, is told what the agent said last.
	words func(string)
}

// stream returns a writer that hands complete lines to hear.
func (w *watch) stream(hear func(commandline.Reader, []byte)) io.Writer {
	tail := &lines{hear: func(line []byte) { w.line(hear, line) }}
	w.tails = append(w.tails, tail)
	return tail
}

func (w *watch) line(hear func(commandline.Reader, []byte), line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hear(w.reader, line)
	heard := w.reader.SoFar()
	if w.words != nil && heard.Words != "" {
		w.words(heard.Words)
	}
	switch {
	case heard.Problem != nil && heard.Problem.Final:
		w.end(errHopeless)
	case exceeded(w.limit, heard.Model, heard.Usage):
		w.end(errLimit)
	case heard.Done && w.timer == nil:
		w.timer = time.AfterFunc(w.linger, func() { w.end(errFinished) })
	}
}

// finish hears what came without a last line break, and the telemetry, when there is any.
func (w *watch) finish(home, telemetry string) {
	for _, tail := range w.tails {
		tail.flush()
	}
	reader, is := w.reader.(interface{ Telemetry(line []byte) })
	root, err := os.OpenRoot(home)
	if !is || err != nil {
		return
	}
	defer root.Close()
	spans, _ := files.ReadRegular(root, telemetry, 4*maxLine) // of a larger file its beginning
	for span := range bytes.Lines(spans) {
		reader.Telemetry(span)
	}
}

// exceeded reports whether what is known of a model's usage is over the limit.
func exceeded(l metric.Limit, model string, usage metric.Usage) bool {
	if used := usage.Tokens(); l.Tokens > 0 && used != nil && *used > l.Tokens {
		return true
	}
	if l.CostUSD == nil {
		return false
	}
	cost := cmp.Or(usage.CostUSD, Price(model, usage))
	return cost != nil && cost.Cmp(*l.CostUSD) > 0
}

// lines is a writer that hears whole lines, without their breaks.
type lines struct {
	hear    func([]byte)
	rest    []byte
	skipped bool // the line is longer than maxLine
}

// Write never fails.
func (l *lines) Write(data []byte) (int, error) {
	for part := range bytes.Lines(data) {
		if l.skipped = l.skipped || len(l.rest)+len(part) > maxLine; !l.skipped {
			l.rest = append(l.rest, part...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			l.flush()
		}
	}
	return len(data), nil
}

func (l *lines) flush() {
	if line := bytes.TrimSpace(l.rest); len(line) > 0 && !l.skipped {
		l.hear(line)
	}
	l.rest, l.skipped = l.rest[:0], false
}
