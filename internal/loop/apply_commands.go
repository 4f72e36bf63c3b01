package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// applyCommands records the effect of all commands in one step, and answers after
// it: an answer never speaks of what is not recorded.
func (r *thread) applyCommands(ctx context.Context) error {
	undo, err := r.prepareUndo(ctx)
	if err != nil {
		return err
	}
	record := func(branch *git.RefUpdate, refused *decision.Reason) error {
		return r.write(ctx, "comments and commands", branch, func(b *records) error {
			r.enterCommands(b, undo)
			if refused != nil {
				b.pause(decision.UndoRefused.Because(*refused))
			}
			return nil
		})
	}
	err = record(undo.move, nil)
	if reason := pushRefusal(err); reason != nil && undo.move != nil {
		for iteration := range undo.done {
			undo.said[iteration] = fmt.Sprintf("Iteration %d is not undone: %s.", iteration,
				plain.Quote(reason.String(), maxRefusal))
		}
		undo.done = nil
		err = record(nil, reason)
	}
	if err != nil {
		return err
	}
	r.answer(ctx)
	return nil
}

// unapplied are the comments with commands that were not applied before.
func (r *thread) unapplied(b *records) []commands.Comment {
	done := commands.ParseMark(b.CommandsUntil)
	return slices.DeleteFunc(slices.Clone(r.comments.Comments), func(c commands.Comment) bool {
		return len(c.Commands) == 0 || done.Knows(c.Address)
	})
}

// enterCommands records the effect of every command that was not applied before, and the answers.
func (r *thread) enterCommands(b *records, undo *undoing) {
	r.noteIssue(b)
	r.endPull(b)
	mark := commands.ParseMark(b.CommandsUntil)
	for _, c := range r.unapplied(b) {
		mark = mark.With(c.Address)
		to, texts := commands.Answer{Address: c.Address, Good: true}, []string{}
		for _, command := range c.Commands {
			text, good := r.command(b, c, command, undo)
			texts, to.Good = append(texts, text), to.Good && good
		}
		b.add(&history.Answered{Key: to.String(), Reason: strings.Join(texts, "\n\n")})
	}
	if mark != (commands.Mark{}) {
		b.set(history.CommandsUntil, mark.String())
	}
}

func (r *thread) noteIssue(b *records) {
	if r.comments.Issue == 0 {
		return
	}
	b.set(history.IssueNumber, strconv.Itoa(r.comments.Issue))
	if r.comments.Author != "" {
		b.set(history.Author, r.comments.Author)
	}
}

// ofPull is what people did with the pull request since it was heard of last.
func ofPull(pull *commands.Pull, b *records) lifecycle.Event {
	ended := pull != nil && b.PullEnded == pull.Number
	switch {
	case pull == nil, !pull.Open && ended, pull.Open && !ended, pull.Open && b.Head() == b.Base:
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
func (r *thread) endPull(b *records) {
	pull := r.comments.Pull
	event := ofPull(pull, b)
	if event == lifecycle.None {
		return
	}
	next := lifecycle.Next(event, r.phase(b))
	ended := &history.Set{Key: history.PullEnded, Value: strconv.Itoa(pull.Number)}
	switch next { //nolint:exhaustive // The others begin nothing.
	case lifecycle.GoOn:
		b.set(history.PullEnded, "")
		if b.Paused != nil && b.Paused.Is(decision.PullClosed) { // the pause that closing it made ends
			b.goOn(decision.PullReopened.Counts(pull.Number))
		}
		return
	case lifecycle.Stay:
		r.warn("pull request #%d was merged into %s, and not into %s: the program goes on where it was", pull.Number,
			pull.Elsewhere, b.BaseBranch)
		ended.Commit = b.Base
	case lifecycle.Leave, lifecycle.Keep:
		ended.Commit = pull.Head // what was made after it is still to be promoted
	}
	b.add(ended)
	if next == lifecycle.Pause {
		b.pause(decision.PullClosed.Counts(pull.Number))
	}
}

// command applies one command, and returns the answer.
func (r *thread) command(b *records, c commands.Comment, command commands.Command, undo *undoing) (text string,
	good bool,
) {
	switch command.Kind {
	case commands.Pause:
		why := decision.Reason{Kind: decision.PausedBy, Path: c.Author}
		if command.Text != "" {
			why = decision.Say(command.Text)
		}
		b.pause(why)
		return "Paused. `/autoloop resume` goes on.", true
	case commands.Resume, commands.Reactivate:
		b.goOn(askedBy(c))
		return "It goes on.", true
	case commands.SetTarget: // it holds until the program file names another target than now
		b.set(history.TargetMetricWas, history.ValueText(r.Program.Target))
		b.set(history.TargetMetric, command.Target.String())
		b.completeAtTarget()
		return fmt.Sprintf("The target is %s (%s is better), until the program file names another.", command.Target,
			r.Program.Direction), true
	case commands.Status:
		return render.Summary(render.Account{
			Program: r.Program, Events: b.log.Events, Summary: &b.Summary,
			RunURL: r.RunURL,
		}), true
	case commands.Run:
		b.asked = true
		why := cmp.Or(b.machine.Stopped(r.Program.Name), r.readyForReview())
		if e := b.Waiting(); why == "" && e != nil {
			why = fmt.Sprintf("iteration %d waits for CI", e.Iteration)
		}
		if why != "" {
			return fmt.Sprintf("Nothing new begins now: %s.", render.Stopped(why)), true
		}
		return fmt.Sprintf("Iteration %d runs now.", b.iteration), true
	case commands.Note:
		b.set(history.Note, strings.TrimSpace(b.Note+"\n"+command.Text))
		fallthrough
	case commands.Instruct:
		return fmt.Sprintf("The agent is told at iteration %d.", b.iteration), true
	case commands.Undo:
		said, done := undo.said[command.Iteration], undo.done[command.Iteration]
		if !done {
			return said, false
		}
		b.add(&history.Set{
			Key: history.UndoneIteration, Value: strconv.Itoa(command.Iteration), Commit: undo.move.New,
		})
		if b.Completed != nil && b.Paused == nil {
			b.goOn(askedBy(c)) // its best is no longer on the branch
		}
		return said, true
	case commands.Wrong:
		return "That was not understood: " + command.Problem + ".", false
	default:
		return "", true
	}
}

func askedBy(c commands.Comment) decision.Reason {
	return decision.Reason{Kind: decision.AskedBy, Path: c.Author}
}

// undoing takes kept iterations back by commits on top of the branch. The
// iteration after it finds commits without a measurement, and makes a new
// baseline.
type undoing struct {
	move *git.RefUpdate // of the branch, nil while nothing is taken back
	done map[int]bool   // the iterations that are
	said map[int]string // what is answered to who asks for one
}

// maxRefusal bounds the words of a remote in an answer.
const maxRefusal = 600

// prepareUndo makes the commits for all iterations that are to be undone. Nothing
// points to them until the records do.
func (r *thread) prepareUndo(ctx context.Context) (*undoing, error) {
	u := &undoing{done: map[int]bool{}, said: map[int]string{}}
	for _, c := range r.unapplied(r.records) {
		for _, command := range c.Commands {
			if command.Kind != commands.Undo || u.said[command.Iteration] != "" {
				continue
			}
			if err := r.undo(ctx, u, command.Iteration); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

// undo reverts one iteration on top of the branch: its candidate, and the fixes for CI on top of that.
func (r *thread) undo(ctx context.Context, u *undoing, iteration int) (err error) {
	say := func(format string, args ...any) error {
		u.said[iteration] = fmt.Sprintf(format, args...)
		return nil
	}
	move := git.RefUpdate{Ref: r.ref()}
	if u.move != nil {
		move = *u.move
	} else if move.Old, err = r.head(ctx); err != nil {
		return err
	}
	head, e := cmp.Or(move.New, move.Old), cmp.Or(r.records.Attempt(iteration).Decided, &history.Decided{})
	if last := r.records.Iteration; iteration > last {
		return say("There is no iteration %d: %d is the last.", iteration, last)
	}
	if e.Commit == "" || head == "" {
		return say("Iteration %d kept nothing, so there is nothing to undo.", iteration)
	}
	if on, err := r.Repo.IsAncestor(ctx, e.Commit, head); err != nil || !on {
		return cmp.Or(err, say("The commit of iteration %d is not on %s any more.", iteration, r.branch()))
	}
	commits, err := r.Repo.Log(ctx, e.Commit, "^"+e.Parent)
	if err != nil {
		return err
	}
	tree, conflicts, err := r.threeWay(ctx, e.Commit, head, e.Parent)
	if err != nil {
		return err
	}
	now, _, err := r.Repo.TreeOf(ctx, head)
	switch {
	case err != nil:
		return err
	case len(conflicts) > 0:
		var files []string
		for _, path := range atMost(conflicts, 10) {
			files = append(files, strings.ReplaceAll(plain.Path(path), "`", "'"))
		}
		return say("Iteration %d cannot be undone: later ones changed the same lines of `%s`. Undo "+
			"those first.", iteration, strings.Join(files, "`, `"))
	case tree == now:
		return say("Nothing of iteration %d is left on %s, so there is nothing to undo.", iteration, r.branch())
	}
	reverts := "commit " + e.Commit
	if first := commits[len(commits)-1].ID; first != e.Commit {
		reverts = fmt.Sprintf("the commits %s to %s", first, e.Commit)
	}
	move.New, err = r.commitTree(ctx, tree,
		r.signed("Undo iteration %d\n\nThis reverts %s.\n\n", iteration, reverts), head)
	u.move, u.done[iteration] = &move, true
	u.said[iteration] = fmt.Sprintf("Iteration %d is undone by commit %.12s; a new baseline is measured.", iteration,
		move.New)
	return err
}
