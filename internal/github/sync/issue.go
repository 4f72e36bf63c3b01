// Package sync makes a program's issue and its pull request say what the
// records say, and reads what people say there. Every step finds what an earlier
// one left and edits it, so that it may be repeated after any interruption:
// nothing is posted twice, and nothing is lost.
package sync

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// The labels of issues.
const (
	ProgramLabel   = "autoloop-program"
	CompletedLabel = "autoloop-completed"
)

const branchPrefix = "autoloop/"

// slack is how far the clocks of GitHub and of this machine may be apart.
const slack = 5 * time.Minute

// Service shows one program on GitHub and hears what is said of it. It is not
// safe for concurrent use.
type Service struct {
	*api.Client
	Program *program.Program
	// Known, optional, is the issue of an issue program as it was read just now.
	Known *api.Issue
	// Now tells the time.
	Now func() time.Time

	seen seen
	// required are the rules of the target branch, once they were read.
	required *ci.Rules
}

// seen is what Look read, and was written since.
type seen struct {
	issue    api.Issue
	fresh    bool          // the issue was opened just now: nothing was said on it
	since    time.Time     // comments before it are not in comments
	me       string        // our login, where others too wrote comments with our marks
	comments []api.Comment // on the issue and on the pull request
	pull     *api.Pull
	again    bool // it was read once more, after the agent had worked
	unsure   bool // a comment failed, which may be there all the same
}

func (s *Service) branch() string { return branchPrefix + s.Program.Name }

// mine says whether a comment was written by us: it begins with our mark, and
// its author is a program or somebody trusted, whose token we may have.
func (s *Service) mine(c api.Comment) bool {
	const actions = "github-actions[bot]" // whom we were before we got another token
	return render.Marked(c.Body) && (isBot(c.User.Login) || slices.Contains(s.trusted(), c.Association)) &&
		(s.seen.me == "" || c.User.Login == s.seen.me || c.User.Login == actions)
}

// recogniseMe finds out who we are where several wrote comments with our marks: people quote
// them, and so do other bots. The token of an app may not ask; the first bot is it then.
func (s *Service) recogniseMe(ctx context.Context) error {
	var writers []string
	for _, c := range s.seen.comments {
		if s.mine(c) && !slices.Contains(writers, c.User.Login) {
			writers = append(writers, c.User.Login)
		}
	}
	if s.seen.me != "" || len(writers) < 2 {
		return nil
	}
	me, err := s.Login(ctx)
	if api.Refused(err) {
		me, err = writers[max(slices.IndexFunc(writers, isBot), 0)], nil
	}
	s.seen.me = me
	return err
}

func isBot(login string) bool { return strings.HasSuffix(login, "[bot]") }

// trusted are the associations of those who may steer: a program file says it,
// an issue does not, since it is no reviewed file.
func (s *Service) trusted() []string {
	if s.Program.Issue > 0 {
		return program.DefaultTrusted()
	}
	return s.Program.TrustedAssociations
}

// once does what must not be done twice. When GitHub did not say whether it was
// done, it looks, and does it again when it was not.
func once[T any](unsure bool, find func() (*T, error), do func() (T, error)) (result T, err error) {
	for try := 0; ; try++ {
		if unsure {
			found, looked := find()
			if looked != nil {
				return result, cmp.Or(err, looked)
			}
			if found != nil {
				return *found, nil
			}
		}
		result, err = do()
		failed, is := errors.AsType[*api.Error](err)
		if unsure = is && failed.Unsure; !unsure || try == 2 {
			return result, err
		}
	}
}

// lookFor finds the program's issue; its number is 0 when a file program has
// none yet.
func (s *Service) lookFor(ctx context.Context, number int) (api.Issue, error) {
	if known := s.Known; known != nil && known.Number == s.Program.Issue {
		s.Known = nil // it grows old
		return *known, nil
	}
	if number = cmp.Or(s.Program.Issue, number); number > 0 {
		issue, err := s.Issue(ctx, number)
		if s.Program.Issue > 0 || err == nil && !issue.Pull || err != nil && !api.Gone(err) {
			return issue, err
		}
	}
	issue, err := s.findIssue(ctx)
	if issue == nil {
		return api.Issue{}, err
	}
	return *issue, err
}

// Open opens the issue of a file program, or reopens it, and returns its number, 0 where
// the repository has no issues, and who wrote the file of a program whose issue is not in
// the records yet. The issue of an issue program is its owner's, and left alone.
func (s *Service) Open(ctx context.Context, a render.Account) (number int, author string, err error) {
	issue := s.seen.issue
	switch {
	case s.Program.Issue > 0:
	case issue.Number > 0:
		if !issue.Open && a.Completed == nil {
			err = s.SetIssueOpen(ctx, issue.Number, true)
			issue.Open = err == nil
		}
	default:
		find := func() (*api.Issue, error) { return s.findIssue(ctx) }
		issue, err = once(false, find, func() (api.Issue, error) {
			return s.CreateIssue(ctx, render.Title(s.Program.Name), render.Issue(a),
				[]string{ProgramLabel, "automation", "autoloop"})
		})
		s.seen.fresh = err == nil
		if issue.Number == 0 && api.Disabled(err) {
			err = nil
		}
	}
	if err != nil {
		return issue.Number, "", err
	}
	s.seen.issue = issue
	if a.Issue == 0 {
		author = s.author(ctx)
	}
	return issue.Number, author, nil
}

// author is who wrote the program file, "" for the program of an issue. That it
// cannot be read, or that nobody is known by the author's e-mail address, stops
// nothing.
func (s *Service) author(ctx context.Context) string {
	if s.Program.Issue > 0 || !filepath.IsLocal(s.Program.File) {
		return ""
	}
	author, _ := s.Author(ctx, s.Program.File)
	return author
}

// findIssue looks for the own issue of a file program, an open one first. One
// that a stranger opened is not ours.
func (s *Service) findIssue(ctx context.Context) (*api.Issue, error) {
	for _, label := range []string{ProgramLabel, CompletedLabel} {
		issues, err := s.Issues(ctx, label, "all")
		if err != nil {
			return nil, err
		}
		issues = slices.DeleteFunc(issues, func(i api.Issue) bool {
			return i.Title != render.Title(s.Program.Name) || !isBot(i.Author) &&
				!slices.Contains(s.trusted(), i.Association)
		})
		if len(issues) > 0 {
			return &issues[max(slices.IndexFunc(issues, func(i api.Issue) bool { return i.Open }), 0)], nil
		}
	}
	return nil, nil
}

func (s *Service) label(ctx context.Context, completed bool) error {
	add, remove := ProgramLabel, CompletedLabel
	if completed {
		add, remove = CompletedLabel, ProgramLabel
	}
	issue := &s.seen.issue
	var err error
	if !slices.Contains(issue.Labels, add) {
		err = s.AddLabels(ctx, issue.Number, add)
	}
	if err == nil && slices.Contains(issue.Labels, remove) {
		err = s.RemoveLabel(ctx, issue.Number, remove)
	}
	if err == nil {
		issue.Labels = []string{add}
	}
	return err
}

// SayCheck comments on an issue whether it is a program, or edits what it said
// before when it says something else now.
func SayCheck(ctx context.Context, client *api.Client, issue int, body string) error {
	comments, err := client.Comments(ctx, commands.Talk, issue, time.Time{})
	if err != nil {
		return err
	}
	for _, said := range comments {
		if !isBot(said.User.Login) && !slices.Contains(program.DefaultTrusted(), said.Association) ||
			!strings.HasPrefix(said.Body, render.CheckMark) {
			continue // somebody else's words
		}
		if strings.TrimSpace(said.Body) == strings.TrimSpace(body) {
			return nil
		}
		return client.EditComment(ctx, said.ID, body)
	}
	_, err = client.CreateComment(ctx, issue, body)
	return err
}
