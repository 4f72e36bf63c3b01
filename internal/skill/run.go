package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/work"
)

// Text says why a run of so many iterations ended.
func (ended Ended) Text(count int) string {
	if ended == Exhausted {
		return render.Count(count, "iteration", "iterations") + " done"
	}
	return string(ended)
}

// BrokenOff says how to go on after an interrupt, or when somebody who was needed gave
// no answer; "" after any other error.
func BrokenOff(ctx context.Context, w *workspace.Workspace, cause error) string {
	what := "interrupted"
	if ctx.Err() == nil {
		none, is := errors.AsType[*work.NoResultError](cause)
		if what = "broken off"; !is || none.What == suite.BudgetUsedUp {
			return ""
		}
	}
	table, err := w.Results()
	if err != nil {
		return ""
	}
	kept := "nothing was measured yet"
	if best, last := standing(table.Rows()); len(table.Rows()) > 0 {
		kept = fmt.Sprintf("iterations 0 to %d and v%d, the best, are kept", last, best)
	}
	return fmt.Sprintf("%s: %s in %s; the same command goes on from there\n", what, kept, w.Dir)
}

// GoesOn says what an earlier run left for one of so many iterations; "" for nothing.
func GoesOn(w *workspace.Workspace, name string, count int) (string, error) {
	table, err := w.Results()
	if err != nil || len(table.Rows()) == 0 {
		return "", err
	}
	best, last := standing(table.Rows())
	left := ""
	if w.Run.Resumes(count) {
		done, _ := w.Run.Done(table.Rows())
		left = fmt.Sprintf("; it finishes the run that was interrupted, %d of %d are left", count-done, count)
	}
	return fmt.Sprintf("%s: going on from v%d, iteration %d%s\n", name, best, last+1, left), nil
}

// standing is the best version of a table and its last iteration.
func standing(rows []results.Row) (best, last int) {
	for _, row := range rows {
		last = max(last, row.Iteration)
		if row.Action != results.Reverted {
			best = row.Iteration
		}
	}
	return best, last
}

// OpenOrCreate continues the workspace at a place, or makes it, for the skill in dir.
func OpenOrCreate(ctx context.Context, place, dir string, warnings io.Writer) (*workspace.Workspace, error) {
	if _, err := os.Lstat(filepath.Join(place, "manifest.json")); errors.Is(err, fs.ErrNotExist) &&
		!workspace.Foreign(place) {
		return workspace.Create(ctx, place, dir)
	}
	w, err := Open(ctx, place, warnings)
	if err != nil {
		return nil, err
	}
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return w, err
	}
	// A skill that is not where it was is taken for this one.
	if there, err := filepath.EvalSymlinks(w.Skill); err == nil && there != here {
		return w, misuse.Errorf("%s is the workspace of %s, not of %s: name another with --workspace", w.Dir, there, here)
	}
	w.Skill = here
	return w, nil
}
