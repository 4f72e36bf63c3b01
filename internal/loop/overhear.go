package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// readProposedComments reads what was said up to when the bundle was made, and changes
// nothing. What was said since is left for those whom it starts, and for the
// next proposal. The bundle says how far the comments were read; who wrote
// them and what they say is read anew.
func (r *run) readProposedComments(ctx context.Context, from proposal.Bundle) error {
	if r.GitHub == nil {
		return nil
	}
	heard, err := r.GitHub.Look(ctx, r.account())
	if err != nil {
		r.warn("the issue and the pull request were not read: %v", err)
		return ctx.Err()
	}
	mark := commands.ParseMark(from.Heard)
	heard.Comments = slices.DeleteFunc(heard.Comments, func(c commands.Comment) bool {
		later := !mark.Knows(c.ID, c.Review)
		if later && (r.firstUnreadComment.IsZero() || c.Time.Before(r.firstUnreadComment)) {
			r.firstUnreadComment = c.Time
		}
		return later
	})
	if heard.Until = until(mark, heard.Until, r.records.sum.Settings[history.HeardUntil]); from.Heard == "" {
		heard.Until = ""
	}
	r.comments, r.agentWasTold = &heard, from.Told
	if from.Kind == proposal.Chores {
		return nil
	}
	if first := r.firstOf(r.records); first != "" {
		return refuse("it is stale: %s; propose again", first)
	}
	return nil
}

// until is the mark of a bundle, no further than what there is to hear, and
// never back.
func until(mark commands.Mark, there, before string) string {
	end, begin := commands.ParseMark(there), commands.ParseMark(before)
	if there == "" {
		return ""
	}
	mark = commands.Mark{Issue: min(mark.Issue, end.Issue), Review: min(mark.Review, end.Review)}
	return commands.Mark{Issue: max(mark.Issue, begin.Issue), Review: max(mark.Review, begin.Review)}.String()
}

// firstOf says what was asked for that comes before an iteration, since it
// changes what an iteration is; "" for nothing.
func (r *run) firstOf(b *records) string {
	if pull := r.comments.Pull; pull != nil && !pull.Open && !pull.Merged && b.sum.Settings[history.PullEnded] != fmt.Sprint(pull.Number) {
		return fmt.Sprintf("pull request #%d was closed", pull.Number)
	}
	done := commands.ParseMark(b.sum.Settings[history.CommandsUntil])
	for _, c := range r.comments.Comments {
		for _, command := range c.Commands {
			switch command.Kind {
			case commands.Run, commands.Status, commands.Instruct, commands.Wrong:
			case commands.Pause, commands.Resume, commands.Reactivate, commands.SetTarget, commands.Undo:
				if !done.Knows(c.ID, c.Review) {
					return fmt.Sprintf("a comment asks for `%s %s`", commands.Word, command.Kind)
				}
			}
		}
	}
	return ""
}

// answerComments answers what was said, after everything was recorded, and finds the
// issue that it is shown on.
func (r *run) answerComments(ctx context.Context) {
	if r.comments == nil {
		return
	}
	number, author, err := r.GitHub.Open(ctx, r.account())
	if err != nil {
		r.warn("the issue is not up to date, the next run mends it: %v", err)
		r.comments = nil
		return
	}
	r.comments.Author = author
	if r.comments.Issue = number; r.records.sum.Settings[history.IssueNumber] != fmt.Sprint(number) {
		err := r.update(ctx, fmt.Sprintf("%s: issue #%d", r.Program.Name, number), nil, r.noteIssue)
		if err != nil {
			r.warn("the number of the issue was not noted: %v", err)
		}
	}
	r.answer(ctx)
}
