package loop

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// undoing takes kept iterations back by commits on top of the branch. The
// iteration after it finds commits without a measurement, and makes a new
// baseline.
type undoing struct {
	old, head string
	answers   map[int]undone
}

type undone struct {
	text string
	good bool
}

// maxRefusal bounds the words of a remote in an answer.
const maxRefusal = 600

// prepareUndo makes the commits for all iterations that are to be undone. Nothing
// points to them until the records do.
func (r *thread) prepareUndo(ctx context.Context) (*undoing, error) {
	u := &undoing{answers: map[int]undone{}}
	done := commands.ParseMark(r.records.sum.CommandsUntil)
	for _, c := range r.comments.Comments {
		for _, command := range c.Commands {
			if _, undone := u.answers[command.Iteration]; undone || command.Kind != commands.Undo ||
				done.Knows(c.ID, c.Place) {
				continue
			}
			if u.old == "" {
				head, err := r.Memory.HeadOf(ctx, r.ref())
				if err != nil {
					return nil, err
				}
				u.old, u.head = head, head
			}
			answer, err := r.undo(ctx, u, command.Iteration)
			if err != nil {
				return nil, err
			}
			u.answers[command.Iteration] = answer
		}
	}
	return u, nil
}

// undo reverts one iteration on top of the branch.
func (r *thread) undo(ctx context.Context, u *undoing, iteration int) (undone, error) {
	commit := ""
	for _, e := range history.Of[*history.Decided](r.records.log.Events) {
		if e.Iteration == iteration {
			commit = e.Commit
		}
	}
	none := func(format string, args ...any) (undone, error) {
		return undone{fmt.Sprintf(format, args...), false}, nil
	}
	if last := r.records.sum.Iteration; iteration > last {
		return none("There is no iteration %d: %d is the last.", iteration, last)
	}
	if commit == "" || u.head == "" {
		return none("Iteration %d kept nothing, so there is nothing to undo.", iteration)
	}
	on, err := r.Repo.IsAncestor(ctx, commit, u.head)
	if err != nil {
		return undone{}, err
	}
	if !on {
		return none("The commit of iteration %d is not on %s any more.", iteration,
			r.branch())
	}
	first, err := r.firstCommit(ctx, commit, iteration)
	if err != nil {
		return undone{}, err
	}
	tree, conflicts, err := threeWay(ctx, r.Repo, commit, u.head, first+"^", r.Now())
	if err != nil {
		return undone{}, err
	}
	if len(conflicts) > 0 {
		var files []string
		for _, path := range conflicts[:min(len(conflicts), 10)] {
			files = append(files, strings.ReplaceAll(plain.Path(path), "`", "'"))
		}
		return none("Iteration %d cannot be undone: later ones changed the same lines of `%s`. Undo "+
			"those first.", iteration, strings.Join(files, "`, `"))
	}
	if now, _, err := r.Repo.TreeOf(ctx, u.head); err != nil {
		return undone{}, err
	} else if tree == now {
		return none("Nothing of iteration %d is left on %s, so there is nothing to undo.", iteration,
			r.branch())
	}
	reverts := "commit " + commit
	if first != commit {
		reverts = fmt.Sprintf("the commits %s to %s", first, commit)
	}
	message := fmt.Sprintf("[Autoloop: %s] Undo iteration %d\n\nThis reverts %s.\n\nAutoloop-Run: %s\n", r.Program.Name,
		iteration, reverts, r.id) + r.SignOff
	head, err := r.Repo.CommitTree(ctx, tree, []string{u.head}, message, r.Now().Truncate(time.Second))
	if err != nil {
		return undone{}, err
	}
	u.head = head
	return undone{fmt.Sprintf("Iteration %d is undone by commit %.12s; a new baseline is measured.", iteration,
		head), true}, nil
}

// firstCommit is the candidate of an iteration whose last commit is known: fixes for CI
// are commits on top of it.
func (r *thread) firstCommit(ctx context.Context, commit string, iteration int) (string, error) {
	at, err := r.Repo.ReadCommit(ctx, commit)
	for range maxFixes {
		if err != nil || len(at.Parents) != 1 {
			break
		}
		var before git.Commit
		before, err = r.Repo.ReadCommit(ctx, at.Parents[0])
		if err != nil || before.Trailers()["Autoloop-Iteration"] != strconv.Itoa(iteration) {
			break
		}
		at = before
	}
	return at.ID, err
}
