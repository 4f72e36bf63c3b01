package evaluation

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/org/autoloop/internal/process"
)

const (
	// maxHalf bounds the beginning and the end of a stream that are kept, each, in
	// bytes: both streams together have at most 1 MiB.
	maxHalf = 256 << 10
	// maxSecret is what is dropped where a beginning was cut off, in bytes: a part of
	// a secret could be there.
	maxSecret = 64 << 10
)

// head is a writer that keeps the first bytes written to it.
type head struct{ text []byte }

// Write keeps the beginning of p as long as there is room; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxHalf+maxSecret-len(h.text))]...)
	return len(p), nil
}

// keepWhole appends what a script printed to a file: all of it, or of a long stream
// its beginning and its end.
func (e *Evaluator) keepWhole(file, name string, result process.Result, heads [2]head) error {
	var out bytes.Buffer
	how := fmt.Sprintf("exit code %d", result.ExitCode)
	if result.Signal != "" {
		how = result.Signal
	}
	fmt.Fprintf(&out, "== the %s: %s after %.3g s\n", name, how, result.Duration.Seconds())
	fmt.Fprintf(&out, "== standard error\n%s", e.whole(result.Stderr, result.StderrTruncated, heads[1]))
	fmt.Fprintf(&out, "== standard output\n%s", e.whole(result.Stdout, result.StdoutTruncated, heads[0]))
	open, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the %s's output: %w", name, err)
	}
	_, err = open.Write(out.Bytes())
	if err = errors.Join(err, open.Close()); err != nil {
		return fmt.Errorf("keep the %s's output: %w", name, err)
	}
	return nil
}

// whole is a stream without its secrets, with a line where something was left out,
// and a line break at its end.
func (e *Evaluator) whole(text []byte, truncated bool, h head) []byte {
	if len(text) > 2*maxHalf || truncated {
		begin := e.Masker.Bytes(h.text)
		begin = begin[:max(0, min(maxHalf, len(begin)-maxSecret))]
		text = bytes.Join([][]byte{begin, []byte("\n… (left out)\n"), text[len(text)-min(maxHalf, len(text)):]}, nil)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(bytes.Clone(text), '\n')
	}
	return text
}
