package loop

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// fakeGitHub is an issue with comments and a pull request, and CI that answers
// from a list. It counts what it is sent.
type fakeGitHub struct {
	comments []commands.Comment
	pull     *commands.Pull
	hasCI    bool
	// ci is what CI says, one answer a look; the last holds.
	ci       []ci.Result
	judged   []string // the commits that were asked about
	asked    []string // those of which it was asked whether CI runs on them
	posts    int      // how often an answer was posted
	answers  []string
	answered map[commands.Answer]bool
	shown    int
	promoted int
	down     bool // it cannot be reached
	// broken are the errors of single requests: answer, ci, dispatch, open, promote, show.
	broken map[string]error
	// unpromoted says that nothing is to be promoted.
	unpromoted bool
	noIssues   bool
	author     string   // of the program file
	warnings   []string // of what was read
	dispatched []string // workflow and branch
}

func (f *fakeGitHub) Look(_ context.Context, a render.Account) (commands.Heard, error) {
	if f.down {
		return commands.Heard{}, fmt.Errorf("no route to GitHub")
	}
	heard := commands.Heard{Issue: 7, Pull: f.pull, Author: f.author, Warnings: f.warnings}
	settings := history.Replay(a.Events).Settings
	mark := commands.ParseMark(settings.HeardUntil)
	last := mark
	for _, c := range f.comments {
		if !mark.Knows(c.Address) {
			heard.Comments = append(heard.Comments, c)
			last = last.With(c.Address)
		}
	}
	heard.Until = last.String()
	return heard, nil
}

func (f *fakeGitHub) Open(context.Context, render.Account) (int, string, error) {
	if f.noIssues {
		return 0, f.author, nil
	}
	return 7, f.author, f.broken["open"]
}

func (f *fakeGitHub) Changes() int { return len(f.answers) + f.shown + f.promoted }

func (f *fakeGitHub) Answer(_ context.Context, to commands.Answer, text string) error {
	f.posts++
	if err := f.broken["answer"]; err != nil {
		return err
	}
	if !f.answered[to] { // an answer that is there is found
		f.answers = append(f.answers, text)
	}
	if f.answered == nil {
		f.answered = map[commands.Answer]bool{}
	}
	f.answered[to] = true
	return nil
}

func (f *fakeGitHub) Promote(context.Context, render.Account, string) (int, error) {
	f.promoted++
	if f.unpromoted {
		return 0, f.broken["promote"]
	}
	return 8, f.broken["promote"]
}

func (f *fakeGitHub) CI(_ context.Context, candidate ci.Candidate) ci.Result {
	f.judged = append(f.judged, candidate.Commit)
	verdict := f.ci[0]
	if len(f.ci) > 1 {
		f.ci = f.ci[1:]
	}
	return verdict
}

func (f *fakeGitHub) HasCI(_ context.Context, candidate ci.Candidate) (bool, error) {
	f.asked = append(f.asked, candidate.Base)
	return f.hasCI, f.broken["ci"]
}

func (f *fakeGitHub) Ready(context.Context) (bool, error) { return f.pull != nil && f.pull.Ready, nil }

func (f *fakeGitHub) Dispatch(_ context.Context, workflow, branch string) error {
	if err := f.broken["dispatch"]; err != nil {
		return err
	}
	f.dispatched = append(f.dispatched, workflow+" "+branch)
	return nil
}

func (f *fakeGitHub) Show(context.Context, render.Account) error {
	f.shown++
	return f.broken["show"]
}

// say is a comment of a maintainer with a command.
func (f *fakeGitHub) say(kind commands.CommandKind, text string) *commands.Command {
	id := int64(len(f.comments) + 1)
	f.comments = append(f.comments, commands.Comment{
		Address: commands.Address{ID: id, On: 7}, Author: "owner",
		Time:     time.Date(2026, 1, 1, 0, 0, int(id), 0, time.UTC),
		Commands: []commands.Command{{Kind: kind, Text: text}},
	})
	return &f.comments[id-1].Commands[0]
}

// What CI says in these tests.
func green() ci.Result      { return ci.Result{State: ci.Green, Seen: 2} }
func unanswered() ci.Result { return ci.Result{State: ci.Pending, Seen: 1} }
func red(check, line string) ci.Result {
	return ci.Result{
		State: ci.Red, Seen: 2, Reasons: []decision.Reason{{Kind: decision.CIFound, Words: check + " fails"}},
		Failing: []ci.Check{{Name: check, Lines: []string{line}}},
	}
}

// onGitHub gives the fixture an issue and a pull request.
func onGitHub(t *testing.T, b *fixture) *fakeGitHub {
	t.Helper()
	f := &fakeGitHub{hasCI: true, ci: []ci.Result{green()}}
	b.service.GitHub, b.service.Repository = f, "o/r"
	return f
}
