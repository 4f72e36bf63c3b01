package loop

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// GitHub is where people watch a program and steer it: its issue and its pull
// request. Every method may be repeated: it finds what an earlier call left.
type GitHub interface {
	// Look finds issue and pull request, and returns the new comments. The issue is 0 when it does
	// not exist.
	Look(ctx context.Context, a render.Account) (commands.Heard, error)
	// Open opens or reopens the issue after Look, and returns its number, 0 where there are no issues,
	// and the author of the program file when the records do not name one.
	Open(ctx context.Context, a render.Account) (number int, author string, err error)
	// Answer tells the author of commands what came of them.
	Answer(ctx context.Context, to commands.Answer, text string) error
	// Promote opens the pull request of what was kept, or brings it up to date.
	// It returns its number, 0 when there is nothing to promote.
	Promote(ctx context.Context, a render.Account, base string) (int, error)
	// CI is what CI says of a candidate. What cannot be read is part of the verdict.
	CI(ctx context.Context, candidate ci.Candidate) ci.Result
	// HasCI reports whether CI runs at all: on the candidate's base, on the open pull request, or by
	// the rules of the branch that it is for.
	HasCI(ctx context.Context, candidate ci.Candidate) (bool, error)
	// Ready reports whether a person marked the pull request ready since it was heard.
	Ready(ctx context.Context) (bool, error)
	// Dispatch starts a workflow on a branch.
	Dispatch(ctx context.Context, workflow, branch string) error
	// Show brings the issue up to date with the records.
	Show(ctx context.Context, a render.Account) error
}

// thread is the conversation on GitHub: the program's issue and pull request.
type thread struct {
	*measurer
	comments *commands.Heard // nil without GitHub, or when it is out of reach
	// commentsTold says that the agent was told of them, commentsLeft that they are left
	// to a later run.
	commentsTold, commentsLeft bool

	before     time.Time // the last run before this one
	answered   map[string]bool
	unanswered int // how many answers did not get through
	// firstUnreadComment is the time of the first comment that the agent was not
	// told of, zero for none.
	firstUnreadComment time.Time
}

// account is what the records say now.
func (r *journal) account() render.Account {
	return render.Account{
		Program: r.Program, Events: r.records.log.Events, Summary: &r.records.Summary, State: r.files.State,
		RunURL: r.RunURL, Page: r.Page, Warnings: r.warnings,
	}
}

// readComments fetches new comments and applies their commands.
func (r *thread) readComments(ctx context.Context) error {
	if heard, err := r.hear(ctx); !heard {
		return err
	}
	if !r.openIssue(ctx) {
		return ctx.Err()
	}
	return r.applyCommands(ctx)
}

// openIssue opens the issue after comments were fetched.
func (r *thread) openIssue(ctx context.Context) bool {
	number, author, err := r.GitHub.Open(ctx, r.account())
	if err != nil {
		r.warn("the issue is not up to date, the next run retries: %v", err)
		r.comments = nil
		return false
	}
	if number == 0 {
		r.note("issues are disabled in the repository, so that nobody sees its status there: enable them under " +
			"Settings, General")
	}
	r.comments.Issue, r.comments.Author = number, author
	return true
}

// lookAtComments fetches new comments and applies none of their commands. It says
// which of them the publishing job has to apply before an iteration, "" for none.
func (r *thread) lookAtComments(ctx context.Context) (string, error) {
	if heard, err := r.hear(ctx); !heard {
		return "", err
	}
	return r.firstOf(r.records), nil
}

// hear fetches new comments. A GitHub outage is a warning: the next run reads them.
func (r *thread) hear(ctx context.Context) (ok bool, err error) {
	if r.GitHub == nil {
		return false, nil
	}
	r.step("hear", "")
	r.before = r.records.LastRun
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil {
		r.warn("the issue and the pull request were not read: %v", err)
		return false, ctx.Err()
	}
	r.note(heard.Warnings...)
	r.comments = &heard
	return true, nil
}

// pull is the pull request, nil where none is known.
func (r *thread) pull() *commands.Pull {
	if r.comments == nil {
		return nil
	}
	return r.comments.Pull
}

// readyForReview says why nothing is committed while a person has marked the pull
// request ready for review, "" when something may be.
func (r *thread) readyForReview() string {
	pull := r.pull()
	if pull == nil || !pull.Ready || r.Program.PullRequest.WhenReady == "continue" {
		return ""
	}
	return fmt.Sprintf("pull request #%d is ready for review: it goes on when that is merged, closed or a draft "+
		"again (or with `when-ready: continue`)", pull.Number)
}

// phase is where the program stands. Without GitHub nothing of it waits.
func (r *thread) phase(b *records) lifecycle.Phase {
	waits := r.GitHub != nil && b.Waiting() != nil
	// An iteration in whose time a person pauses the program ends as it would.
	paused := b.machine.Paused && !b.Force && !b.pausedSince(b.begun)
	switch {
	case waits && paused:
		return lifecycle.PausedWaiting
	case waits:
		return lifecycle.Waiting
	case paused:
		return lifecycle.Paused
	case b.machine.Completed && !r.Force:
		return lifecycle.Completed
	case r.readyForReview() != "":
		return lifecycle.Ready
	default:
		return lifecycle.Idle
	}
}

// next is what an event comes to now.
func (r *thread) next(e lifecycle.Event) lifecycle.Step { return lifecycle.Next(e, r.phase(r.records)) }

// rests says why no iteration begins, "" when one may.
func (r *thread) rests() string {
	if r.next(lifecycle.Due) != lifecycle.Rest {
		return ""
	}
	return cmp.Or(r.readyForReview(), r.records.machine.Stopped(r.Program.Name))
}

// asksCI reports whether all that this run may do is to ask CI about an iteration.
func (r *thread) asksCI(b *records) bool {
	return lifecycle.Next(lifecycle.Due, r.phase(b)) == lifecycle.AskCI
}

// updateGitHub shows what was recorded. The next run retries what fails.
func (r *thread) updateGitHub(ctx context.Context) {
	if r.comments == nil || r.records == nil {
		return
	}
	r.step("publish", "")
	if r.unanswered > 0 {
		r.answer(ctx)
	}
	r.warn("the pull request is not up to date: %v", r.promote(ctx))
	r.warn("the issue is not up to date, the next run retries: %v", r.GitHub.Show(ctx, r.account()))
}

// promote opens the pull request or brings it up to date, and records its number.
func (r *thread) promote(ctx context.Context) error {
	if pull := r.pull(); r.next(lifecycle.Gained) != lifecycle.Open && (pull == nil || !pull.Open) {
		return nil
	}
	number, err := r.GitHub.Promote(ctx, r.account(), r.records.BaseBranch)
	if number == 0 || r.records.Pull == number {
		return err
	}
	noted := r.update(ctx, fmt.Sprintf("pull request #%d", number), nil, func(b *records) error {
		b.set(history.PullNumber, strconv.Itoa(number))
		return nil
	})
	return cmp.Or(err, noted)
}

// consumed records how far comments were read when the agent was told of them, and
// otherwise since when they are to be read again.
func (r *thread) consumed(b *records) {
	if r.commentsTold {
		b.set(history.Note, "")
	}
	if r.GitHub == nil {
		return
	}
	since := "" // of the first comment that is still to be told
	switch {
	case r.comments == nil || r.commentsLeft || r.unanswered > 0 ||
		!r.commentsTold && len(r.instructions()) > 0:
		since = cmp.Or(b.HeardSince, r.before.UTC().Format(time.RFC3339))
	case !r.firstUnreadComment.IsZero():
		since = r.firstUnreadComment.UTC().Format(time.RFC3339)
	}
	b.set(history.HeardSince, since)
	if r.commentsTold && r.comments != nil && r.comments.Until != "" {
		b.set(history.HeardUntil, r.comments.Until)
	}
}

// instructions are what trusted people told the agent since its last iteration.
func (r *thread) instructions() []string {
	var list []string
	if note := r.records.Note; note != "" {
		list = append(list, note)
	}
	if r.comments == nil {
		return list
	}
	for _, c := range r.comments.Comments {
		say := func(text string) {
			if text != "" {
				list = append(list, fmt.Sprintf("%s, %s:\n%s", c.Author, c.Time.UTC().Format(time.RFC3339), text))
			}
		}
		say(c.Text)
		for _, command := range c.Commands {
			if command.Kind == commands.Instruct {
				say(command.Text)
			}
		}
	}
	return list
}

// merged reports whether head is the commit of a pull request that was merged: the
// work goes on from the default branch.
func (r *thread) merged(head string) bool {
	return head != "" && r.mergedHead() == head
}

// answering is how long a run may take to post what it recorded. Two runs that hold no lease,
// since the program rests, may record and answer at the same time.
const answering = 2 * time.Minute

// answer posts the recorded answers: those of this run, and those that an earlier
// run could not post. One that is posted already is found and not posted again; one that
// another run may be posting now is left to a later run.
func (r *thread) answer(ctx context.Context) {
	if r.GitHub == nil {
		return
	}
	since := r.before
	if text := r.records.HeardSince; text != "" {
		since, _ = time.Parse(time.RFC3339, text)
	}
	r.unanswered = 0
	for _, e := range history.Of[*history.Answered](r.records.log.Events) {
		if e.Time.Before(since) || r.answered[e.Key] {
			continue
		}
		to, ok := commands.ParseAnswer(e.Key)
		if !ok {
			continue
		}
		if e.Run != r.id && e.Time.After(r.begun.Add(-answering)) {
			r.unanswered++
			continue
		}
		if err := r.GitHub.Answer(ctx, to, e.Reason); err != nil {
			r.unanswered++
			r.warn("a comment was not answered: %v", err)
			continue
		}
		r.answered[e.Key] = true
	}
}
