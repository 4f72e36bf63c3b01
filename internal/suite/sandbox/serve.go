package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/org/autoloop/internal/process"
)

// listenTick is how often it is tried whether a server listens.
const listenTick = 20 * time.Millisecond

// Server is a command that runs in a sandbox and listens on a port.
type Server struct {
	// URL is where it listens.
	URL string

	stop context.CancelFunc
	done chan struct{}
}

// Close ends the server and all of its processes.
func (s *Server) Close() {
	s.stop()
	<-s.done
}

// Serve runs setup in the sandbox, "" for none, starts a server there, which is
// told its port as $PORT, and waits until it listens. why says why it does not; the
// error is for failures of our own and for the end of ctx.
func (b *Box) Serve(ctx context.Context, setup, start string, timeout time.Duration) (server *Server, why string,
	err error,
) {
	const home = "server"
	if setup != "" {
		result, err := b.command(ctx, home, setup, process.Spec{Dir: b.Dir, Timeout: timeout})
		switch why := verdict(result, true); {
		case err != nil:
			return nil, "", err
		case result.TimedOut:
			return nil, fmt.Sprintf("the setup took longer than %s", timeout), nil
		case why != "":
			return nil, "the setup failed: " + b.masker.OneLine(why, maxDetail), nil
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0") // a port that nobody listens on
	if err != nil {
		return nil, "", fmt.Errorf("find a port for the server: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err = errors.Join(err, listener.Close()); err != nil {
		return nil, "", err
	}
	return b.listen(ctx, home, start, port, timeout)
}

// listen starts the server and waits until something accepts connections.
func (b *Box) listen(ctx context.Context, home, start, port string, timeout time.Duration) (*Server, string,
	error,
) {
	running, stop := context.WithCancel(ctx)
	s := &Server{URL: "http://" + net.JoinHostPort("127.0.0.1", port), stop: stop, done: make(chan struct{})}
	var ended process.Result
	var failed error
	go func() {
		defer close(s.done)
		ended, failed = b.command(running, home, start, process.Spec{Dir: b.Dir}, "PORT="+port)
	}()
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(listenTick)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			stop()
			if ctx.Err() != nil {
				return nil, "", context.Cause(ctx) // it ended with the run
			}
			why := cmp.Or(verdict(ended, true), "exit code 0"+lastWords(ended))
			return nil, "the server ended before it listened: " + b.masker.OneLine(why, maxDetail), failed
		case <-waiting.Done():
			s.Close()
			if ctx.Err() != nil {
				return nil, "", context.Cause(ctx)
			}
			return nil, fmt.Sprintf("the server did not listen on 127.0.0.1:%s ($PORT) within %s", port, timeout), nil
		case <-ticker.C:
			connection, err := (&net.Dialer{}).DialContext(waiting, "tcp", net.JoinHostPort("127.0.0.1", port))
			if err == nil {
				_ = connection.Close()
				return s, "", nil
			}
		}
	}
}
