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
