package sync

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// Show makes the comments and the labels of the issue say what the records say, after Look.
// The comment with the status comes last: it is complete when all is.
func (s *Service) Show(ctx context.Context, a render.Account) error {
	if s.seen.issue.Number == 0 {
		return nil // the repository has none
	}
	news := s.news(ctx, a)
	if err := s.iterations(ctx, a, news); err != nil {
		return err
	}
	if err := s.label(ctx, a.Completed != nil); err != nil {
		return err
	}
	if news != nil && !news.told {
		if _, err := s.say(ctx, s.seen.issue.Number, news.mark, news.body); err != nil {
			return err
		}
	}
	return s.status(ctx, a)
}

// maxMissed is how many iterations that were not shown are shown later.
const maxMissed = 20

// iterations posts the comments that are missing, and fixes those whose outcome
// is another by now. One iteration that is missing besides the latest, or that
// was decided for the first time before comments were read, means that a run was
// interrupted: then all comments are read. That the program is paused is told in the comment
// of the last iteration, when it is still to be told.
func (s *Service) iterations(ctx context.Context, a render.Account, news *notice) error {
	decided := slices.DeleteFunc(slices.Clone(a.Attempts), func(e history.Attempt) bool { return !s.comments(e.Decided) })
	decided = decided[max(len(decided)-maxMissed, 0):]
	missed := 0
	for _, e := range decided {
		if e.Time.Before(s.seen.since) || s.find(render.IterationMark(e.Iteration)) != nil {
			continue
		}
		missed++
		for _, before := range history.Of[*history.Decided](a.Events) {
			if before.Iteration == e.Iteration && before.Time.Before(s.seen.since) {
				missed++ // it waited for CI
			}
		}
	}
	if missed > 1 && !s.seen.since.IsZero() {
		if err := s.readAll(ctx); err != nil {
			return err
		}
	}
	for _, e := range decided {
		mark := render.IterationMark(e.Iteration)
		there := s.find(mark)
		var err error
		switch body := render.Iteration(a, e.Decided); {
		case there != nil && strings.Contains(there.Body, render.Label(e.Outcome)):
		case there != nil:
			err = s.edit(ctx, there, body+render.NoticeIn(there.Body))
		case e.Time.Before(s.seen.since):
		case news != nil && !news.apart && e.Decided == a.Attempts[len(a.Attempts)-1].Decided:
			_, err = s.say(ctx, s.seen.issue.Number, mark, body+"\n"+news.body)
			news.told = err == nil
		default:
			_, err = s.say(ctx, s.seen.issue.Number, mark, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// comments reports whether an iteration has a comment of its own, as the
// program says; one that has one is kept up to date.
func (s *Service) comments(e *history.Decided) bool {
	return s.Program.Comments == "all" || e.Outcome == history.Accepted ||
		s.find(render.IterationMark(e.Iteration)) != nil
}

func (s *Service) readAll(ctx context.Context) error {
	comments, err := s.Comments(ctx, commands.Talk, s.seen.issue.Number, time.Time{})
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(s.seen.comments, func(c api.Comment) bool { return c.On == s.seen.issue.Number })
	s.seen.comments, s.seen.since = append(comments, others...), time.Time{}
	return s.recogniseMe(ctx)
}

func (s *Service) edit(ctx context.Context, c *api.Comment, body string) error {
	if c.Body == body {
		return nil
	}
	if err := s.EditComment(ctx, c.ID, body); err != nil {
		return err
	}
	c.Body = body
	return nil
}

// status edits the earliest of our comments with the status, or posts one.
func (s *Service) status(ctx context.Context, a render.Account) error {
	body := render.Status(a)
	there := s.find(render.StatusMark)
	if there == nil && !s.seen.fresh && !s.seen.since.IsZero() {
		if err := s.readAll(ctx); err != nil {
			return err
		}
		there = s.find(render.StatusMark)
	}
	if there != nil {
		err := s.edit(ctx, there, body)
		if !api.Gone(err) { // else somebody deleted it in the meantime
			return err
		}
	}
	_, err := s.say(ctx, s.seen.issue.Number, render.StatusMark, body)
	return err
}

// notice tells people that the program stopped.
type notice struct {
	mark, body string
	apart      bool // it has a comment of its own: the program is completed
	told       bool
}

// news is what is to be told; nil when there is nothing, or when it was told.
func (s *Service) news(ctx context.Context, a render.Account) *notice {
	at, what, reason := stopped(a.Events)
	if at < 0 || a.Events[at].Header().Time.Before(s.seen.since) {
		return nil
	}
	mark := render.NoticeMark(at)
	if slices.ContainsFunc(s.seen.comments, func(c api.Comment) bool {
		return s.mine(c) && (strings.HasPrefix(c.Body, mark) || strings.HasPrefix(render.NoticeIn(c.Body), "\n"+mark))
	}) {
		return nil
	}
	return &notice{mark: mark, apart: what == completed, body: render.Notice(a, at, what, reason, s.people(ctx, a))}
}

// people are those to tell: the issue's assignees and the program's author. Who
// wrote a program file is in the records since its issue was opened; only when
// that could not be read then, it is now.
func (s *Service) people(ctx context.Context, a render.Account) []string {
	people := slices.Clone(s.seen.issue.Assignees)
	author := s.seen.issue.Author
	if s.Program.Issue == 0 {
		author = a.Author
		if author == "" {
			author = s.author(ctx)
		}
	}
	if author != "" && !isBot(author) && !slices.Contains(people, author) {
		people = append(people, author)
	}
	return people
}

// completed is what a program is whose work is done.
const completed = "completed"

// stopped is the place of the event that stopped the program, what it is now, and
// why; -1 when it goes on.
func stopped(events []history.Event) (at int, what, reason string) {
	at = -1
	for i, e := range events {
		switch e := e.(type) {
		case *history.Paused:
			at, what, reason = i, "paused", e.Reason.String()
		case *history.Completed:
			at, what, reason = i, completed, e.Reason.String()
		case *history.Resumed:
			at = -1
		}
	}
	return at, what, reason
}
