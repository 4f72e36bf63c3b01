package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// fault says in a line why a skill cannot be measured.
type fault string

func (f fault) Error() string { return string(f) }

// measure runs the suite for the skill in dir and leaves the cases below out; label is
// what people call it. Where the skill cannot be measured the error is a fault.
func (l *Loop) measure(ctx context.Context, label, dir, out string) (r evalrun.Result, err error) {
	r, err = l.evaluate(ctx, l.Suite, label, dir, out)
	if misuse.Is(err) && ctx.Err() == nil {
		err = fault(plain.Short(err.Error(), lineWidth))
	}
	return r, err
}

// evaluate runs a suite of v0 for the skill in dir. The inputs of its cases are
// those of v0 too, whatever a candidate made of them.
func (l *Loop) evaluate(ctx context.Context, suite *evalrun.Skill, label, dir, out string) (r evalrun.Result,
	err error,
) {
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // for people, like the workspace that it is in
		return r, err
	}
	of := *suite
	if of.Inputs, err = l.unpacked(ctx, suite.Dir); err != nil {
		return r, err
	}
	if of.Dir, err = l.unpacked(ctx, dir); err != nil {
		return r, err
	}
	o := l.Options
	l.Begin(label + ": the cases run")
	o.Progress = func(line string) { l.Tell(label + ": " + line) }
	return l.Evaluate(ctx, &of, out, o)
}

// unpacked is a snapshot with the modes that it stands for: on disk it is
// read-only, and a case would be another one with that than with a candidate.
// Any other directory is returned as it is.
func (l *Loop) unpacked(ctx context.Context, dir string) (string, error) {
	if _, err := os.Lstat(ManifestFile(dir)); errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	place := filepath.Join(l.Dir, filepath.Base(dir))
	_, err := Restore(ctx, dir, place)
	return place, err
}

// triggersOf is where the trigger queries of a version leave what they scored: beside
// the iterations, since other scorers count every grading below one.
func triggersOf(w *Workspace, version int) string {
	return filepath.Join(w.Dir, "triggers", filepath.Base(w.Iteration(version)))
}

// Triggers runs the trigger queries of the original and of the best version,
// each of them once in a workspace. They are a figure of the report and decide
// nothing. What they leave gets its name when all of it is there.
func (l *Loop) Triggers(ctx context.Context) error {
	suite := l.Suite.TriggerSuite()
	if suite == nil || !evalrun.Chooses(l.Options.Agent.Name()) {
		return nil
	}
	for _, version := range []int{0, l.Best} {
		place := triggersOf(l.Workspace, version)
		if _, err := os.Lstat(place); err == nil {
			continue
		}
		fresh, label := filepath.Join(filepath.Dir(place), ".fresh"), fmt.Sprintf("trigger queries of v%d", version)
		err := files.RemoveAll(fresh)
		if err == nil {
			_, err = l.evaluate(ctx, suite, label, l.Version(version), fresh)
		}
		if err == nil {
			err = os.Rename(fresh, place)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
	}
	return nil
}
