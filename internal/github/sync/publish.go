// Package sync makes a program's issue and its pull request say what the
// records say, and reads what people say there. Every step finds what an earlier
// one left and edits it, so that it may be repeated after any interruption:
// nothing is posted twice, and nothing is lost.
package sync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/ci"
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
