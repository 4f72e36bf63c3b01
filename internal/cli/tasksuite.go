package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
)

// taskSuite runs a task suite, alone or inside a program's loop.
type taskSuite struct {
	suiteSetup

	// RepoDir is where the repository of commits is looked for.
	RepoDir string
	// USD bounds what a comparison may cost besides the program's budget; "" does not.
	USD string
	// Fresh runs everything again, also what is kept; Override lets the agent work on
	// tasks that name another.
	Fresh, Override bool
}

// Measure runs the suite for one tree.
func (l *taskSuite) Measure(ctx context.Context, dir string, limit evaluation.Limit) (loop.Suited, error) {
	session, err := l.open(ctx, dir, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.Close()
	found, err := taskrun.Measure(ctx, session.suite, l.side("incumbent", dir), session.Options)
	if err != nil {
		return l.problem(ctx, found.Expense, err)
	}
	result := loop.Suited{
		Output: taskrun.Failures(found.Baseline), Noisy: found.Baseline.MayVary(),
		Expense: found.Expense.Given(),
	}
	if result.Incumbent = metricOf(found.Baseline); result.Incumbent == nil {
		result.Problem = "the suite came to no number"
	}
	return result, nil
}

// Compare runs it for both trees.
func (l *taskSuite) Compare(ctx context.Context, incumbent, candidate string,
	limit evaluation.Limit,
) (loop.Suited, error) {
	session, err := l.open(ctx, incumbent, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.Close()
	found, err := taskrun.Run(ctx, session.suite, l.side("incumbent", incumbent), l.side("candidate", candidate),
		session.Options)
	if err != nil {
		return l.problem(ctx, found.Expense, err)
	}
	result := loop.Suited{
		Verdict: found.Verdict, Reasons: found.Lines(), Output: taskrun.Failures(found.Candidate),
		Noisy: found.Baseline.MayVary() || found.Candidate.MayVary(), Expense: found.Expense.Given(),
	}
	result.Incumbent, result.Candidate = metricOf(found.Baseline), metricOf(found.Candidate)
	if found.Verdict == decision.Improved && (!found.Promotable || result.Candidate == nil) {
		result.Verdict = decision.Neutral
	}
	return result, nil
}

// problem makes what is wrong with suite or candidate an outcome, and so what
// keeps the suite from being run to its end; the rest is an error of the program itself.
func (l *taskSuite) problem(ctx context.Context, expense history.Expense, err error) (loop.Suited, error) {
	const most = 400
	var wrong *misuse.Error
	result := loop.Suited{Expense: expense.Given()}
	switch {
	case errors.As(err, &wrong):
		result.Problem = plain.Short(err.Error(), most)
	case errors.Is(err, taskrun.ErrIncomplete) && ctx.Err() == nil:
		result.Unfinished = plain.Short(err.Error(), most)
	default:
		return result, err
	}
	return result, nil
}

func metricOf(o format.SuiteOutcome) *metric.Value {
	if key, ok := score.Metric(o); ok {
		return &key
	}
	return nil
}

// side is a tree as a configuration.
func (l *taskSuite) side(label, dir string) taskrun.Side {
	return taskrun.Side{Label: label, Dir: dir, Config: l.config()}
}

// openSuite is a suite that was read, ready to be run.
type openSuite struct {
	*taskSession
	suite *taskrun.TaskSuite
}

// open reads the suite of the incumbent and wires its run.
func (l *taskSuite) open(ctx context.Context, dir string, limit evaluation.Limit) (*openSuite, error) {
	place := filepath.Join(dir, filepath.FromSlash(l.Program.Tasks))
	loaded, err := taskrun.Load(ctx, place)
	if err != nil {
		return nil, err
	}
	session, err := l.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	session.Options.Budget = work.Budget{Tokens: limit.Tokens, USD: limit.CostUSD}
	session.Options.Progress = func(now taskrun.Progress) {
		if l.Tell != nil && now.Task != "" {
			l.Tell(strconv.Itoa(now.Done) + " of " + strconv.Itoa(now.Total) + " runs: " + now.Task +
				" of the " + now.Side)
		}
	}
	return &openSuite{session, loaded}, nil
}

// ExecutedBy describes who works on the tasks, and who judges them; nil where they
// cannot: the suite says why.
func (l *taskSuite) ExecutedBy(ctx context.Context, dir string) *history.Executor {
	masker := process.NewMasker(l.Env.Environ)
	worker, err := l.ready(ctx, l.executor(), l.Command(), l.Env.NewRunner(), masker)
	if err != nil {
		return nil
	}
	by, _, _ := l.judge(dir, masker) // the suite says why there is nobody
	found, err := l.describe(ctx, worker, by)
	if err != nil {
		return nil
	}
	return found
}

// keepRuns is how long finished runs serve. Models change behind their names:
// an older baseline says too little about today.
const keepRuns = 30 * 24 * time.Hour

// taskSession are the directories of one comparison, and all that it works with.
type taskSession struct {
	Options  taskrun.Options
	removals []func()
}

// Close removes what is not kept.
func (s *taskSession) Close() {
	for _, remove := range s.removals {
		remove()
	}
}

// newDir makes a directory that Close removes.
func (s *taskSession) newDir(below string) (string, error) {
	dir, remove, err := tree.NewRunDir(below)
	if err == nil {
		s.removals = append(s.removals, remove)
	}
	return dir, err
}

// Open makes ready what a run of the suite in a directory works with.
func (l *taskSuite) Open(ctx context.Context, suite string) (s *taskSession, err error) {
	s = &taskSession{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	user := l.Env.CacheDir()
	if user == "" {
		return s, misuse.Errorf("there is no directory for finished runs: set HOME or XDG_CACHE_HOME")
	}
	kept := filepath.Join(user, "autoloop", "tasks")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return s, fmt.Errorf("make the directory of finished runs: %w", err)
	}
	stage, err := s.newDir(kept)
	if err != nil {
		return s, fmt.Errorf("work in the directory of finished runs: %w", err)
	}
	run, err := s.newDir(l.Env.TempDir())
	if err != nil {
		return s, err
	}
	s.Options, err = l.options(ctx, run, suite, &cache.Archive{Dir: kept, Stage: stage})
	return s, err
}

// options build all that a comparison works with.
func (l *taskSuite) options(ctx context.Context, run, suite string, archive *cache.Archive) (taskrun.Options, error) {
	p, env, command := l.Program, l.Env, l.Command()
	masker := process.NewMasker(env.Environ)
	hidden := []string{archive.Dir, suite} // the tasks with their checks, and what is kept
	if repo, err := openRepo(ctx, env, l.RepoDir); err == nil {
		hidden = append(hidden, repo.CommonDir, repo.GitDir) // its configuration may hold a token
	}
	runner, err := l.isolated(ctx, run, hidden, command)
	if err != nil {
		return taskrun.Options{}, err
	}
	o := taskrun.Options{
		Agent: l.executor(), Model: l.model(), Command: command, CommandDigest: commandDigest(env, command), Env: p.Env,
		Override:     l.Override,
		Surroundings: fmt.Sprintf("isolated: %v, network: %v", runner.Isolation != nil, p.Network),
		Jobs:         p.Jobs, Runs: p.Runs, Fresh: l.Fresh,
		Agents: func(name string) (agent.Agent, error) {
			if name == "command" && command == "" {
				return nil, fmt.Errorf("agent command cannot be used: say with --agent-command what to run")
			}
			return l.ready(ctx, name, command, runner, masker)
		},
		Sandboxes: l.sandboxes(runner, masker), RunDir: run, Archive: archive, Session: env.NewRunID(), Masker: masker,
		Now: env.Now,
	}
	if o.Budget, err = budgetOf(p, l.USD); err != nil {
		return o, err
	}
	if o.Thresholds, err = thresholdsOf(p); err != nil {
		return o, err
	}
	archive.Forget(env.Now().Add(-keepRuns))
	o.Judge, o.NoJudge, err = l.judge(run, masker)
	return o, err
}

// Side finds a configuration: a directory, or a commit whose files are written
// to one.
func (l *taskSuite) Side(ctx context.Context, s *taskSession, flag, text string) (taskrun.Side, error) {
	side := l.side(text, l.Env.Path(text))
	if info, err := os.Stat(side.Dir); err == nil && info.IsDir() {
		return side, nil
	}
	repo, err := openRepo(ctx, l.Env, l.RepoDir)
	if err != nil {
		return side, misuse.Errorf("--%s %s is no directory, and there is no repository: %w", flag, text, err)
	}
	commit, found, err := repo.Resolve(ctx, text)
	if err != nil {
		return side, err
	}
	if !found {
		return side, misuse.Errorf("--%s %s is neither a directory nor a commit of %s", flag, text, repo.Root)
	}
	side.Dir = filepath.Join(s.Options.RunDir, flag)
	_, err = (&tree.Builder{Repo: repo.WithTemp(s.Options.RunDir)}).Build(ctx, commit, side.Dir, tree.Options{})
	return side, err
}
