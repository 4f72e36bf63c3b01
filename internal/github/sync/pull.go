package sync

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// Promote opens the pull request of what was kept, or writes its body anew. It
// is the only way to one: without a gain since the last one ended there is
// nothing to promote, and 0 is returned. Base is the branch that it is for. An
// error of *RefusedError is a person's to mend; the gain stands.
func (s *Service) Promote(ctx context.Context, a render.Account, base string) (number int, err error) {
	if s.seen == nil {
		return 0, errUnheard
	}
	pull := s.seen.pull
	if a.Kept() == nil {
		return 0, s.closeEmpty(ctx, a)
	}
	if pull == nil || !pull.Open {
		return s.open(ctx, a, base)
	}
	if render.Has(pull.Body, a.PullMark()) && pull.Title == render.Title(s.Program.Name) {
		return pull.Number, nil
	}
	body := render.Pull(a, s.seen.issue.Number)
	if err := s.Hub.EditPull(ctx, pull.Number, render.Title(s.Program.Name), body); err != nil {
		return pull.Number, err
	}
	pull.Body, pull.Title = body, render.Title(s.Program.Name)
	return pull.Number, nil
}

// closeEmpty closes a pull request that ended by our hand: the only change in it
// was turned down by CI. One with changes in it that is open was opened again by
// a person.
func (s *Service) closeEmpty(ctx context.Context, a render.Account) error {
	pull, books := s.seen.pull, a.Books()
	if pull == nil || !pull.Open || books.Settings[history.PullEnded] != strconv.Itoa(pull.Number) || books.Incumbent != books.Base {
		return nil
	}
	err := s.Hub.ClosePull(ctx, pull.Number)
	pull.Open = err != nil
	return err
}

// open opens the pull request. That there is one already is no error: it is
// taken, and its body written anew.
func (s *Service) open(ctx context.Context, a render.Account, base string) (int, error) {
	body := render.Pull(a, s.seen.issue.Number)
	find := func() (api.Pull, bool, error) {
		pulls, err := s.Hub.Pulls(ctx, s.branch())
		for _, p := range pulls {
			if p.Open {
				return p, true, nil
			}
		}
		return api.Pull{}, false, err
	}
	pull, err := once(find, func() (api.Pull, error) {
		return s.Hub.CreatePull(ctx, s.branch(), base, render.Title(s.Program.Name), body)
	})
	if api.Invalid(err) {
		there, found, looked := find()
		if looked == nil && found {
			pull, err = there, s.Hub.EditPull(ctx, there.Number, render.Title(s.Program.Name), body)
		}
	}
	if err != nil {
		return 0, refused(err)
	}
	pull.Body, pull.Title = body, render.Title(s.Program.Name)
	s.seen.pull = &pull
	return pull.Number, nil
}

// RefusedError says that GitHub does not let us open a pull request.
type RefusedError struct{ message string }

// Error says what to do.
func (e *RefusedError) Error() string { return e.message }

func refused(err error) error {
	var failed *api.Error
	if !errors.As(err, &failed) {
		return err
	}
	switch {
	case strings.Contains(failed.Message, "not permitted to create"):
		return &RefusedError{"the repository does not let Actions open pull requests: allow it under Settings, Actions, General, Workflow permissions, or give a token of an app or a person; the gain is on its branch"}
	case failed.Status == http.StatusForbidden, failed.Status == http.StatusNotFound, failed.Status == http.StatusUnprocessableEntity:
		return &RefusedError{"the pull request could not be opened, the gain is on its branch: " + failed.Error()}
	}
	return err
}
