package sync

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// Look finds the program's issue, its pull request, and the comments that were not heard before,
// without a request that changes anything: the issue is 0 when the program has no issue, and one
// that is closed stays so.
func (s *Service) Look(ctx context.Context, a render.Account) (commands.Heard, error) {
	summary := a.Summary
	s.seen = seen{}
	number := summary.Issue
	if machine, _, err := state.ParseMachine(a.State); number == 0 && err == nil {
		number = machine.Issue
	}
	issue, err := s.lookFor(ctx, number)
	if err != nil {
		return commands.Heard{}, err
	}
	s.seen.issue = issue
	s.seen.since = since(summary)
	heard := commands.Heard{Issue: issue.Number}
	if heard.Pull, err = s.readPull(ctx, a); err != nil {
		return heard, err
	}
	if err := s.readComments(ctx); err != nil {
		return heard, err
	}
	if err := s.recogniseMe(ctx); err != nil {
		return heard, err
	}
	mark := commands.ParseMark(summary.HeardUntil)
	err = s.listen(ctx, slices.Clone(s.seen.comments), mark, &heard)
	return heard, err
}

// since is the time from which on comments are read: the last run or, when
// what was said before that was not heard, the one before.
func since(summary *history.Summary) time.Time {
	at := summary.LastRun
	if before, err := time.Parse(time.RFC3339, summary.HeardSince); err == nil && before.Before(at) {
		at = before
	}
	if at.Year() <= 1 {
		return time.Time{}
	}
	return at.Add(-slack)
}

// readComments reads what was said on the issue and, when something happened on the
// latest pull request, what was said there: why it was closed, too. The talk on both is in
// one request, with that of the whole repository.
func (s *Service) readComments(ctx context.Context) error {
	issue, pull := s.seen.issue.Number, s.seen.pull
	if pull == nil || !pull.Updated.After(s.seen.since) {
		pull = &api.Pull{}
	}
	read := func(at commands.Place, of int) (int, error) {
		found, err := s.Comments(ctx, at, of, s.seen.since)
		for _, c := range found {
			if c.Body != "" && (c.On == issue || c.On == pull.Number) {
				s.seen.comments = append(s.seen.comments, c)
			}
		}
		return len(found), err
	}
	talk := slices.DeleteFunc([]int{issue, pull.Number}, func(number int) bool { return number == 0 })
	const recent = 48 * time.Hour // for longer a busy repository has more than one issue and one pull request
	if len(talk) > 1 && !s.seen.since.IsZero() && s.Now().Sub(s.seen.since) < recent {
		talk = []int{0}
	}
	for _, number := range talk {
		if _, err := read(commands.Talk, number); err != nil {
			return err
		}
	}
	if pull.Number == 0 {
		return nil
	}
	reviews, err := read(commands.Review, pull.Number)
	if err == nil && reviews > 0 { // every comment on lines belongs to a review
		_, err = read(commands.Lines, pull.Number)
	}
	return err
}

// readPull finds the latest pull request of the program's branch. One that is
// open as far as is known is read alone; else an open one goes before those
// that are closed. Nothing that was never kept can have one.
func (s *Service) readPull(ctx context.Context, a render.Account) (*commands.Pull, error) {
	known := a.Pull()
	switch {
	case known == 0 && !a.EverKept():
		return nil, nil
	case known > 0 && a.PullEnded != known:
		pull, err := s.Pull(ctx, known)
		if err == nil && pull.Ours(s.branch()) {
			return s.sees(pull, a), nil
		}
		if err != nil && !api.Gone(err) {
			return nil, err
		}
	}
	pulls, err := s.Pulls(ctx, s.branch())
	if err != nil || len(pulls) == 0 {
		return nil, err
	}
	return s.sees(pulls[max(slices.IndexFunc(pulls, api.Pull.Open), 0)], a), nil
}

func (s *Service) sees(p api.Pull, a render.Account) *commands.Pull {
	seen := &commands.Pull{
		Number: p.Number, Open: p.Open(), Ready: isReady(p), Head: p.Head.SHA,
	}
	if into := a.BaseBranch; p.MergedAt != nil && into != "" && p.Base.Ref != into {
		p.MergedAt, seen.Elsewhere = nil, p.Base.Ref
	}
	seen.Merged = p.MergedAt != nil
	s.seen.pull = &p
	return seen
}

func isReady(p api.Pull) bool { return p.Open() && !p.Draft && !render.NeverDraft(p.Body) }

// Ready reads the open pull request again, and reports whether a person marked it ready
// for review meanwhile.
func (s *Service) Ready(ctx context.Context) (bool, error) {
	if s.seen.pull == nil || !s.seen.pull.Open() {
		return false, nil
	}
	now, err := s.Pull(ctx, s.seen.pull.Number)
	if err == nil {
		*s.seen.pull, s.seen.again = now, true
	}
	return err == nil && isReady(now), err
}

// maxComments bounds how many comments steer one iteration: the latest.
const maxComments = 50

// listen sorts out who may steer: whoever may push, and is not left out by
// trusted-associations. Nothing is said to the others. When that could not be
// found out, nothing was heard, and is heard the next time.
func (s *Service) listen(ctx context.Context, all []api.Comment, before commands.Mark, heard *commands.Heard) error {
	slices.SortStableFunc(all, func(a, b api.Comment) int { return a.Created.Compare(b.Created) })
	// A membership may be private: then the association does not tell, and who may push counts as a
	// collaborator.
	trusted := s.trusted()
	private := slices.Contains(trusted, "COLLABORATOR")
	mark := before
	var people []string
	all = slices.DeleteFunc(all, func(c api.Comment) bool {
		if before.Knows(c.Address) {
			return true
		}
		mark = mark.With(c.Address)
		known := slices.Contains(program.DefaultTrusted(), c.Association)
		if render.Marked(c.Body) || isBot(c.User.Login) ||
			!slices.Contains(trusted, c.Association) && (known || !private) {
			return true
		}
		people = append(people, c.User.Login)
		return false
	})
	writers, refused, err := s.Writers(ctx, people)
	switch {
	case err != nil:
		return err
	case refused != nil:
		heard.Warnings = append(heard.Warnings,
			fmt.Sprintf("comments were not read, since who may push could not be: %v", refused))
		return nil
	}
	for _, c := range all {
		if writers[c.User.Login] {
			heard.Comments = append(heard.Comments, s.comment(c))
		}
	}
	heard.Comments = heard.Comments[max(len(heard.Comments)-maxComments, 0):]
	if mark != before {
		heard.Until = mark.String()
	}
	return nil
}

// comment reads one comment. Nobody else hears a command to another program here, so
// that its author is told.
func (s *Service) comment(c api.Comment) commands.Comment {
	list, text := commands.Parse(c.Body)
	for i, command := range list {
		if command.Program != "" && command.Program != s.Program.Name {
			list[i] = commands.Command{
				Kind: commands.Wrong,
				Problem: fmt.Sprintf("this is the place of program %s; say it on the issue of `%s`, or leave the "+
					"name out", s.Program.Name, command.Program),
			}
		}
	}
	if c.Path != "" && text != "" {
		text = fmt.Sprintf("on %s: %s", c.Path, text)
	}
	return commands.Comment{
		Address: c.Address, Author: c.User.Login, Time: c.Created, Commands: list, Text: text,
	}
}

// Answer tells the author of commands what came of them: with a reaction, and
// with one comment. One that was answered is left alone.
func (s *Service) Answer(ctx context.Context, to commands.Answer, text string) error {
	mark := render.ReplyMark(to.ID)
	if s.find(mark) != nil {
		return nil
	}
	reaction := api.Agreed
	if !to.Good {
		reaction = api.Confused
	}
	if err := s.React(ctx, to.Address, reaction); err != nil && !api.Gone(err) {
		return err
	}
	_, err := s.say(ctx, cmp.Or(to.On, s.seen.issue.Number), mark, render.Reply(to.ID, text))
	return err
}

// find is our comment with a mark among those that were read.
func (s *Service) find(mark string) *api.Comment { return s.first(s.seen.comments, mark) }

func (s *Service) first(comments []api.Comment, mark string) *api.Comment {
	is := func(c api.Comment) bool { return strings.HasPrefix(c.Body, mark) && s.mine(c) }
	if at := slices.IndexFunc(comments, is); at >= 0 {
		return &comments[at]
	}
	return nil
}

// say comments, once.
func (s *Service) say(ctx context.Context, on int, mark, body string) (api.Comment, error) {
	comment, err := once(s.seen.unsure, func() (*api.Comment, error) {
		comments, err := s.Comments(ctx, commands.Talk, on, s.Now().Add(-time.Hour))
		return s.first(comments, mark), err
	}, func() (api.Comment, error) { return s.CreateComment(ctx, on, body) })
	if s.seen.unsure = s.seen.unsure || err != nil; err == nil {
		s.seen.comments = append(s.seen.comments, comment)
	}
	return comment, err
}
