// Package skill improves a skill in its workspace, without a repository: an
// agent changes a candidate, the eval suite of the original measures it, and
// what is strictly better becomes the next version. The original is only read.
package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// Loop improves one skill, once. All exported fields must be set.
type Loop struct {
	*workspace.Workspace
	// Suite is that of v0, Options what it is run with, and Dir a directory in which
	// snapshots are unpacked.
	Suite   *evalrun.Skill
	Options evalrun.Options
	Dir     string
	// Improver changes candidates; Model and Command are handed on to it.
	Improver       agent.Agent
	Model, Command string
	// Most is how many iterations there are at most in this run, StopAfter how
	// many reverts in a row end it. A run that was killed is finished by the next one
	// of as many.
	Most, StopAfter int
	// Runs is how often each side is measured before a candidate is kept: 1 is
	// the plain comparison of two single runs, more are so many pairs, 0 begins
	// plain and comes to pairs when a version gives two numbers (docs/explain/decisions.md).
	Runs int
	// NoCaseRegression turns down a candidate that loses a case that passed.
	NoCaseRegression bool
	Timeout          time.Duration
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

	// run takes the place of evalrun.Run.
	run func(ctx context.Context, skill *evalrun.Skill, out string, o evalrun.Options) (evalrun.Result, error)

	rows []results.Row
	last int // iteration
	best evalrun.Result
	// noisy says that a version gave two numbers.
	noisy bool
}

// Ended says why a run ended.
type Ended string

// The reasons.
const (
	PerfectBaseline Ended = "perfect-baseline" // the original passes everything: no iteration was run
	Perfect         Ended = "perfect"          // a version passes everything, an earlier run's too
	Stuck           Ended = "stuck"            // StopAfter reverts in a row
	Exhausted       Ended = "iterations"
)

// Run runs iterations until the score is perfect, stuck, or there were enough.
// A workspace that has some goes on where it was.
func (l *Loop) Run(ctx context.Context) (ended Ended, err error) {
	if err := l.begin(ctx); err != nil {
		return "", err
	}
	for ended == "" {
		done, reverts := l.Workspace.Run.Done(l.rows)
		perfect := l.best.Rate.Cmp(big.NewRat(1, 1)) >= 0
		switch {
		case perfect && l.Best == 0:
			ended = PerfectBaseline
		case perfect:
			ended = Perfect
		case l.StopAfter > 0 && reverts >= l.StopAfter:
			ended = Stuck
		case done >= l.Most:
			ended = Exhausted
		default:
			if err := l.iterate(ctx); err != nil {
				return "", err
			}
		}
	}
	if l.last > 0 { // the last one may have been reverted
		if err := l.restore(ctx); err != nil {
			return "", err
		}
	}
	l.Workspace.Run, l.Whole = nil, ended == Exhausted
	return ended, l.Save()
}

// begin reads where the workspace is, and measures the original when nobody has.
func (l *Loop) begin(ctx context.Context) error {
	w := l.Workspace
	table, err := w.Results()
	if err != nil {
		return err
	}
	l.rows = table.Rows()
	var start int
	w.Best, l.last, start = standing(l.rows)
	if _, err := workspace.Verify(ctx, w.Version(w.Best)); err != nil {
		return err
	}
	if !w.Run.Resumes(l.Most) {
		w.Run, w.Whole = &workspace.Run{After: l.last, Count: l.Most}, false
	}
	if len(l.rows) == 0 {
		w.Executor = &l.Executor
		if err := w.Save(); err != nil {
			return err
		}
		return l.baseline(ctx, 0, results.InitialEvaluation)
	}
	if err = l.read(); err != nil {
		return err
	}
	for _, row := range l.rows { // the table is the record, where gradings were lost since
		if row.Iteration == w.Best && row.Score != nil && row.Score.Cmp(evals.RateValue(l.best.Rate)) != 0 {
			l.best.Rate = row.Score.Rat()
		}
	}
	// What measured the best version more than once came to pairs; before the last baseline that says
	// nothing of the executor of now.
	for n := start; n <= l.last; n++ {
		_, err := os.Lstat(filepath.Join(w.Iteration(n), incumbentRun+"2"))
		l.noisy = l.noisy || err == nil
	}
	why := w.Executor.Changed(&l.Executor)
	if why == "" {
		w.Executor = &l.Executor
		return w.Save()
	}
	// What the best version was graded before says nothing about what comes now: it is a new
	// baseline, as a version of its own.
	n := l.last + 1
	if err := w.Again(ctx, w.Best, n); err != nil {
		return err
	}
	if err := l.baseline(ctx, n, fmt.Sprintf("v%d measured anew: %s", w.Best, why)); err != nil {
		return err
	}
	l.noisy = false
	w.Best, w.Executor = n, &l.Executor
	return w.Save()
}

// baseline measures the best version as iteration n. Where no case came to its end there
// is nothing to improve on.
func (l *Loop) baseline(ctx context.Context, n int, text string) (err error) {
	if err := os.RemoveAll(l.Iteration(n)); err != nil { // what an interrupted iteration left
		return err
	}
	var fault string
	l.best, fault, err = l.measure(ctx, fmt.Sprint("iteration ", n), l.Version(n), l.Iteration(n))
	if err != nil {
		return err
	}
	if fault == "" {
		fault = crashed(l.best.Cases)
	}
	if fault != "" {
		return fmt.Errorf("v%d cannot be measured: %s", l.Best, fault)
	}
	score := evals.RateValue(l.best.Rate)
	return l.enter(n, &score, results.Baseline, text)
}

// crashed says why no case came to its end, "" when one did.
func crashed(cases []evals.CaseScore) string {
	for _, c := range cases {
		if c.Problem == "" {
			return ""
		}
	}
	if len(cases) == 0 {
		return ""
	}
	return "every case failed before it could be graded (" + cases[0].ID + ": " + cases[0].Problem + ")"
}

// read takes the runs by which the best version was kept.
func (l *Loop) read() error {
	best := l.Best
	runs, err := VersionRuns(l.Workspace, best, best)
	if err != nil {
		return err
	}
	l.best, err = evalrun.ReadAll(l.Suite, runs...)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("what v%d was graded is not there any more, so that nothing can be held against it; begin a "+
			"new workspace with --fresh: %w", best, err)
	}
	return err
}

// enter writes a row; the score is nil where nothing was measured.
func (l *Loop) enter(n int, score *metric.Value, action results.Action, text string) error {
	row := results.Row{Iteration: n, Time: l.Now(), Score: score, Action: action, Changelog: text}
	if err := l.Append(row); err != nil {
		return err
	}
	table, err := l.Results()
	if err != nil {
		return err
	}
	l.rows, l.last = table.Rows(), n
	l.Progress(l.rows[len(l.rows)-1])
	return nil
}
