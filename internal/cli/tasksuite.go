package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/tasks"
)

// taskSuite runs a task suite, alone or inside a program's loop.
type taskSuite struct {
	suiteSetup

	// fresh runs everything again, also what is kept; override lets the agent work on
	// tasks that name another.
	fresh, override bool

	// suite is what open has read, options are what it is run with.
	suite   *evalrun.TaskSuite
	options evalrun.TaskOptions
}

// Run runs the suite of the first tree within a limit, for that and for a candidate beside it.
// What is wrong with suite or candidate is an outcome, and so is what keeps the suite from being
// run to its end; the rest is an error of the program itself.
func (l *taskSuite) Run(ctx context.Context, limit metric.Limit, trees ...string) (result loop.Suited, err error) {
	var sides []evalrun.Side
	for i, dir := range trees {
		sides = append(sides, evalrun.Side{Label: []string{"incumbent", "candidate"}[i], Dir: dir})
	}
	const most = 400
	session, err := l.open(ctx, filepath.Join(sides[0].Dir, l.program.Tasks))
	defer session.close()
	var found tasks.Report
	if err == nil {
		session.options.Budget = evalrun.Budget{Limit: limit}
		found, err = evalrun.RunTasks(ctx, session.suite, session.options, sides...)
	}
	result.Expense = found.Expense.Given()
	if misuse.Is(err) {
		result.Problem = plain.Short(err.Error(), most)
		return result, nil
	}
	if _, none := errors.AsType[*evalrun.NoResultError](err); none && ctx.Err() == nil {
		result.Unfinished = plain.Short(err.Error(), most)
		return result, nil
	}
	if err != nil {
		return result, err
	}
	result.Incumbent, result.Noisy = tasks.Metric(found.Baseline), found.Baseline.MayVary()
	if len(sides) == 1 {
		if result.Output = evalrun.TaskFailures(found.Baseline); result.Incumbent == nil {
			result.Problem = "the suite came to no number"
		}
		return result, nil
	}
	result.Verdict, result.Reasons, result.Output = found.Verdict, found.Lines(), evalrun.TaskFailures(found.Candidate)
	result.Candidate, result.Noisy = tasks.Metric(found.Candidate), result.Noisy || found.Candidate.MayVary()
	if found.Verdict == decision.Improved && (!found.Promotable || result.Candidate == nil) {
		result.Verdict = decision.Neutral
	}
	return result, nil
}

// executedBy describes who works on the tasks, and who judges them; nil where they
// cannot: the suite says why.
func (l *taskSuite) executedBy(ctx context.Context, dir string) *history.Executor {
	worker, err := l.worker(ctx, l.executor, l.NewRunner())
	if err != nil {
		return nil
	}
	by, _, _ := l.judge(dir) // the suite says why there is nobody
	found, _ := l.describe(ctx, worker, by)
	return found
}

// keepRuns is how long finished runs serve. Models change behind their names:
// an older baseline says too little about today.
const keepRuns = 30 * 24 * time.Hour

// open returns the suite in a directory, ready to be run, with directories of its own. Also
// with an error it is there to be closed.
func (l *taskSuite) open(ctx context.Context, dir string) (s *taskSuite, err error) {
	app, copied := *l.App, *l
	app.removals = nil
	s = &copied
	s.App = &app
	if s.suite, err = evalrun.LoadTasks(ctx, dir); err != nil {
		return s, err
	}
	user := s.stateDir()
	if user == "" {
		return s, misuse.Errorf("there is no directory for finished runs: set HOME")
	}
	archive := &evalrun.Archive{Dir: filepath.Join(user, "tasks")}
	if err = os.MkdirAll(archive.Dir, 0o700); err == nil {
		archive.Stage, err = s.newRunDir(archive.Dir)
	}
	if err != nil {
		return s, fmt.Errorf("work in the directory of finished runs: %w", err)
	}
	run, err := s.newRunDir(s.TempDir())
	if err != nil {
		return s, err
	}
	hidden := []string{archive.Dir, dir} // the tasks with their checks, and what is kept
	if s.Repo != nil {
		hidden = append(hidden, s.Repo.CommonDir, s.Repo.GitDir) // its configuration may hold a token
	}
	p := s.program
	s.options = evalrun.TaskOptions{
		Agent: s.executor, Override: s.override, Runs: p.Runs, Fresh: s.fresh, Config: s.config(), Archive: archive,
		Session: s.NewRunID(), Thresholds: p.Thresholds,
	}
	o := &s.options
	if o.Runner, err = s.runner(ctx, run, hidden...); err != nil {
		return s, err
	}
	o.Surroundings = fmt.Sprintf("isolated: %v, network: %v, command: %s", s.commands.Isolation != nil, p.Network,
		s.commandDigest(o.Command))
	o.Agents = func(name string) (agent.Agent, error) {
		if name == "command" && o.Command == "" {
			return nil, fmt.Errorf("agent command cannot be used: say with --agent-command what to run")
		}
		return s.worker(ctx, name, s.commands)
	}
	o.Budget = budgetOf(p)
	o.Budget.CostUSD = cmp.Or(s.BudgetUSD, o.Budget.CostUSD)
	archive.Forget(s.Now().Add(-keepRuns))
	return s, nil
}

// findSide finds a configuration: a directory, or a commit whose files are written
// to one.
func (l *taskSuite) findSide(ctx context.Context, flag, text string) (evalrun.Side, error) {
	side := evalrun.Side{Label: text, Dir: l.Path(text)}
	if info, err := os.Stat(side.Dir); err == nil && info.IsDir() {
		return side, nil
	}
	if l.Repo == nil {
		return side, misuse.Errorf("--%s %s is no directory, and there is no repository", flag, text)
	}
	repo := l.Repo
	repo.Temp = l.options.RunDir
	commit, found, err := repo.Resolve(ctx, text)
	if err != nil {
		return side, err
	}
	if !found {
		return side, misuse.Errorf("--%s %s is neither a directory nor a commit of %s", flag, text, repo.Root)
	}
	side.Dir = filepath.Join(l.options.RunDir, flag)
	_, err = (&tree.Builder{Repo: repo}).Build(ctx, commit, side.Dir, tree.Options{})
	return side, err
}
