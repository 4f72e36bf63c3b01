package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/app"
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

// taskLoop runs the task suite of a program inside its loop.
type taskLoop struct {
	env     Env
	program *program.Program
	// root is the user's checkout, which the executor's command may name files of.
	root string
	// agent is who proposes, and works on the tasks unless the program says who.
	// model is that agent's; "" is the program's.
	agent, model string
	tell         func(string)
}

// Measure runs the suite for one tree.
func (l *taskLoop) Measure(ctx context.Context, dir string, limit evaluation.Limit) (loop.Suited, error) {
	session, err := l.open(ctx, dir, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.place.close()
	found, err := taskrun.Measure(ctx, session.suite, session.side("incumbent", dir), session.options)
	if err != nil {
		return l.problem(ctx, found.Expense, err)
	}
	result := loop.Suited{Output: failures(found.Outcome), Noisy: found.Outcome.MayVary(), Expense: found.Expense.Given()}
	if result.Incumbent = metricOf(found.Outcome); result.Incumbent == nil {
		result.Problem = "the suite came to no number"
	}
	return result, nil
}

// Compare runs it for both trees.
func (l *taskLoop) Compare(ctx context.Context, incumbent, candidate string, limit evaluation.Limit) (loop.Suited, error) {
	session, err := l.open(ctx, incumbent, limit)
	if err != nil {
		return l.problem(ctx, history.Expense{}, err)
	}
	defer session.place.close()
	found, err := taskrun.Run(ctx, session.suite, session.side("incumbent", incumbent), session.side("candidate", candidate), session.options)
	if err != nil {
		return l.problem(ctx, found.Expense, err)
	}
	result := loop.Suited{
		Verdict: found.Verdict, Reasons: reasonsOf(found), Output: failures(found.Candidate),
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
func (l *taskLoop) problem(ctx context.Context, expense history.Expense, err error) (loop.Suited, error) {
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

// reasonsOf is a comparison in lines, the deciding ones first.
func reasonsOf(found taskrun.Report) []string {
	lines := []string{found.Summary}
	for _, list := range [][]score.Reason{found.Regressions, found.Notes, found.Improvements} {
		for _, reason := range list {
			lines = append(lines, reason.Text)
		}
	}
	const most = 12
	return lines[:min(len(lines), most)]
}

// failures says which checks failed, for the next proposal.
func failures(o format.SuiteOutcome) string {
	const most = 30
	var lines []string
	for _, scored := range o.Scores {
		for _, run := range scored.Runs[:min(len(scored.Runs), 1)] {
			if run.Failure != "" {
				lines = append(lines, scored.TaskID+": "+run.Failure)
			}
			for _, check := range run.Checks {
				if !check.Passed {
					lines = append(lines, scored.TaskID+": failed: "+string(check.Kind)+" "+check.Name+": "+check.Detail)
				}
			}
		}
	}
	if len(lines) == 0 {
		return "every check of the suite passed"
	}
	return plain.Short(strings.Join(lines[:min(len(lines), most)], " | "), 2000)
}

// taskSession is one run of the suite.
type taskSession struct {
	*taskLoop

	place   *tasksPlace
	suite   *taskrun.TaskSuite
	options taskrun.Options
}

// side is a tree as a configuration: what the target matches, and where agents
// look besides, such as a CLAUDE.md that points to the target's AGENTS.md.
func (s *taskSession) side(label, dir string) taskrun.Side {
	return taskrun.Side{Label: label, Dir: dir, Config: s.config()}
}

func (l *taskLoop) config() taskrun.Config {
	return taskrun.Config{Include: append(taskrun.AgentConfig().Include, program.Texts(l.program.Targets)...)}
}

// open reads the suite of the incumbent and wires its run.
func (l *taskLoop) open(ctx context.Context, dir string, limit evaluation.Limit) (*taskSession, error) {
	p := l.program
	suiteDir := filepath.Join(dir, filepath.FromSlash(p.Tasks))
	loaded, err := taskrun.Load(ctx, suiteDir)
	if err != nil {
		return nil, err
	}
	o := tasksOptions{
		suite: suiteDir, agent: l.executor(), model: l.executorModel(), command: l.command(), env: p.Env,
		judge: p.Judge, judgeModel: p.JudgeModel, runs: "auto", jobs: p.Jobs, unknownCost: "allow", network: p.Network, isolation: p.Isolation,
	}
	if p.Runs > 0 {
		o.runs = strconv.Itoa(p.Runs)
	}
	place, err := newTasksPlace(l.env, o)
	if err != nil {
		return nil, err
	}
	session := &taskSession{taskLoop: l, place: place, suite: loaded}
	if session.options, err = o.wire(ctx, l.env, place); err != nil {
		place.close()
		return nil, err
	}
	if session.options.Thresholds, err = thresholdsOf(p); err != nil {
		place.close()
		return nil, err
	}
	session.options.Budget = taskrun.Budget{Tokens: limit.Tokens, USD: limit.CostUSD}
	session.options.Progress = func(now taskrun.Progress) {
		if l.tell != nil && now.Task != "" {
			l.tell(strconv.Itoa(now.Done) + " of " + strconv.Itoa(now.Total) + " runs: " + now.Task + " of the " + now.Side)
		}
	}
	return session, nil
}

// executedBy describes who works on the tasks, and who judges them; nil where they
// cannot: the suite says why.
func (l *taskLoop) executedBy(ctx context.Context, dir string) *history.Executor {
	masker, command, judge := process.NewMasker(l.env.Environ), l.command(), ""
	worker, err := app.NewRegistry(l.env, l.env.NewRunner(), masker).Ready(ctx, taskrun.AgentOf(l.executor()),
		agent.Situation{Env: l.env.Environ, Command: command, Dir: l.root})
	if err != nil {
		return nil
	}
	o := tasksOptions{judge: l.program.Judge, judgeModel: l.program.JudgeModel}
	if chosen, _, err := o.chooseJudge(l.env, &tasksPlace{run: dir}, masker); err == nil && chosen != nil {
		judge = chosen.Name()
	}
	found, err := app.Executor(ctx, l.env, worker, l.executorModel(), command, judge)
	if err != nil {
		return nil
	}
	return found
}

// executor names who works on the tasks.
func (l *taskLoop) executor() string {
	switch {
	case l.program.Executor != "":
		return l.program.Executor
	case l.program.ExecutorCommand != "":
		return "command"
	default:
		return l.agent
	}
}

// executorModel is the model of who works on the tasks.
func (l *taskLoop) executorModel() string {
	if l.program.Executor != "" || l.program.ExecutorCommand != "" {
		return l.program.Model
	}
	return cmp.Or(l.model, l.program.Model)
}

// command is the executor's command, with the files of the checkout that it
// names as absolute paths: the tasks run in sandboxes elsewhere. A file of the
// configuration stays as it is named, since every sandbox has its side's own.
func (l *taskLoop) command() string {
	config := l.config()
	return process.ReplaceWords(l.program.WorkerCommand(), func(word string) string {
		file := filepath.FromSlash(word)
		if info, err := os.Stat(filepath.Join(l.root, file)); err != nil || !info.Mode().IsRegular() || !filepath.IsLocal(file) {
			return word
		}
		if l.program.Evaluation == program.Tasks && config.Match(path.Clean(word)) {
			return word
		}
		return filepath.Join(l.root, file)
	})
}
