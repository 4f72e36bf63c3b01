package process

import (
	"io"
	"os"
	"sync"
	"time"
)

type streams struct {
	stdin, stdout, stderr *os.File // the command's ends; stdin may be nil
	feed, out, errs       *os.File // our ends
	outTail, errTail      *tail
	reading               sync.WaitGroup
}

func newStreams(spec *Spec) (s *streams, err error) {
	kept := spec.OutputCap
	if kept <= 0 {
		kept = DefaultOutputCap
	}
	s = &streams{outTail: newTail(kept), errTail: newTail(kept)}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	if spec.Stdin != nil {
		if s.stdin, s.feed, err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	if s.out, s.stdout, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.errs, s.stderr, err = os.Pipe(); err != nil {
		return nil, err
	}
	return s, nil
}

// abandon closes everything, for a command that did not start.
func (s *streams) abandon() {
	closeAll(s.stdin, s.stdout, s.stderr, s.feed, s.out, s.errs)
}

// copy moves the bytes while the command runs, which has its own ends now.
func (s *streams) copy(spec *Spec) {
	closeAll(s.stdin, s.stdout, s.stderr)
	if s.feed != nil {
		go func() {
			_, _ = io.Copy(s.feed, spec.Stdin) // It need not read all of it.
			_ = s.feed.Close()
		}()
	}
	s.reading.Go(func() { drain(s.out, s.outTail, spec.Stdout) })
	s.reading.Go(func() { drain(s.errs, s.errTail, spec.Stderr) })
}

// drain reads from until its end, keeping the tail and passing on a live copy
// until that fails.
func drain(from io.Reader, keep *tail, live io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = keep.Write(buffer[:n])
			if live != nil {
				if _, failed := live.Write(buffer[:n]); failed != nil {
					live = nil
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// finish takes what is still in the pipes, without waiting long for a process
// out of our reach that holds one open, and returns the kept output.
func (s *streams) finish() Result {
	deadline := time.Now().Add(pipeDelay)
	_ = s.out.SetReadDeadline(deadline)  // Where pipes have no deadlines, the
	_ = s.errs.SetReadDeadline(deadline) // processes that hold them are gone.
	s.reading.Wait()
	closeAll(s.out, s.errs, s.feed)
	result := Result{Stdout: s.outTail.Bytes(), Stderr: s.errTail.Bytes()}
	result.StdoutTruncated, result.StderrTruncated = s.outTail.cut, s.errTail.cut
	return result
}

// tail keeps the last bytes that are written to it: up to twice as many in between, so that
// they are seldom moved.
type tail struct {
	kept []byte
	cap  int
	cut  bool
}

func newTail(capacity int64) *tail { return &tail{cap: int(capacity)} }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*t.cap {
		t.kept = append(t.kept[:0], t.Bytes()...)
	}
	return len(p), nil
}

// Bytes returns what was kept, and notes whether there was more.
func (t *tail) Bytes() []byte {
	over := max(len(t.kept)-t.cap, 0)
	t.cut = t.cut || over > 0
	return t.kept[over:]
}
