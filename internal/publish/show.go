package publish

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/post"
)

// errUnheard says that Show was called before Hear.
var errUnheard = errors.New("nothing was heard before showing")

// Show makes the comments and the labels of the issue say what the books say.
// The comment with the status comes last: it is complete when all is.
func (s *Service) Show(ctx context.Context, a post.Account) error {
	if s.seen == nil {
		return errUnheard
	}
	if err := s.iterations(ctx, a); err != nil {
		return err
	}
	books := a.Books()
	if err := s.label(ctx, books.Completed != ""); err != nil {
		return err
	}
	if err := s.notice(ctx, a); err != nil {
		return err
	}
	return s.status(ctx, a)
}

// maxMissed is how many iterations that were not shown are shown later.
const maxMissed = 20

// iterations posts the comments that are missing, and mends those whose outcome
// is another by now. One iteration that is missing besides the latest means
// that a run was interrupted: then all comments are read.
func (s *Service) iterations(ctx context.Context, a post.Account) error {
	decided := a.Decided()
	decided = decided[max(len(decided)-maxMissed, 0):]
	if len(decided) == 0 {
		return nil
	}
	if missed := s.missing(decided); len(missed) > 1 && !s.seen.since.IsZero() {
		if err := s.readAll(ctx); err != nil {
			return err
		}
	}
	for _, e := range decided {
		if err := s.iteration(ctx, a, e); err != nil {
			return err
		}
	}
	return nil
}

// missing are the iterations of which no comment was seen, as far back as
// comments were read.
func (s *Service) missing(decided []ledger.Event) []ledger.Event {
	return slices.DeleteFunc(slices.Clone(decided), func(e ledger.Event) bool {
		return e.Time.Before(s.seen.since) || s.find(post.IterationMark(e.Iteration)) != nil
	})
}

func (s *Service) readAll(ctx context.Context) error {
	comments, err := s.Hub.Comments(ctx, s.seen.issue.Number, time.Time{})
	if err != nil {
		return err
	}
	s.seen.comments, s.seen.since = comments, time.Time{}
	return nil
}

// iteration posts the comment on an iteration, or mends it.
func (s *Service) iteration(ctx context.Context, a post.Account, e ledger.Event) error {
	mark := post.IterationMark(e.Iteration)
	there := s.find(mark)
	switch {
	case there != nil && strings.Contains(there.Body, post.Label(e.Outcome)):
		return nil
	case there != nil:
		return s.edit(ctx, there, post.Iteration(a, e))
	case e.Time.Before(s.seen.since):
		return nil
	}
	_, err := s.say(ctx, s.seen.issue.Number, mark, post.Iteration(a, e))
	return err
}

func (s *Service) edit(ctx context.Context, c *github.Comment, body string) error {
	if c.Body == body {
		return nil
	}
	if err := s.Hub.EditComment(ctx, c.ID, body); err != nil {
		return err
	}
	c.Body = body
	return nil
}

// status edits the earliest of our comments with the status, or posts one.
func (s *Service) status(ctx context.Context, a post.Account) error {
	body := post.Status(a)
	there := s.find(post.StatusMark)
	if there == nil && !s.seen.since.IsZero() {
		if err := s.readAll(ctx); err != nil {
			return err
		}
		there = s.find(post.StatusMark)
	}
	if there != nil {
		err := s.edit(ctx, there, body)
		if !github.Refused(err) {
			return err
		}
		// Somebody else's, or deleted in the meantime: ours comes after it.
	}
	_, err := s.say(ctx, s.seen.issue.Number, post.StatusMark, body)
	return err
}

// notice tells people once that the program stopped.
func (s *Service) notice(ctx context.Context, a post.Account) error {
	at, what := stopped(a.Events)
	if at < 0 || a.Events[at].Time.Before(s.seen.since) {
		return nil
	}
	mark := post.NoticeMark(at)
	if s.find(mark) != nil {
		return nil
	}
	people := slices.Clone(s.seen.issue.Assignees)
	if author := s.seen.issue.Author; s.Program.Issue > 0 && !isBot(author) && !slices.Contains(people, author) {
		people = append(people, author)
	}
	_, err := s.say(ctx, s.seen.issue.Number, mark, post.Notice(a, at, what, a.Events[at].Reason, people))
	return err
}

// stopped is the place of the event that stopped the program, and what it is
// now; -1 when it goes on.
func stopped(events []ledger.Event) (at int, what string) {
	at = -1
	for i, e := range events {
		switch e.Kind { //nolint:exhaustive // the others stop nothing
		case ledger.Paused:
			at, what = i, "paused"
		case ledger.Completed:
			at, what = i, "completed"
		case ledger.Resumed:
			at = -1
		}
	}
	return at, what
}
