package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// triggersOf is where the trigger queries of a version leave what they scored: beside
// the iterations, since other scorers count every grading below one.
func triggersOf(w *workspace.Workspace, version int) string {
	return filepath.Join(w.Dir, "triggers", filepath.Base(w.Iteration(version)))
}

// Triggers runs the trigger queries of the original and of the best version,
// each of them once in a workspace. They are a figure of the report and decide
// nothing.
func (e *SuiteEvals) Triggers(ctx context.Context) error {
	suited := e.Suited.TriggerSuite()
	if suited == nil || !evalrun.Chooses(e.Options.Agent.Name()) {
		return nil
	}
	for _, version := range []int{0, e.Workspace.Best} {
		if _, err := os.Lstat(triggersOf(e.Workspace, version)); err == nil {
			continue
		}
		if err := e.trigger(ctx, e.Workspace, suited, version); err != nil {
			return fmt.Errorf("trigger queries of v%d: %w", version, err)
		}
	}
	return nil
}

// trigger runs the queries for one version. What they leave gets its name when
// all of it is there.
func (e *SuiteEvals) trigger(ctx context.Context, w *workspace.Workspace, suited *evalrun.Skill, version int) error {
	of, err := e.version(ctx, suited, w.Version(version))
	if err != nil {
		return err
	}
	place := triggersOf(w, version)
	fresh := filepath.Join(filepath.Dir(place), ".fresh")
	if err := files.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.MkdirAll(fresh, 0o755); err != nil { //nolint:gosec // for people, like the workspace that it is in
		return err
	}
	if _, err := evalrun.Run(ctx, of, fresh, e.labelled(fmt.Sprintf("trigger queries of v%d", version))); err != nil {
		return err
	}
	return os.Rename(fresh, place)
}

// triggerRun is what the trigger queries came to for one version.
type triggerRun struct {
	version int
	evalrun.Result
}

// triggerRuns reads the trigger queries of the versions for which they were run.
func (g graded) triggerRuns() (list []triggerRun, err error) {
	queries := g.suite.TriggerSuite()
	for _, row := range g.rows {
		if row.Action == results.Reverted || queries == nil {
			continue
		}
		found, err := evalrun.Read(queries, triggersOf(g.Workspace, row.Iteration))
		switch {
		case err == nil:
			list = append(list, triggerRun{row.Iteration, found})
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return list, nil
}

// triggerFigures are the figures of the trigger queries, a version each.
func (g graded) triggerFigures() ([]render.SkillTriggers, error) {
	runs, err := g.triggerRuns()
	var list []render.SkillTriggers
	for _, found := range runs {
		figure := render.SkillTriggers{
			Version: found.version, Score: evals.RateValue(found.Rate),
			Total: len(found.Cases), Failures: []render.SkillFailure{},
		}
		for i, c := range found.Cases {
			figure.Right += c.Passed
			for _, failure := range failuresOf(found.Cases[i : i+1]) {
				failure.Text = fmt.Sprintf("%s: %s", g.suite.Triggers[i].Query, failure.Text)
				figure.Failures = append(figure.Failures, failure)
			}
		}
		list = append(list, figure)
	}
	return list, err
}

// SuiteEvals measures versions by the suite of v0.
type SuiteEvals struct {
	Workspace *workspace.Workspace
	Suited    *evalrun.Skill
	Options   evalrun.Options
	// Dir is a directory in which snapshots are unpacked.
	Dir string
	// Begin is told what goes on from now, and Tell of the cases.
	Begin, Tell func(string)
}

// Measure runs the suite for the skill in dir.
func (e *SuiteEvals) Measure(ctx context.Context, label, dir, out string) (Measured, error) {
	version, err := e.version(ctx, e.Suited, dir)
	if err != nil {
		return Measured{}, err
	}
	result, err := evalrun.Run(ctx, version, out, e.labelled(label))
	var fault *misuse.Error
	if ctx.Err() == nil && errors.As(err, &fault) {
		return Measured{Fault: plain.Short(err.Error(), lineWidth)}, nil
	}
	if err != nil {
		return Measured{}, err
	}
	return e.measured(result), nil
}

// labelled are the options of a run whose cases are told with what they are of.
func (e *SuiteEvals) labelled(label string) evalrun.Options {
	o := e.Options
	e.Begin(label + ": the cases run")
	o.Progress = func(done, total int, c evals.CaseScore) {
		e.Tell(label + ": " + c.Line(done, total))
	}
	return o
}

// version is a suite of v0 with the skill in dir. The inputs of its cases are
// those of v0 too, whatever a candidate made of them.
func (e *SuiteEvals) version(ctx context.Context, suited *evalrun.Skill, dir string) (*evalrun.Skill, error) {
	version := *suited
	var err error
	if version.Inputs, err = e.unpacked(ctx, suited.Dir); err != nil {
		return nil, err
	}
	version.Dir, err = e.unpacked(ctx, dir)
	return &version, err
}

// unpacked is a snapshot with the modes that it stands for: on disk it is
// read-only, and a case would be another one with that than with a candidate.
// Any other directory is returned as it is.
func (e *SuiteEvals) unpacked(ctx context.Context, dir string) (string, error) {
	if _, err := os.Lstat(workspace.ManifestFile(dir)); errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	place := filepath.Join(e.Dir, filepath.Base(dir))
	_, err := workspace.Restore(ctx, dir, place)
	return place, err
}

// Read takes together what earlier calls of Measure left.
func (e *SuiteEvals) Read(outs ...string) (Measured, error) {
	result, err := evalrun.ReadAll(e.Suited, outs...)
	if err != nil {
		return Measured{}, err
	}
	return e.measured(result), nil
}

// maxFailures bounds what an improver hears of failures, in bytes.
const maxFailures = 4000

func (e *SuiteEvals) measured(r evalrun.Result) Measured {
	return Measured{
		Graded: e.Suited.Graded(), Rate: r.Rate, Runs: r.Runs(),
		Failures: e.Options.Masker.String(evalrun.Failures(r, maxFailures)),
	}
}
