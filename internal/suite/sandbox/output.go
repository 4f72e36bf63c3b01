package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
)

const (
	// maxKept and maxKeptFiles bound what is kept of outputs/.
	maxKept      = 64 << 20
	maxKeptFiles = 2000
)

// place opens a directory of the sandbox; what an agent put in its place is not followed.
func (b *Box) place(in string) (*os.Root, error) {
	ours, err := b.root.Stat(".")
	now, gone := os.Lstat(b.Dir)
	if err != nil || gone != nil || !os.SameFile(ours, now) {
		return nil, errors.New("the sandbox's directory was removed or exchanged")
	}
	info, err := b.root.Lstat(in)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory any more")
	}
	if err != nil {
		return nil, err
	}
	return b.root.OpenRoot(in)
}

// KeepOutputs copies the regular files below outputs/ to a directory, which is
// made, and lists them with their paths below it. Links and special files are left out, and so is what
// goes beyond 2,000 files or 64 MiB; left counts them.
func (b *Box) KeepOutputs(ctx context.Context, to string) (kept Manifest, left int, err error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return nil, 0, err
	}
	source, err := b.place(suite.OutputsDir)
	if err != nil {
		return nil, 0, nil // the agent removed its outputs
	}
	defer source.Close()
	found, err := readLeft(ctx, source)
	if err != nil {
		return nil, 0, err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return nil, 0, err
	}
	defer target.Close()
	total := int64(0)
	copying := files.Copier{From: source, Into: target, Mode: func(Entry) fs.FileMode { return 0o600 }}
	for _, e := range found {
		if e.Mode.IsDir() {
			continue
		}
		if !e.IsFile() || e.SHA256 == "" || len(kept) >= maxKeptFiles || total+e.Size > maxKept ||
			copying.Entry(e) != nil {
			left++
			continue
		}
		total += e.Size
		kept = append(kept, e)
	}
	return kept, left, nil
}

// listenTick is how often it is tried whether a server listens.
const listenTick = 20 * time.Millisecond

// Serve starts a server in the sandbox, after setup, "" for none, in the same shell, tells it its
// port as $PORT, and waits until it listens at url; end ends it with all of its processes. Why it
// does not listen is a *misuse.Error; others are failures of our own and the end of ctx.
func (b *Box) Serve(ctx context.Context, setup, start string, timeout time.Duration) (url string, end func(),
	err error,
) {
	fault := func(format string, args ...any) error {
		return misuse.Errorf("%s", b.Masker.OneLine(fmt.Sprintf(format, args...), maxDetail))
	}
	if setup != "" {
		start = "sh -c " + process.QuoteWord(setup) + " || exit\n" + start // its own -e counts
	}
	port, at := "", ""
	for range 100 { // a port that nobody listens on, below those that systems give to connections
		port = strconv.Itoa(20_000 + rand.IntN(12_000))
		at = "127.0.0.1:" + port
		listener, failed := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
		if err = failed; err == nil {
			err = listener.Close()
			break
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("find a port for the server: %w", err)
	}
	running, stop := context.WithCancelCause(ctx)
	done := make(chan struct{})
	end = func() {
		stop(nil)
		<-done
	}
	go func() {
		defer close(done)
		ended, err := b.command(running, "server", start, process.Spec{Dir: b.Dir}, "PORT="+port)
		if err == nil {
			err = fault("the server ended before it listened: %s",
				cmp.Or(verdict(ended, false), "exit code 0"+lastWords(ended)))
		}
		stop(err)
	}()
	waiting, cancel := context.WithTimeoutCause(running, timeout,
		fault("the server did not listen on %s ($PORT) within %s", at, timeout))
	defer cancel()
	for waiting.Err() == nil {
		select {
		case <-waiting.Done():
		case <-time.After(listenTick):
		}
		if connection, err := (&net.Dialer{}).DialContext(waiting, "tcp", at); err == nil {
			_ = connection.Close()
			return "http://" + at, end, nil
		}
	}
	end()
	if err = context.Cause(waiting); ctx.Err() != nil { // it ended with the run
		err = context.Cause(ctx)
	}
	return "", nil, err
}
