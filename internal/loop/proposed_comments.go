package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/loop/proposal"
)

// readProposedComments reads the comments up to the time of the bundle and changes
// nothing. Later ones are left to the runs that they start and to the next
// proposal. Of the bundle only the mark is believed: authors and texts are read
// again.
func (r *thread) readProposedComments(ctx context.Context, from proposal.Bundle) error {
	if r.GitHub == nil {
		return nil
	}
	if ok, err := r.hear(ctx, r.GitHub.Look); !ok {
		return err
	}
	heard := r.comments
	mark := commands.ParseMark(from.Heard)
	heard.Comments = slices.DeleteFunc(heard.Comments, func(c commands.Comment) bool {
		later := !mark.Knows(c.ID, c.Place)
		if later && (r.firstUnreadComment.IsZero() || c.Time.Before(r.firstUnreadComment)) {
			r.firstUnreadComment = c.Time
		}
		return later
	})
	if heard.Until = until(mark, heard.Until, r.records.sum.HeardUntil); from.Heard == "" {
		heard.Until = ""
	}
	if from.Told {
		r.shown = commentsTold
	}
	if first := r.firstOf(r.records); first != "" {
		return proposal.Refuse("it is stale: %s; propose again", first)
	}
	if reason := r.readyForReview(); reason != "" {
		return proposal.Refuse("it is stale: %s", reason)
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
	done := commands.ParseMark(b.sum.CommandsUntil)
	for _, c := range r.comments.Comments {
		for _, command := range c.Commands {
			changes := []commands.CommandKind{
				commands.Pause, commands.Resume, commands.Reactivate, commands.SetTarget, commands.Undo,
			}
			if slices.Contains(changes, command.Kind) && !done.Knows(c.ID, c.Place) {
				return fmt.Sprintf("a comment asks for `%s %s`", commands.Word, command.Kind)
			}
		}
	}
	return ""
}

// answerComments opens the issue and posts the recorded answers.
func (r *thread) answerComments(ctx context.Context) {
	if r.comments == nil {
		return
	}
	number, author, err := r.GitHub.Open(ctx, r.account())
	if err != nil {
		r.warn("the issue is not up to date, the next run retries: %v", err)
		r.comments = nil
		return
	}
	r.comments.Author = author
	if r.comments.Issue = number; r.records.sum.Issue != number {
		err := r.update(ctx, fmt.Sprintf("%s: issue #%d", r.Program.Name, number), nil, func(b *records) error {
			r.noteIssue(b)
			return nil
		})
		if err != nil {
			r.warn("the number of the issue was not noted: %v", err)
		}
	}
	r.answer(ctx)
}
