package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/tasks/format"
	"github.com/org/autoloop/internal/tasks/score"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// TaskSuite runs the task suite of a program inside its loop.
type TaskSuite struct {
	Env     Env
	Program *program.Program
	// Root is the user's checkout, which the executor's command may name files of.
	Root string
	// Agent is who proposes, and works on the tasks unless the program says who.
	// Model is that agent's; "" is the program's.
	Agent, Model string
	Tell         func(string)
}

// Measure runs the suite for one tree.
func (l *TaskSuite) Measure(ctx context.Context, dir string, limit evaluation.Limit) (loop.Suited, error) {
	session, err := l.open(ctx, dir, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.place.Close()
	found, err := taskrun.Measure(ctx, session.suite, session.side("incumbent", dir), session.options)
	if err != nil {
		return l.problem(ctx, found.Expense, err)
	}
	result := loop.Suited{Output: taskrun.Failures(found.Outcome), Noisy: found.Outcome.MayVary(), Expense: found.Expense.Given()}
	if result.Incumbent = metricOf(found.Outcome); result.Incumbent == nil {
		result.Problem = "the suite came to no number"
	}
	return result, nil
}

// Compare runs it for both trees.
func (l *TaskSuite) Compare(ctx context.Context, incumbent, candidate string, limit evaluation.Limit) (loop.Suited, error) {
	session, err := l.open(ctx, incumbent, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.place.Close()
	found, err := taskrun.Run(ctx, session.suite, session.side("incumbent", incumbent), session.side("candidate", candidate), session.options)
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
func (l *TaskSuite) problem(ctx context.Context, expense history.Expense, err error) (loop.Suited, error) {
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

// taskSession is one run of the suite.
type taskSession struct {
	*TaskSuite

	place   *TaskPlace
	suite   *taskrun.TaskSuite
	options taskrun.Options
}

// side is a tree as a configuration: what the target matches, and where agents
// look besides, such as a CLAUDE.md that points to the target's AGENTS.md.
func (s *taskSession) side(label, dir string) taskrun.Side {
	return taskrun.Side{Label: label, Dir: dir, Config: s.config()}
}

func (l *TaskSuite) config() taskrun.Config {
	return taskrun.Config{Include: append(taskrun.AgentConfig().Include, program.Texts(l.Program.Targets)...)}
}

// open reads the suite of the incumbent and wires its run.
func (l *TaskSuite) open(ctx context.Context, dir string, limit evaluation.Limit) (*taskSession, error) {
	p := l.Program
	suiteDir := filepath.Join(dir, filepath.FromSlash(p.Tasks))
	loaded, err := taskrun.Load(ctx, suiteDir)
	if err != nil {
		return nil, err
	}
	o := TaskRun{
		Suite: suiteDir, Agent: l.executor(), Model: l.executorModel(), Command: l.WorkerCommand(), Env: p.Env,
		Judge: p.Judge, JudgeModel: p.JudgeModel, Runs: runsText(p), Jobs: p.Jobs, Network: p.Network, Isolation: p.Isolation,
	}
	place, err := NewTaskPlace(l.Env, o)
	if err != nil {
		return nil, err
	}
	session := &taskSession{TaskSuite: l, place: place, suite: loaded}
	if session.options, err = o.Wire(ctx, l.Env, place); err != nil {
		place.Close()
		return nil, err
	}
	if session.options.Thresholds, err = Thresholds(p); err != nil {
		place.Close()
		return nil, err
	}
	session.options.Budget = taskrun.Budget{Tokens: limit.Tokens, USD: limit.CostUSD}
	session.options.Progress = func(now taskrun.Progress) {
		if l.Tell != nil && now.Task != "" {
			l.Tell(strconv.Itoa(now.Done) + " of " + strconv.Itoa(now.Total) + " runs: " + now.Task + " of the " + now.Side)
		}
	}
	return session, nil
}

// ExecutedBy describes who works on the tasks, and who judges them; nil where they
// cannot: the suite says why.
func (l *TaskSuite) ExecutedBy(ctx context.Context, dir string) *history.Executor {
	masker, command := process.NewMasker(l.Env.Environ), l.WorkerCommand()
	var judge grader
	worker, err := NewRegistry(l.Env, l.Env.NewRunner(), masker).Ready(ctx, taskrun.AgentOf(l.executor()),
		agent.Situation{Env: l.Env.Environ, Command: command, Dir: l.Root})
	if err != nil {
		return nil
	}
	o := TaskRun{Judge: l.Program.Judge, JudgeModel: l.Program.JudgeModel}
	if chosen, _, err := o.chooseJudge(l.Env, &TaskPlace{run: dir}, masker); err == nil && chosen != nil {
		judge = chosen
	}
	found, err := Executor(ctx, l.Env, worker, l.executorModel(), command, judge)
	if err != nil {
		return nil
	}
	return found
}

// executor names who works on the tasks.
func (l *TaskSuite) executor() string {
	switch {
	case l.Program.Executor != "":
		return l.Program.Executor
	case l.Program.ExecutorCommand != "":
		return "command"
	default:
		return l.Agent
	}
}

// executorModel is the model of who works on the tasks.
func (l *TaskSuite) executorModel() string {
	if l.Program.Executor != "" || l.Program.ExecutorCommand != "" {
		return l.Program.Model
	}
	return cmp.Or(l.Model, l.Program.Model)
}

// WorkerCommand is the executor's command, with the files of the checkout that it
// names as absolute paths: the tasks run in sandboxes elsewhere. A file of the
// configuration stays as it is named, since every sandbox has its side's own.
func (l *TaskSuite) WorkerCommand() string {
	config := l.config()
	return process.ReplaceWords(l.Program.WorkerCommand(), func(word string) string {
		file := filepath.FromSlash(word)
		if info, err := os.Stat(filepath.Join(l.Root, file)); err != nil || !info.Mode().IsRegular() || !filepath.IsLocal(file) {
			return word
		}
		if l.Program.Evaluation == program.Tasks && config.Match(path.Clean(word)) {
			return word
		}
		return filepath.Join(l.Root, file)
	})
}

// Thresholds returns the thresholds that a program's frontmatter has.
func Thresholds(p *program.Program) (score.Thresholds, error) {
	thresholds := score.Thresholds{
		ObjectiveDropIsRegression: p.Thresholds.ObjectiveDropIsRegression,
		NetLossIsRegression:       p.Thresholds.NetLossIsRegression,
	}
	for _, number := range []struct {
		name string
		from float64
		to   *metric.Value
	}{
		{"min-composite-gain", p.Thresholds.MinCompositeGain, &thresholds.MinCompositeGain},
		{"regression-composite-drop", p.Thresholds.RegressionCompositeDrop, &thresholds.RegressionCompositeDrop},
		{"cost-tolerance", p.Thresholds.CostTolerance, &thresholds.CostTolerance},
	} {
		value, err := metric.FromFloat(number.from)
		if err != nil {
			return thresholds, misuse.Errorf("%s: %s: %w", p.File, number.name, err)
		}
		*number.to = value
	}
	return thresholds, nil
}
