package loop

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

// applyCommands records the effect of all commands in one step, and answers after
// it: an answer never speaks of what is not recorded.
func (r *thread) applyCommands(ctx context.Context, claim func(*records) error) error {
	undo, err := r.prepareUndo(ctx)
	if err != nil {
		return err
	}
	err = r.recordCommands(ctx, undo, claim, func(*records) error { return nil })
	if reason := pushRefusal(err); reason != nil && undo.update(r.ref()) != nil {
		undo.refuse(reason.String())
		err = r.recordCommands(ctx, undo, claim, func(b *records) error {
			return r.pause(b, decision.Reason{Kind: decision.UndoRefused, Because: []decision.Reason{*reason}})
		})
	}
	if err != nil {
		return err
	}
	r.answer(ctx)
	return nil
}

// recordCommands records the effect of all commands, and what else follows.
func (r *thread) recordCommands(ctx context.Context, undo *undoing, claim, then func(*records) error) error {
	return r.update(ctx, r.Program.Name+": comments and commands", undo.update(r.ref()), func(b *records) error {
		if err := claim(b); err != nil {
			return err
		}
		if err := r.enterCommands(b, undo); err != nil {
			return err
		}
		return then(b)
	})
}

// enterCommands records the effect of every command that was not applied before.
func (r *thread) enterCommands(b *records, undo *undoing) error {
	if err := r.noteIssue(b); err != nil {
		return err
	}
	if err := r.endPull(b); err != nil {
		return err
	}
	done := commands.ParseMark(b.sum.CommandsUntil)
	mark := done
	for _, c := range r.comments.Comments {
		if len(c.Commands) == 0 || done.Knows(c.ID, c.Place) {
			continue
		}
		mark = mark.With(c.ID, c.Place)
		if err := r.enterComment(b, c, undo); err != nil {
			return err
		}
	}
	if mark == done {
		return nil
	}
	return r.set(b, history.CommandsUntil, mark.String())
}

func (r *thread) noteIssue(b *records) error {
	if r.comments.Issue == 0 {
		return nil
	}
	if err := r.set(b, history.IssueNumber, strconv.Itoa(r.comments.Issue)); err != nil || r.comments.Author == "" {
		return err
	}
	return r.set(b, history.Author, r.comments.Author)
}

// ofPull is what people did with the pull request since it was heard of last.
func ofPull(pull *commands.Pull, b *records) lifecycle.Event {
	ended := pull != nil && b.sum.PullEnded == pull.Number
	switch {
	case pull == nil, !pull.Open && ended, pull.Open && !ended, pull.Open && b.sum.Head() == b.sum.Base:
		return lifecycle.None
	case pull.Open:
		return lifecycle.Reopened
	case pull.Elsewhere != "":
		return lifecycle.MergedInto
	case pull.Merged:
		return lifecycle.Merged
	default:
		return lifecycle.Closed
	}
}

// endPull notes what people did with the pull request. One that was closed is not wanted:
// the program waits until it is told to go on.
func (r *thread) endPull(b *records) error {
	pull := r.comments.Pull
	event := ofPull(pull, b)
	if event == lifecycle.None {
		return nil
	}
	next := lifecycle.Next(event, r.phase(b))
	ended := &history.Set{
		Head: history.Head{Iteration: b.sum.Iteration}, Key: history.PullEnded,
		Value: strconv.Itoa(pull.Number),
	}
	switch next { //nolint:exhaustive // The others begin nothing.
	case lifecycle.GoOn:
		return r.reopened(b, pull.Number)
	case lifecycle.Stay:
		r.warn("pull request #%d was merged into %s, and not into %s: the program goes on where it was", pull.Number,
			pull.Elsewhere, b.sum.BaseBranch)
		ended.Commit = b.sum.Base
	case lifecycle.Leave, lifecycle.Keep:
		ended.Commit = pull.Head // what was made after it is still to be promoted
	}
	if err := r.add(b, ended); err != nil || next != lifecycle.Pause {
		return err
	}
	return r.pause(b, decision.Reason{Kind: decision.PullClosed, Count: pull.Number})
}

// enterComment applies the commands of one comment, and records the answer.
func (r *thread) enterComment(b *records, c commands.Comment, undo *undoing) error {
	var texts []string
	all := true
	for _, command := range c.Commands {
		text, good, err := r.command(b, c, command, undo)
		if err != nil {
			return err
		}
		texts = append(texts, text)
		all = all && good
	}
	to := commands.Answer{ID: c.ID, Place: c.Place, On: c.On, Good: all}
	return r.add(b, &history.Answered{
		Head: history.Head{Iteration: b.sum.Iteration}, Key: to.String(),
		Reason: strings.Join(texts, "\n\n"),
	})
}

// command applies one command, and returns the answer.
func (r *thread) command(b *records, c commands.Comment, command commands.Command, undo *undoing) (text string,
	good bool, err error,
) {
	switch command.Kind {
	case commands.Pause:
		return "Paused. `/autoloop resume` goes on.", true, r.pause(b, pausedBy(c, command))
	case commands.Resume, commands.Reactivate:
		return "It goes on.", true, r.goOn(b, askedBy(c))
	case commands.SetTarget:
		return r.setTarget(b, command)
	case commands.Status:
		return render.Summary(render.Account{
			Program: r.Program, Events: b.log.Events, Past: &b.sum,
			RunURL: r.RunURL,
		}), true, nil
	case commands.Run:
		b.asked = true
		why := cmp.Or(b.machine.Stopped(r.Program.Name), r.readyForReview())
		if e := b.standing().Waiting(); why == "" && e != nil {
			why = fmt.Sprintf("iteration %d waits for CI", e.Iteration)
		}
		if why != "" {
			return fmt.Sprintf("Nothing new begins now: %s.", render.Stopped(why)), true, nil
		}
		return fmt.Sprintf("Iteration %d runs now.", b.iteration), true, nil
	case commands.Instruct:
		return fmt.Sprintf("The agent is told at iteration %d.", b.iteration), true, nil
	case commands.Note:
		note := strings.TrimSpace(b.sum.Note + "\n" + command.Text)
		return fmt.Sprintf("The agent is told at iteration %d.", b.iteration), true, r.set(b, history.Note, note)
	case commands.Undo:
		text, good := undo.answer(command.Iteration)
		if !good {
			return text, false, nil
		}
		err := r.add(b, &history.Set{
			Head: history.Head{Iteration: b.sum.Iteration}, Key: history.UndoneIteration,
			Value: strconv.Itoa(command.Iteration), Commit: undo.head,
		})
		if err != nil || b.sum.Completed == nil || b.sum.Paused != nil {
			return text, true, err
		}
		return text, true, r.goOn(b, askedBy(c)) // its best is no longer on the branch
	case commands.Wrong:
		return "That was not understood: " + command.Problem + ".", false, nil
	default:
		return "", true, nil
	}
}

func pausedBy(c commands.Comment, command commands.Command) decision.Reason {
	if command.Text != "" {
		return decision.Say(command.Text)
	}
	return decision.Reason{Kind: decision.PausedBy, Path: c.Author}
}

// goOn ends a pause and a completion.
func (r *journal) goOn(b *records, reason decision.Reason) error {
	b.machine.Paused, b.machine.PauseReason = false, ""
	b.machine.Completed, b.machine.CompletedReason = false, ""
	b.stopped = ""
	return r.add(b, &history.Resumed{Head: history.Head{Iteration: b.sum.Iteration}, Reason: reason})
}

func askedBy(c commands.Comment) decision.Reason {
	return decision.Reason{Kind: decision.AskedBy, Path: c.Author}
}

// reopened goes on with a pull request that a person opened again, and ends the pause that
// closing it made.
func (r *thread) reopened(b *records, pull int) error {
	if err := r.set(b, history.PullEnded, ""); err != nil || b.sum.Paused == nil ||
		!b.sum.Paused.Is(decision.PullClosed) {
		return err
	}
	return r.goOn(b, decision.Reason{Kind: decision.PullReopened, Count: pull})
}

// setTarget holds until the program file names another target than now.
func (r *thread) setTarget(b *records, command commands.Command) (text string, good bool, err error) {
	if err := r.set(b, history.TargetMetricWas, history.ValueText(r.Program.Target)); err != nil {
		return "", false, err
	}
	if err := r.set(b, history.TargetMetric, command.Target.String()); err != nil {
		return "", false, err
	}
	text = fmt.Sprintf("The target is %s (%s is better), until the program file names another.", command.Target,
		r.Program.Direction)
	return text, true, r.completeAtTarget(b)
}

// update is the move of the branch, nil when nothing is undone.
func (u *undoing) update(ref string) *git.RefUpdate {
	if u.head == u.old {
		return nil
	}
	return &git.RefUpdate{Ref: ref, New: u.head, Old: u.old}
}
