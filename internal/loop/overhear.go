package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// overhear reads what was said up to when the bundle was made, and changes
// nothing. What was said since is left for those whom it starts, and for the
// next proposal. The bundle says how far the comments were read; who wrote
// them and what they say is read anew.
func (r *run) overhear(ctx context.Context, from proposal.Bundle) error {
	if r.Front == nil {
		return nil
	}
	heard, err := r.Front.Look(ctx, r.account())
	if err != nil {
		r.warn("the issue and the pull request were not read: %v", err)
		return ctx.Err()
	}
	mark := commands.ParseMark(from.Heard)
	heard.Comments = slices.DeleteFunc(heard.Comments, func(c commands.Comment) bool {
		later := !mark.Knows(c.ID, c.Review)
		if later && (r.unheard.IsZero() || c.Time.Before(r.unheard)) {
			r.unheard = c.Time
		}
		return later
	})
	if heard.Until = until(mark, heard.Until, r.books.sum.Settings[history.HeardUntil]); from.Heard == "" {
		heard.Until = ""
	}
	r.heard, r.told = &heard, from.Told
	if from.Kind == proposal.Chores {
		return nil
	}
	if first := r.firstOf(r.books); first != "" {
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
func (r *run) firstOf(b *books) string {
	if pull := r.heard.Pull; pull != nil && !pull.Open && !pull.Merged && b.sum.Settings[history.PullEnded] != fmt.Sprint(pull.Number) {
		return fmt.Sprintf("pull request #%d was closed", pull.Number)
	}
	done := commands.ParseMark(b.sum.Settings[history.CommandsUntil])
	for _, c := range r.heard.Comments {
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

// reach answers what was said, after everything was recorded, and finds the
// issue that it is shown on.
func (r *run) reach(ctx context.Context) {
	if r.heard == nil {
		return
	}
	number, author, err := r.Front.Open(ctx, r.account())
	if err != nil {
		r.warn("the issue is not up to date, the next run mends it: %v", err)
		r.heard = nil
		return
	}
	r.heard.Author = author
	if r.heard.Issue = number; r.books.sum.Settings[history.IssueNumber] != fmt.Sprint(number) {
		err := r.update(ctx, fmt.Sprintf("%s: issue #%d", r.Program.Name, number), nil, r.noteIssue)
		if err != nil {
			r.warn("the number of the issue was not noted: %v", err)
		}
	}
	r.answer(ctx)
}
