package sync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/render"
)

// Promote opens the pull request of what was kept after Look, or writes its body anew. It
// is the only way to one: without a gain since the last one ended, and while the
// branch is not strictly better than the default branch, there is nothing to
// promote, and 0 is returned. Base is the branch that it is for.
func (s *Service) Promote(ctx context.Context, a render.Account, base string) (number int, err error) {
	pull := s.seen.pull
	open := pull != nil && pull.Open()
	if pull != nil && !open {
		if err := s.endCIPending(ctx, pull); err != nil || s.seen.again {
			return 0, err // it ended while the iteration ran: the next one begins with that
		}
	}
	kept, summary := a.Kept(), a.Summary
	over := pull != nil && summary.PullEnded == pull.Number
	// What the branch measures is kept up also when all that was kept was undone.
	if kept == nil && (!open || over || render.OursIn(pull.Body) == "") {
		if !open || !over || summary.Incumbent != summary.Base {
			return 0, nil
		}
		// It ended by our hand, since CI turned down the only change in it; one with changes was opened again.
		if err := s.ClosePull(ctx, pull.Number); err != nil {
			return 0, err
		}
		pull.State = "closed"
		return 0, s.endCIPending(ctx, pull)
	}
	if !open {
		if !a.Leads() || pull != nil && pull.MergedAt != nil && a.Replays(kept, pull.Head.SHA) {
			return 0, nil
		}
		return s.open(ctx, a, base)
	}
	if !strings.HasPrefix(render.OursIn(pull.Body), a.PullMark()) {
		if !s.seen.again { // somebody may have merged or closed it meanwhile
			now, err := s.Pull(ctx, pull.Number)
			if err != nil {
				return 0, err
			}
			if *pull = now; !now.Open() {
				return 0, nil
			}
		}
		err = s.rewrite(ctx, pull, render.Within(pull.Body, render.Pull(a, s.seen.issue.Number)))
	}
	if a.Pull() == pull.Number {
		return pull.Number, err
	}
	// The run that opened it ended before it was recorded.
	number, failed := s.introduced(ctx, pull.Number)
	return number, errors.Join(err, failed)
}

func (s *Service) rewrite(ctx context.Context, pull *api.Pull, body string) error {
	if pull.Body == body {
		return nil
	}
	err := s.EditPull(ctx, pull.Number, body)
	if err == nil {
		pull.Body = body
	}
	return err
}

// endCIPending takes the promise that CI will speak out of a pull request that
// is closed.
func (s *Service) endCIPending(ctx context.Context, pull *api.Pull) error {
	now := render.CIClosed
	if pull.MergedAt != nil {
		now = render.CIMerged
	}
	ours := render.OursIn(pull.Body)
	return s.rewrite(ctx, pull, render.Within(pull.Body,
		strings.Replace(ours, string(render.CIPending), string(now), 1)))
}

// open opens the pull request. That there is one already is no error: it is
// taken, and its body written anew.
func (s *Service) open(ctx context.Context, a render.Account, base string) (int, error) {
	body := render.Pull(a, s.seen.issue.Number)
	find := func() (*api.Pull, error) {
		pulls, err := s.Pulls(ctx, s.branch())
		if at := slices.IndexFunc(pulls, api.Pull.Open); at >= 0 {
			return &pulls[at], nil
		}
		return nil, err
	}
	pull, err := once(false, find, func() (api.Pull, error) {
		return s.CreatePull(ctx, s.branch(), base, render.PullTitle(a), body)
	})
	if api.Invalid(err) {
		if there, looked := find(); looked == nil && there != nil {
			body = render.Within(there.Body, body)
			pull, err = *there, s.rewrite(ctx, there, body)
		}
	}
	if err != nil {
		return 0, refused(err)
	}
	pull.Body = body
	s.seen.pull = &pull
	if !pull.Draft {
		err = s.rewrite(ctx, &pull, render.WithoutDraft(body))
	}
	number, failed := s.introduced(ctx, pull.Number)
	return number, errors.Join(err, failed)
}

// introduced gives a pull request its labels and people, and returns its number to be
// recorded: 0 when that could not be done now, so that the next run does it. What GitHub
// refuses is refused for good.
func (s *Service) introduced(ctx context.Context, number int) (int, error) {
	var err error
	want := s.Program.PullRequest
	for _, one := range []struct {
		names []string
		give  func(ctx context.Context, number int, names ...string) error
	}{{want.Labels, s.AddLabels}, {want.Assignees, s.Assign}, {want.Reviewers, s.RequestReviews}} {
		if len(one.names) > 0 {
			err = errors.Join(err, one.give(ctx, number, one.names...))
		}
	}
	if err != nil && !api.Invalid(err) && !api.Refused(err) {
		return 0, err
	}
	return number, err
}

// refused says what a person can do where GitHub does not let us open a pull request.
func refused(err error) error {
	failed, is := errors.AsType[*api.Error](err)
	switch {
	case !is:
	case strings.Contains(failed.Message, "not permitted to create"):
		return errors.New("the repository does not let Actions open pull requests: allow it under Settings, " +
			"Actions, General, Workflow permissions, or give a token of an app or a person; the gain is on its branch")
	case failed.Status == http.StatusForbidden, failed.Status == http.StatusNotFound,
		failed.Status == http.StatusUnprocessableEntity:
		return fmt.Errorf("the pull request could not be opened, the gain is on its branch: %w", err)
	}
	return err
}
