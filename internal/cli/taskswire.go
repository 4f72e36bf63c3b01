package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/tasks/judge"
	"github.com/org/autoloop/internal/tasks/runcache"
	"github.com/org/autoloop/internal/tasks/sandbox"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// keepRuns is how long finished runs serve. Models change behind their names:
// an older baseline says too little about today.
const keepRuns = 30 * 24 * time.Hour

// tasksPlace are the directories of one comparison.
type tasksPlace struct {
	// run has the sandboxes, stage what is put together to be kept in cache.
	run, stage, cache string
	removals          []func()
}

func newTasksPlace(env Env, o tasksOptions) (*tasksPlace, error) {
	cache, err := o.cacheDir(env)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of finished runs: %w", err)
	}
	place := &tasksPlace{cache: cache}
	var remove func()
	if place.stage, remove, err = tree.NewRunDir(cache); err != nil {
		return nil, fmt.Errorf("work in the directory of finished runs: %w", err)
	}
	place.removals = append(place.removals, remove)
	if place.run, remove, err = tree.NewRunDir(env.TempDir()); err != nil {
		place.close()
		return nil, err
	}
	place.removals = append(place.removals, remove)
	return place, nil
}

func (p *tasksPlace) close() {
	for _, remove := range p.removals {
		remove()
	}
}

func (o *tasksOptions) cacheDir(env Env) (string, error) {
	if o.cache != "" {
		return env.Path(o.cache), nil
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
func (o *tasksOptions) runner(ctx context.Context, env Env, place *tasksPlace) (*process.Runner, error) {
	runner := env.NewRunner()
	hidden := []string{place.cache, env.Path(o.suite)}
	if repo, err := app.OpenRepo(ctx, env, o.repository()); err == nil {
		hidden = append(hidden, repo.CommonDir, repo.GitDir) // its configuration may hold a token
	}
	wish := &program.Program{File: "iterate tasks eval", Isolation: o.isolation, Network: o.network}
	var err error
	runner.Isolation, err = app.Isolate(ctx, env, wish, runner, place.run, hidden, app.NamedFiles(env, o.command))
	return runner, err
}

// wire builds all that a comparison works with.
func (o *tasksOptions) wire(ctx context.Context, env Env, place *tasksPlace) (taskrun.Options, error) {
	masker := process.NewMasker(env.Environ)
	runner, err := o.runner(ctx, env, place)
	if err != nil {
		return taskrun.Options{}, err
	}
	environ := func(home string, names []string) ([]string, error) {
		if err := os.MkdirAll(filepath.Join(home, "tmp"), 0o700); err != nil {
			return nil, err
		}
		return process.Environment(env.Environ, home, names), nil
	}
	runs, err := o.repeats()
	if err != nil {
		return taskrun.Options{}, err
	}
	budget, err := o.budget()
	if err != nil {
		return taskrun.Options{}, err
	}
	name := o.agent
	if name == "" && o.command != "" {
		name = "command"
	}
	options := taskrun.Options{
		Agent: name, Model: o.model, Command: o.command, CommandDigest: app.CommandDigest(env, o.command), Env: o.env,
		Surroundings: fmt.Sprintf("isolated: %v, network: %v", runner.Isolation != nil, o.network),
		Jobs:         o.jobs, Runs: runs, Budget: budget, Fresh: o.fresh,
		Agents:    o.agents(ctx, env, runner, masker),
		Sandboxes: &sandbox.Maker{Runner: runner, Masker: masker, Environ: environ, Remove: tree.RemoveAll, Offline: !o.network},
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
func (o *tasksOptions) agents(ctx context.Context, env Env, runner *process.Runner, masker process.Masker) func(string) (agent.Agent, error) {
	registry := app.NewRegistry(env, runner, masker)
	situation := agent.Situation{Env: env.Environ, Command: o.command, Dir: env.Dir}
	return func(name string) (agent.Agent, error) {
		if name == (agent.Tuner{}).Name() {
			return nil, fmt.Errorf("the tuner works on no tasks; name another agent")
		}
		if name == "command" && strings.TrimSpace(o.command) == "" {
			return nil, fmt.Errorf("agent command cannot be used: say with --agent-command what to run")
		}
		return registry.Ready(ctx, name, situation)
	}
}

// chooseJudge finds the judge. An agent that judges gets the variables of its own
// login and no others.
func (o *tasksOptions) chooseJudge(env Env, place *tasksPlace, masker process.Masker) (*judge.Judge, string, error) {
	home := filepath.Join(place.run, "judge")
	if err := os.MkdirAll(filepath.Join(home, "tmp"), 0o700); err != nil {
		return nil, "", err
	}
	asked := commandline.All().Asked()
	variables := append(process.Environment(env.Environ, home, asked.Question.Variables), asked.Question.Env(env.Getenv)...)
	chosen, none, err := judge.Choose(judge.Setting{
		Mode: judge.Mode(o.judge), Model: o.judgeModel, Getenv: env.Getenv, Complete: judge.Complete(env.Complete), Price: listPrice,
		CLI: judge.CommandLine{Agent: asked, Runner: env.NewRunner(), Dir: home, Env: variables}, Masker: masker,
	})
	if err != nil {
		return nil, "", misuse.New(err)
	}
	return chosen, none, nil
}

// listPrice is what a model's work costs by the table of prices.
func listPrice(model string, u models.Tokens) *metric.Value {
	return agent.Price(model, metric.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens})
}
