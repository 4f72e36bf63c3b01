// Package skill improves a skill in its workspace, without a repository: an
// agent changes a candidate, the eval suite of the original measures it, and
// what is strictly better becomes the next version. The original is only read.
package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Loop improves one skill, once. All exported fields must be set.
type Loop struct {
	*Workspace
	// Suite is that of v0, Options what it is run with, and Dir a directory in which
	// snapshots are unpacked.
	Suite   *evalrun.Skill
	Options evalrun.Options
	Dir     string
	// Improver changes candidates; the program's model and Command are handed on to it.
	Improver agent.Agent
	Command  string
	// Program says how candidates are decided: Runs is how often each side is measured before one is
	// kept: 1 is the plain comparison of two single runs, more are so many pairs, 0 begins plain and
	// comes to pairs when a version gives two numbers (docs/explain/decisions.md).
	Program *program.Program
	// Most is how many iterations there are at most in this run. A run that was killed is finished by
	// the next one of as many.
	Most int
	// Home makes a fresh home for the improver and returns it with the whole
	// environment; it is removed with the run's directory.
	Home func() (home string, env []string, err error)
	Now  func() time.Time
	// Executor is who works on the cases, and who grades them: where that is
	// another than before, the best version is measured anew first.
	Executor history.Executor
	// Begin is told what goes on from now, Say what the improver says, Tell of each case
	// and Progress of each iteration as it ends.
	Begin, Say, Tell func(string)
	Progress         func(results.Row)

	// Evaluate is evalrun.Run.
	Evaluate func(ctx context.Context, skill *evalrun.Skill, out string, o evalrun.Options) (evalrun.Result, error)

	// What the workspace has, and what its best version came to.
	table Table
	best  evalrun.Result
	// noisy says that a version gave two numbers.
	noisy bool
}

// Ended says why a run ended.
type Ended string

// The reasons.
const (
	PerfectBaseline Ended = "perfect-baseline" // the original passes everything: no iteration was run
	Perfect         Ended = "perfect"          // a version passes everything, an earlier run's too
	Stuck           Ended = "stuck"            // so many reverts in a row
	Exhausted       Ended = "iterations"
)

// Run runs iterations until the score is perfect, stuck, or there were enough.
// A workspace that has some goes on where it was.
func (l *Loop) Run(ctx context.Context) (ended Ended, err error) {
	if err := l.begin(ctx); err != nil {
		return "", err
	}
	stop := l.Program.StopAfterReverts
	for ended == "" {
		done, reverts := l.Workspace.Run.Done(l.table.Rows)
		perfect := l.best.Rate.Cmp(metric.FromInt(1)) >= 0
		switch {
		case perfect && l.table.Best == 0:
			ended = PerfectBaseline
		case perfect:
			ended = Perfect
		case stop > 0 && reverts >= stop:
			ended = Stuck
		case done >= l.Most:
			ended = Exhausted
		default:
			if err := l.iterate(ctx); err != nil {
				return "", err
			}
		}
	}
	if l.table.Last > 0 { // the last one may have been reverted
		if err := l.restore(ctx); err != nil {
			return "", err
		}
	}
	l.Workspace.Run, l.Whole = nil, ended == Exhausted
	return ended, l.Save()
}

// begin notes the run, and measures the original when nobody has, or the best version when
// another executor did: what it was graded before says nothing about what comes now. That is a
// new baseline, as a version of its own.
func (l *Loop) begin(ctx context.Context) (err error) {
	w := l.Workspace
	if l.table, err = w.Results(); err != nil {
		return err
	}
	best, next := l.table.Best, l.table.Last+1
	same, err := Verify(ctx, w.Version(best))
	if err != nil {
		return err
	}
	if !w.Run.Resumes(l.Most) {
		w.Run, w.Whole = &Run{After: l.table.Last, Count: l.Most}, false
	}
	why, isNew := w.Executor.Changed(&l.Executor), len(l.table.Rows) == 0
	if !isNew && why != "" {
		if err := PutSnapshot(ctx, same, w.Version(next)); err != nil {
			return err
		}
		w.Executor = &l.Executor
		return l.baseline(ctx, best, next, fmt.Sprintf("v%d measured anew: %s", best, why))
	}
	w.Executor = &l.Executor
	if err := w.Save(); err != nil {
		return err
	}
	if isNew {
		return l.baseline(ctx, 0, 0, results.InitialEvaluation)
	}
	return l.load()
}

// baseline measures a version, which is the version n too, as iteration n. Where no case came to
// its end there is nothing to improve on.
func (l *Loop) baseline(ctx context.Context, version, n int, text string) error {
	if err := os.RemoveAll(l.Iteration(n)); err != nil { // what an interrupted iteration left
		return err
	}
	found, err := l.measure(ctx, fmt.Sprint("iteration ", n), l.Version(n), l.Iteration(n))
	ended := func(c suite.CaseScore) bool { return c.Problem == "" }
	if err == nil && len(found.Cases) > 0 && !slices.ContainsFunc(found.Cases, ended) {
		err = fault("every case failed before it could be graded (" + found.Cases[0].ID + ": " +
			found.Cases[0].Problem + ")")
	}
	if why, is := errors.AsType[fault](err); is {
		return fmt.Errorf("v%d cannot be measured: %w", version, why)
	}
	if err != nil {
		return err
	}
	l.best = found
	return l.enter(results.Row{Iteration: n, Score: &found.Rate, Action: results.Baseline, Changelog: text})
}

// load reads what the best version came to, by the runs that it was kept by.
func (l *Loop) load() error {
	best := l.table.Best
	runs, err := VersionRuns(l.Workspace, best, best)
	if err != nil {
		return err
	}
	l.best, err = evalrun.ReadAll(l.Suite, runs...)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("what v%d was graded is not there any more, so that nothing can be held against it; begin a "+
			"new workspace with --fresh: %w", best, err)
	}
	if err != nil {
		return err
	}
	// the table is the record, where gradings were lost since
	if row := l.table.Row(best); row != nil && row.Score != nil {
		l.best.Rate = *row.Score
	}
	// What measured the best version more than once came to pairs; before the last baseline that says
	// nothing of the executor of now.
	for n := l.table.Start; n <= l.table.Last; n++ {
		_, err := os.Lstat(filepath.Join(l.Iteration(n), incumbentRun+"2"))
		l.noisy = l.noisy || err == nil
	}
	return nil
}

// enter writes a row, and then the manifest.
func (l *Loop) enter(row results.Row) error {
	row.Time = l.Now()
	if err := l.Append(row); err != nil {
		return err
	}
	if err := l.Save(); err != nil {
		return err
	}
	var err error
	if l.table, err = l.Results(); err == nil {
		l.Progress(*l.table.Row(row.Iteration)) // with the best score
	}
	return err
}
