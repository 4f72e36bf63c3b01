package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/tasks/judge"
	"github.com/org/autoloop/internal/tasks/runcache"
	"github.com/org/autoloop/internal/tasks/sandbox"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// TaskRun says how a task suite is run: by the flags of `iterate tasks eval`, or the
// keys of a program.
type TaskRun struct {
	Suite, RepoDir        string
	Agent, Model, Command string
	Config, Env           []string
	Judge, JudgeModel     string
	// Runs is how often each task is run on both sides, or auto.
	Runs             string
	Jobs             int
	USD, UnknownCost string
	Tokens           int64
	Minutes          float64
	// Cache is where finished runs are kept; "" is the user's cache directory.
	Cache          string
	Fresh, Network bool
	Isolation      string
	// Targets are the program's: more files of the configuration.
	Targets []string
}

// keepRuns is how long finished runs serve. Models change behind their names:
// an older baseline says too little about today.
const keepRuns = 30 * 24 * time.Hour

// TaskPlace are the directories of one comparison.
type TaskPlace struct {
	// run has the sandboxes, stage what is put together to be kept in cache.
	run, stage, cache string
	removals          []func()
}

// NewTaskPlace makes the directories of a run.
func NewTaskPlace(env Env, o TaskRun) (*TaskPlace, error) {
	cache, err := o.cacheDir(env)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of finished runs: %w", err)
	}
	place := &TaskPlace{cache: cache}
	var remove func()
	if place.stage, remove, err = tree.NewRunDir(cache); err != nil {
		return nil, fmt.Errorf("work in the directory of finished runs: %w", err)
	}
	place.removals = append(place.removals, remove)
	if place.run, remove, err = tree.NewRunDir(env.TempDir()); err != nil {
		place.Close()
		return nil, err
	}
	place.removals = append(place.removals, remove)
	return place, nil
}

// Close removes what is not kept.
func (p *TaskPlace) Close() {
	for _, remove := range p.removals {
		remove()
	}
}

func (o *TaskRun) cacheDir(env Env) (string, error) {
	if o.Cache != "" {
		return env.Path(o.Cache), nil
	}
	user := env.CacheDir()
	if user == "" {
		return "", misuse.Errorf("there is no directory for finished runs: give one with --cache, or set HOME")
	}
	return filepath.Join(user, "autoloop", "tasks"), nil
}

// runner runs agents and checks, isolated where this machine can: they see
// neither the tasks and their checks nor what is kept, and of the user's home
// what the agent's command names.
func (o *TaskRun) runner(ctx context.Context, env Env, place *TaskPlace) (*process.Runner, error) {
	runner := env.NewRunner()
	hidden := []string{place.cache, env.Path(o.Suite)}
	if repo, err := OpenRepo(ctx, env, o.RepoDir); err == nil {
		hidden = append(hidden, repo.CommonDir, repo.GitDir) // its configuration may hold a token
	}
	wish := &program.Program{File: "iterate tasks eval", Isolation: o.Isolation, Network: o.Network}
	var err error
	runner.Isolation, err = Isolate(ctx, env, wish, runner, place.run, hidden, NamedFiles(env, o.Command))
	return runner, err
}

// Wire builds all that a comparison works with.
func (o *TaskRun) Wire(ctx context.Context, env Env, place *TaskPlace) (taskrun.Options, error) {
	masker := process.NewMasker(env.Environ)
	runner, err := o.runner(ctx, env, place)
	if err != nil {
		return taskrun.Options{}, err
	}
	runs, err := o.repeats()
	if err != nil {
		return taskrun.Options{}, err
	}
	budget, err := o.budget()
	if err != nil {
		return taskrun.Options{}, err
	}
	name := o.Agent
	if name == "" && o.Command != "" {
		name = "command"
	}
	options := taskrun.Options{
		Agent: name, Model: o.Model, Command: o.Command, CommandDigest: CommandDigest(env, o.Command), Env: o.Env,
		Surroundings: fmt.Sprintf("isolated: %v, network: %v", runner.Isolation != nil, o.Network),
		Jobs:         o.Jobs, Runs: runs, Budget: budget, Fresh: o.Fresh,
		Agents:    o.agents(ctx, env, runner, masker),
		Sandboxes: &sandbox.Maker{Runner: runner, Masker: masker, Environ: env.CommandEnviron, Remove: tree.RemoveAll, Offline: !o.Network},
		RunDir:    place.run, Archive: &runcache.Archive{Dir: place.cache, Stage: place.stage},
		Session: env.NewRunID(), Masker: masker, Now: env.Now,
	}
	options.Archive.Forget(env.Now().Add(-keepRuns))
	chosen, none, err := o.chooseJudge(env, place, masker)
	if err != nil {
		return options, err
	}
	options.NoJudge = none
	if chosen != nil {
		options.Judge = chosen
	}
	return options, nil
}

// agents finds those that can work on tasks: the tuner only turns numbers.
func (o *TaskRun) agents(ctx context.Context, env Env, runner *process.Runner, masker process.Masker) func(string) (agent.Agent, error) {
	registry := NewRegistry(env, runner, masker)
	situation := agent.Situation{Env: env.Environ, Command: o.Command, Dir: env.Dir}
	return func(name string) (agent.Agent, error) {
		if name == (agent.Tuner{}).Name() {
			return nil, fmt.Errorf("the tuner works on no tasks; name another agent")
		}
		if name == "command" && strings.TrimSpace(o.Command) == "" {
			return nil, fmt.Errorf("agent command cannot be used: say with --agent-command what to run")
		}
		return registry.Ready(ctx, name, situation)
	}
}

// chooseJudge finds the judge. An agent that judges gets the variables of its own
// login and no others.
func (o *TaskRun) chooseJudge(env Env, place *TaskPlace, masker process.Masker) (*judge.Judge, string, error) {
	home := filepath.Join(place.run, "judge")
	asked := commandline.All().Asked()
	variables, err := env.CommandEnviron(home, asked.Question.Variables)
	if err != nil {
		return nil, "", err
	}
	variables = append(variables, asked.Question.Env(env.Getenv)...)
	chosen, none, err := judge.Choose(judge.Setting{
		Mode: judge.Mode(o.Judge), Model: o.JudgeModel, Getenv: env.Getenv, Complete: judge.Complete(env.Complete), Price: agent.Price,
		CLI: judge.CommandLine{Agent: asked, Runner: env.NewRunner(), Dir: home, Env: variables}, Masker: masker,
	})
	if err != nil {
		return nil, "", misuse.New(err)
	}
	return chosen, none, nil
}

// Side finds a configuration: a directory, or a commit whose files are written
// to one.
func (o *TaskRun) Side(ctx context.Context, env Env, place *TaskPlace, role, text string) (taskrun.Side, error) {
	side := taskrun.Side{Label: text, Config: taskrun.AgentConfig()}
	side.Config.Include = append(side.Config.Include, o.Targets...)
	if len(o.Config) > 0 {
		side.Config = taskrun.Config{Include: o.Config}
	}
	if info, err := os.Stat(env.Path(text)); err == nil && info.IsDir() {
		side.Dir = env.Path(text)
		return side, nil
	}
	repo, err := OpenRepo(ctx, env, o.RepoDir)
	if err != nil {
		return side, misuse.Errorf("--%s %s is no directory, and there is no repository: %w", role, text, err)
	}
	commit, found, err := repo.Resolve(ctx, text)
	if err != nil {
		return side, err
	}
	if !found {
		return side, misuse.Errorf("--%s %s is neither a directory nor a commit of %s", role, text, repo.Root)
	}
	side.Dir = filepath.Join(place.run, role)
	_, err = (&tree.Builder{Repo: repo.WithTemp(place.run)}).Build(ctx, commit, side.Dir, tree.Options{})
	return side, err
}

func (o *TaskRun) repeats() (int, error) {
	const most = 1000
	if o.Runs == "auto" {
		return 0, nil
	}
	runs, err := strconv.Atoi(o.Runs)
	if err != nil || runs < 1 || runs > most {
		return 0, misuse.Errorf("--runs %s: give auto, or a number from 1 to %d", o.Runs, most)
	}
	return runs, nil
}

func (o *TaskRun) budget() (taskrun.Budget, error) {
	budget := taskrun.Budget{
		Tokens: o.Tokens, Time: time.Duration(o.Minutes * float64(time.Minute)), UnknownCostPauses: o.UnknownCost == "pause",
	}
	var err error
	budget.USD, err = dollars(o.USD)
	return budget, err
}

// Take takes from a program, whose paths are relative to root, what was not
// given as a flag.
func (o *TaskRun) Take(p *program.Program, root string, given func(flag string) bool) {
	loop := TaskSuite{Program: p, Root: root, Agent: p.Agent}
	for _, text := range []struct {
		flag, value string
		to          *string
	}{
		{"suite", filepath.Join(root, filepath.FromSlash(p.Tasks)), &o.Suite},
		{"agent", loop.executor(), &o.Agent},
		{"model", p.Model, &o.Model},
		{"agent-command", loop.WorkerCommand(), &o.Command},
		{"judge", p.Judge, &o.Judge},
		{"judge-model", p.JudgeModel, &o.JudgeModel},
		{"isolation", p.Isolation, &o.Isolation},
		{"runs", runsText(p), &o.Runs},
	} {
		if !given(text.flag) && text.value != "" {
			*text.to = text.value
		}
	}
	if !given("env") {
		o.Env = p.Env
	}
	if !given("jobs") {
		o.Jobs = p.Jobs
	}
	if !given("network") {
		o.Network = p.Network
	}
	if !given("config") {
		o.Targets = program.Texts(p.Targets)
	}
}

func runsText(p *program.Program) string {
	if p.Runs > 0 {
		return strconv.Itoa(p.Runs)
	}
	return "auto"
}
