package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// Publish verifies and records what Propose handed on, as Run does with its own
// proposals, and does what only this job may: it applies commands, reads CI, and
// updates GitHub. It runs neither the program's code nor an agent. The record is
// written in one step or not at all: what is stale or against the rules is a
// *RefusedError. One that is recorded already is shown to its end, since that run may
// have been interrupted, and refused.
func (s *Service) Publish(ctx context.Context, p *Proposal) (render.Result, error) {
	run := s.begin()
	return run.through(ctx, func(ctx context.Context) error { return run.publish(ctx, p) })
}

func (r *run) publish(ctx context.Context, from *Proposal) error {
	r.iteration = from.Iteration
	if err := r.open(ctx); err != nil {
		return err
	}
	r.joinHanded(r.records, from.Run)
	r.id = r.records.id
	said := *from
	said.Files = nil // what is in these is held against what was there
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	if r.Masker.Leaks(text) {
		return refuse("it has a secret of this job in it")
	}
	for _, e := range history.Of[*history.Set](r.records.log.Events) {
		if e.Key == history.Published && e.Value == from.ID {
			return r.again(ctx, from.ID, e.Run)
		}
	}
	switch name := r.Program.Name; {
	case from.Program != name:
		return refuse("it is of program %q, not of %q", from.Program, name)
	case from.Repository != r.Repository:
		return refuse("it is of repository %q, not of %q", from.Repository, r.Repository)
	case from.Records != recordsDigest(r.files): // it was made from older records
		return r.stale()
	}
	if err := r.readProposedComments(ctx, from); err != nil {
		return err
	}
	return r.publishProposal(ctx, from)
}

func (r *journal) stale() error {
	return refuse("it is stale: the state of %s has changed since; propose again", r.Program.Name)
}

// publishProposal records an iteration, or an attempt to fix what CI found. CI is read
// again: what the bundle says about it is not believed.
func (r *run) publishProposal(ctx context.Context, p *Proposal) error {
	fix, pending := p.Kind == forFix, r.records.Waiting()
	switch {
	case fix && (r.comments == nil || pending == nil || pending.Commit != p.Branch):
		return refuse("it is stale: no iteration waits for CI with commit %.12s; propose again", p.Branch)
	case !fix && pending != nil:
		return refuse("an iteration waits for CI; propose again")
	}
	err := p.Sanitize(r.Masker)
	if err != nil {
		return err
	}
	var at position
	if fix {
		if at, err = r.positionOfFix(ctx, p, *pending); err != nil {
			return err
		}
		w, asked := r.fixable(ctx)
		if !asked {
			return refuse("it is stale: CI does not ask to fix %.12s; propose again", pending.Commit)
		}
		w.describes(p)
	} else if at, err = r.positionOfProposal(ctx, p); err != nil {
		return err
	}
	if p.Candidate != "" {
		if err := r.writeCandidate(ctx, at.Start, p); err != nil {
			return err
		}
	}
	r.mayWrite = r.startsWith(p)
	if err := r.record(ctx, at, p); err != nil {
		return err
	}
	r.mayWrite = (*records).holdsLease
	r.answerComments(ctx)
	return r.conclude(ctx, p)
}

// startsWith takes the lease for a bundle, notes the bundle, and applies the commands that
// were read before it was made.
func (r *run) startsWith(from *Proposal) func(*records) error {
	return func(b *records) error {
		if recordsDigest(b.read) != from.Records {
			return r.stale()
		}
		err := r.enterStart(b)
		if end, is := endOf(err); is {
			return refuse("no iteration may be recorded now: %s", end)
		}
		if err != nil {
			return err
		}
		if e := b.Waiting(); e != nil {
			b.iteration = e.Iteration
		}
		if b.iteration != from.Iteration {
			return refuse("it is of iteration %d, and %d is the next", from.Iteration, b.iteration)
		}
		b.set(history.Published, from.ID)
		if r.comments != nil {
			r.enterCommands(b, &undoing{})
		}
		return nil
	}
}

// again brings GitHub up to date after the run that recorded a bundle, which may have been interrupted, and
// refuses the bundle; when what it recorded waits for CI, that is asked.
func (r *run) again(ctx context.Context, id, by string) error {
	twice := "it was published before, by run " + by
	if r.records.Published != id { // what waits for CI now is not its own
		return refuse("%s", twice)
	}
	if ok, err := r.hear(ctx); err != nil {
		return err
	} else if ok {
		r.comments.Comments, r.comments.Until, r.commentsLeft = nil, "", true
	}
	if r.asksCI(r.records) {
		if err := r.acquireLease(ctx); err != nil {
			return err
		}
		r.answerComments(ctx)
		return r.await(ctx)
	}
	r.answerComments(ctx)
	r.updateGitHub(ctx)
	return refuse("%s", strings.Join(append([]string{twice}, r.warnings...), "; "))
}

// readProposedComments reads the comments up to the time of the bundle and changes
// nothing. Later ones are left to the runs that they start and to the next
// proposal. Of the bundle only the mark is believed: authors and texts are read
// again.
func (r *thread) readProposedComments(ctx context.Context, from *Proposal) error {
	if ok, err := r.hear(ctx); !ok {
		return err
	}
	heard := r.comments
	mark := commands.ParseMark(from.Heard)
	heard.Comments = slices.DeleteFunc(heard.Comments, func(c commands.Comment) bool {
		later := !mark.Knows(c.Address)
		if later && (r.firstUnreadComment.IsZero() || c.Time.Before(r.firstUnreadComment)) {
			r.firstUnreadComment = c.Time
		}
		return later
	})
	if heard.Until = until(mark, heard.Until, r.records.HeardUntil); from.Heard == "" {
		heard.Until = ""
	}
	r.commentsTold = from.Told
	if first := r.firstOf(r.records); first != "" {
		return refuse("it is stale: %s; propose again", first)
	}
	if reason := r.readyForReview(); reason != "" {
		return refuse("it is stale: %s", reason)
	}
	return nil
}

// until is the mark of a bundle, bounded by the newest comment and never before
// the recorded mark.
func until(mark commands.Mark, there, before string) string {
	end, begin := commands.ParseMark(there), commands.ParseMark(before)
	if there == "" {
		return ""
	}
	return mark.Within(begin, end).String()
}

// firstOf says which command has to be applied before an iteration, because it
// changes the iteration; "" for none.
func (r *thread) firstOf(b *records) string {
	if event := ofPull(r.comments.Pull, b); event == lifecycle.Closed || event == lifecycle.MergedInto {
		return fmt.Sprintf("pull request #%d was closed", r.comments.Pull.Number)
	}
	for _, c := range r.unapplied(b) {
		for _, command := range c.Commands {
			changes := []commands.CommandKind{
				commands.Pause, commands.Resume, commands.Reactivate, commands.SetTarget, commands.Undo,
			}
			if slices.Contains(changes, command.Kind) {
				return fmt.Sprintf("a comment asks for `%s %s`", commands.Word, command.Kind)
			}
		}
	}
	return ""
}

// answerComments opens the issue and posts the recorded answers.
func (r *thread) answerComments(ctx context.Context) {
	if r.comments == nil || !r.openIssue(ctx) {
		return
	}
	if number := r.comments.Issue; r.records.Issue != number {
		err := r.update(ctx, fmt.Sprintf("issue #%d", number), nil, func(b *records) error {
			r.noteIssue(b)
			return nil
		})
		r.warn("the number of the issue was not noted: %v", err)
	}
	r.answer(ctx)
}
