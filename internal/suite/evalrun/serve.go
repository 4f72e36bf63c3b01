package evalrun

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// serve starts the server of the skill anew, in a sandbox of its own with the
// skill's files. A server that does not start is a *misuse.Error: it is the skill's.
func (s *session) serve(ctx context.Context) (end func(), err error) {
	place := filepath.Join(s.RunDir, "server")
	template, err := sandbox.Prepare(ctx, place, s.skill.fixture(), nil)
	if err != nil {
		return nil, faultOf(err)
	}
	box, err := s.Sandboxes.Open(ctx, filepath.Join(s.RunDir, "server-box"), template, s.Env)
	if err != nil {
		return nil, errors.Join(err, s.Sandboxes.Remove(place))
	}
	remove := func() error { return errors.Join(box.Close(), s.Sandboxes.Remove(place)) }
	server, why, err := box.Serve(ctx, s.Setup, s.Start, s.Timeout)
	if err == nil && why != "" {
		err = misuse.New(errors.New(why))
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	s.url = server.URL
	return func() {
		server.Close()
		_ = remove() // else the run's directory goes with it
	}, nil
}
