// Package skill improves a skill in its workspace, without a repository: an
// agent changes a candidate, the eval suite of the original measures it, and
// what is strictly better becomes the next version. The original is only read.
package skill

import (
	"cmp"
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
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evals"
)

// Measured is what evaluations of a version came to.
type Measured struct {
	// Rate is the score, of several runs their median.
	Rate *big.Rat
	// Runs are the cases of each run.
	Runs [][]evals.CaseScore
	// Failures says what did not pass, for the improver.
	Failures string
	// Graded says that a grader gave a part of the verdicts.
	Graded bool
	// Fault says in one line why the candidate cannot be measured, "" when it can.
	Fault string
}

// Evals measures versions by the suite of v0.
type Evals interface {
	// Measure runs the suite for the skill in dir and leaves the cases below out; label is
	// what people call it.
	Measure(ctx context.Context, label, dir, out string) (Measured, error)
	// Read takes together what earlier calls of Measure left in directories, of
	// one version.
	Read(outs ...string) (Measured, error)
}

// Loop improves one skill. All fields but the optional ones must be set.
type Loop struct {
	Workspace *workspace.Workspace
	Evals     Evals
	// Improver changes candidates; Model and Command are handed on to it.
	Improver       agent.Agent
	Model, Command string
	// Name is the skill's, for the prompt.
	Name string
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
	// Improving, optional, is told when the improver begins, with "", and then what it
	// says.
	Improving func(iteration int, line string)
	// Progress, optional, is told each iteration as it ends.
	Progress func(results.Row)
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
func (l *Loop) Run(ctx context.Context) (Ended, error) {
	s, err := l.begin(ctx)
	if err != nil {
		return "", err
	}
	ended, err := s.run(ctx)
	if err != nil {
		return "", err
	}
	if s.last > 0 { // the last one may have been reverted
		if err := s.restore(ctx); err != nil {
			return "", err
		}
	}
	l.Workspace.Run, l.Workspace.Whole = nil, ended == Exhausted
	return ended, l.Workspace.Save()
}

func (s *state) run(ctx context.Context) (Ended, error) {
	switch {
	case perfect(s.best.Rate) && s.Workspace.Best == 0:
		return PerfectBaseline, nil
	case perfect(s.best.Rate):
		return Perfect, nil
	}
	done, reverts := s.Workspace.Run.Done(s.rows)
	if s.StopAfter > 0 && reverts >= s.StopAfter {
		return Stuck, nil
	}
	for range s.Most - done {
		kept, err := s.iterate(ctx)
		switch {
		case err != nil:
			return "", err
		case kept && perfect(s.best.Rate):
			return Perfect, nil
		case kept:
			reverts = 0
		default:
			reverts++
		}
		if s.StopAfter > 0 && reverts >= s.StopAfter {
			return Stuck, nil
		}
	}
	return Exhausted, nil
}

func perfect(rate *big.Rat) bool { return rate.Cmp(big.NewRat(1, 1)) >= 0 }

// state is a run under way.
type state struct {
	*Loop

	rows []results.Row
	best Measured
	last int // iteration
	// noisy says that a version gave two numbers.
	noisy bool
}

// begin reads where the workspace is, and measures the original when nobody has.
func (l *Loop) begin(ctx context.Context) (*state, error) {
	table, err := l.Workspace.Results()
	if err != nil {
		return nil, err
	}
	s := &state{Loop: l, rows: table.Rows()}
	best, last := standing(s.rows)
	s.last = last
	if _, err := workspace.Verify(ctx, l.Workspace.Version(best)); err != nil {
		return nil, err
	}
	if !l.Workspace.Run.Resumes(l.Most) {
		l.Workspace.Run, l.Workspace.Whole = &workspace.Run{After: s.last, Count: l.Most}, false
	}
	if len(s.rows) > 0 {
		l.Workspace.Best = best
		if s.best, err = s.read(best); err != nil {
			return nil, err
		}
		for _, row := range s.rows { // the table is the record, where gradings were lost since
			if row.Iteration == best && row.Score != nil && s.best.Rate != nil &&
				row.Score.Cmp(evals.RateValue(s.best.Rate)) != 0 {
				s.best.Rate = row.Score.Rat()
			}
		}
		// What measured the best version more than once came to pairs; before the last baseline that says
		// nothing of the executor of now.
		for n := startOf(s.rows); n <= s.last; n++ {
			_, err := os.Lstat(filepath.Join(s.Workspace.Iteration(n), incumbentRun+"2"))
			s.noisy = s.noisy || err == nil
		}
		if why := l.Workspace.Executor.Changed(&l.Executor); why != "" {
			return s, s.measureAnew(ctx, best, why)
		}
	}
	l.Workspace.Executor = &l.Executor
	if err := l.Workspace.Save(); err != nil || len(s.rows) > 0 {
		return s, err
	}
	if err := s.baseline(ctx, 0, 0); err != nil {
		return nil, err
	}
	return s, s.enter(0, &s.best, results.Baseline, results.InitialEvaluation)
}

// baseline measures a version as iteration n. Where no case came to its end there
// is nothing to improve on.
func (s *state) baseline(ctx context.Context, version, n int) (err error) {
	if err := s.clear(n); err != nil {
		return err
	}
	s.best, err = s.Evals.Measure(
		ctx,
		fmt.Sprint("iteration ", n),
		s.Workspace.Version(version),
		s.Workspace.Iteration(n),
	)
	if err != nil {
		return err
	}
	if s.best.Fault == "" {
		s.best.Fault = s.best.crashed()
	}
	if s.best.Fault != "" {
		what := "the original"
		if version > 0 {
			what = fmt.Sprintf("v%d", version)
		}
		return fmt.Errorf("%s cannot be measured: %s", what, s.best.Fault)
	}
	return nil
}

// crashed says why no case of a measurement came to its end, "" when one did.
func (m Measured) crashed() string {
	first := ""
	for _, cases := range m.Runs {
		for _, c := range cases {
			if c.Problem == "" {
				return ""
			}
			first = cmp.Or(first, c.ID+": "+c.Problem)
		}
	}
	if first == "" {
		return ""
	}
	return "every case failed before it could be graded (" + first + ")"
}

// measureAnew makes the best version a new baseline, as a version of its own:
// what it was graded before says nothing about what comes now.
func (s *state) measureAnew(ctx context.Context, best int, why string) error {
	n := s.last + 1
	if err := s.baseline(ctx, best, n); err != nil {
		return err
	}
	if err := s.Workspace.Again(ctx, best, n); err != nil {
		return err
	}
	text := fmt.Sprintf("v%d measured anew: %s", best, why)
	if err := s.enter(n, &s.best, results.Baseline, text); err != nil {
		return err
	}
	s.noisy = false
	s.Workspace.Best, s.Workspace.Executor = n, &s.Executor
	return s.Workspace.Save()
}

func (s *state) clear(n int) error {
	if err := os.RemoveAll(s.Workspace.Iteration(n)); err != nil {
		return fmt.Errorf("remove what an interrupted iteration left: %w", err)
	}
	return nil
}

// read takes the runs by which a version was kept.
func (s *state) read(version int) (Measured, error) {
	runs, err := VersionRuns(s.Workspace, version, version)
	if err != nil {
		return Measured{}, err
	}
	found, err := s.Evals.Read(runs...)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("what v%d was graded is not there any more, so that nothing can be held against it; begin a "+
			"new workspace with --fresh: %w", version, err)
	}
	return found, err
}

// enter writes a row.
func (s *state) enter(n int, m *Measured, action results.Action, text string) error {
	row := results.Row{Iteration: n, Time: s.Now(), Action: action, Changelog: text}
	if m != nil && m.Rate != nil && m.Fault == "" {
		row.Score = new(evals.RateValue(m.Rate))
	}
	if err := s.Workspace.Append(row); err != nil {
		return err
	}
	s.rows, s.last = append(s.rows, row), n
	if s.Progress != nil {
		s.Progress(row)
	}
	return nil
}
