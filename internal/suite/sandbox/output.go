package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

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
	if !b.intact() {
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
	defer func() { _ = source.Close() }()
	found, err := readLeft(ctx, source)
	if err != nil {
		return nil, 0, err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = target.Close() }()
	total, copying := int64(0), copier(source, target)
	copying.Mode = func(Entry) fs.FileMode { return 0o600 }
	for _, e := range found {
		if e.Mode.IsDir() {
			continue
		}
		if !e.IsFile() || e.SHA256 == "" || len(kept) >= maxKeptFiles || total+e.Size > maxKept ||
			copying.Entry(&e) != nil {
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

// Serve runs setup in the sandbox, "" for none, starts a server there, which is
// told its port as $PORT, and waits until it listens at url; end ends it with all of its
// processes. why says why it does not; the error is for failures of our own and for the
// end of ctx.
func (b *Box) Serve(
	ctx context.Context,
	setup, start string,
	timeout time.Duration,
) (url string, end func(), why string,
	err error,
) {
	const home = "server"
	if setup != "" {
		result, err := b.command(ctx, home, setup, process.Spec{Dir: b.Dir, Timeout: timeout})
		switch why := verdict(result, false); {
		case err != nil:
			return "", nil, "", err
		case result.TimedOut:
			return "", nil, fmt.Sprintf("the setup took longer than %s", timeout), nil
		case why != "":
			return "", nil, "the setup failed: " + b.Masker.OneLine(why, maxDetail), nil
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0") // a port that nobody listens on
	if err != nil {
		return "", nil, "", fmt.Errorf("find a port for the server: %w", err)
	}
	at := listener.Addr().String()
	_, port, err := net.SplitHostPort(at)
	if err = errors.Join(err, listener.Close()); err != nil {
		return "", nil, "", err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	end = func() {
		stop()
		<-done
	}
	var ended process.Result
	var failed error
	go func() {
		defer close(done)
		ended, failed = b.command(running, home, start, process.Spec{Dir: b.Dir}, "PORT="+port)
	}()
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(listenTick)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			stop()
			if ctx.Err() != nil {
				return "", nil, "", context.Cause(ctx) // it ended with the run
			}
			why := cmp.Or(verdict(ended, false), "exit code 0"+lastWords(ended))
			return "", nil, "the server ended before it listened: " + b.Masker.OneLine(why, maxDetail), failed
		case <-waiting.Done():
			end()
			if ctx.Err() != nil {
				return "", nil, "", context.Cause(ctx)
			}
			return "", nil, fmt.Sprintf("the server did not listen on %s ($PORT) within %s", at, timeout), nil
		case <-ticker.C:
			connection, err := (&net.Dialer{}).DialContext(waiting, "tcp", at)
			if err == nil {
				_ = connection.Close()
				return "http://" + at, end, "", nil
			}
		}
	}
}
