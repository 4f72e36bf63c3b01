package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// Iterate runs the `iterate` binary and returns its exit code. It asks models
// through complete.
func Iterate(complete Complete) func(context.Context, Env) int {
	return func(ctx context.Context, env Env) int {
		env = env.inLog()
		env.Complete = complete
		return Run(ctx, env, newIterateCommand(env))
	}
}

// iterateOptions are the flags of `iterate`.
type iterateOptions struct {
	repoDir, programs, dir, program string
	agent, model, base, remote      string
	ciWorkflow, budgetUSD           string
	count                           int
	dryRun, json                    bool
	// proposing leaves to another job what needs GitHub.
	proposing bool
	hubOptions
}

func newIterateCommand(env Env) *cobra.Command {
	var o iterateOptions
	cmd := &cobra.Command{
		Use:   "iterate",
		Short: "Run iterations of one program: propose, measure, decide, keep or drop",
		Long: "Run one iteration (or -n of them) of a program: an agent changes the target files in a throw-away\n" +
			"tree, the evaluation measures the change in a second tree, and code decides. What is better becomes\n" +
			"a commit on branch autoloop/NAME; the books are kept on branch memory/autoloop. Your checkout,\n" +
			"index and current branch are not touched.\n\n" +
			"Without --program it takes the program that `scheduler` selected.",
		Example: "  iterate --program speed\n  iterate --program speed -n 10 --agent tuner\n" +
			"  scheduler && iterate\n  iterate --program speed --dry-run --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return iterateCommand(cmd.Context(), env, o, o.run)
		},
	}
	flags := cmd.Flags()
	programFlags(flags, env, &o)
	agentFlags(flags, &o)
	flags.IntVarP(&o.count, "iterations", "n", 1, "how many iterations to run at most")
	flags.BoolVar(&o.dryRun, "dry-run", false, "go as far as the decision and write nothing")
	persistent := cmd.PersistentFlags()
	persistent.StringVar(&o.repoDir, "repo-dir", "", "the repository (default: here)")
	persistent.StringVar(&o.programs, "programs", "", "directory of program files (default: .autoloop/programs)")
	cmd.AddCommand(
		newDecideCommand(env),
		newDemoCommand(env),
		newApplyCommand(env, &o),
		newAgentsCommand(env),
		newCompareCommand(env),
		newTasksCommand(env, &o),
		newSkillCommand(env),
		newSnapshotCommand(env),
		newRestoreCommand(env),
		newScoreCommand(env),
		newShardsCommand(env),
		newReplayCommand(env, &o),
		newDoctorCommand(env, &o),
		newSteerCommand(env, &o),
		newInitCommand(env, &o),
		newProposeCommand(env, &o),
		newPublishCommand(env, &o),
	)
	return cmd
}

// programFlags say which program is meant, and where its branches and books are.
func programFlags(flags *pflag.FlagSet, env Env, o *iterateOptions) {
	flags.StringVar(&o.program, "program", env.Getenv("AUTOLOOP_PROGRAM"), "the program to run (default: the scheduler's choice)")
	flags.StringVar(&o.base, "base", "", "the default branch that the work is for")
	flags.StringVar(&o.remote, "remote", "", "share branches and books with this git remote, such as origin")
	flags.StringVar(&o.ciWorkflow, "ci-workflow", "", "the `FILE` name of the workflow that is started for what is pushed (default: the program's)")
	hubFlags(flags, &o.hubOptions)
	flags.BoolVar(&o.json, "json", false, "print an array with an object for each iteration")
	flags.StringVar(&o.dir, "dir", "", "where autoloop.json is (default: AUTOLOOP_DIR, else /tmp/gh-aw)")
}

// agentFlags say who proposes.
func agentFlags(flags *pflag.FlagSet, o *iterateOptions) {
	flags.StringVar(&o.agent, "agent", "", "who proposes, as \"iterate agents\" lists them (default: the program's, else AUTOLOOP_AGENT)")
	flags.StringVar(&o.model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.budgetUSD, "budget-usd", "", "begin no further iteration when this run has cost so many dollars, besides the program's budgets")
}

// run runs iterations one after the other.
func (o iterateOptions) run(ctx context.Context, service *loop.Service) ([]loop.Result, error) {
	return service.Run(ctx, o.count)
}

// work is what a command does with the service of a program.
type work func(ctx context.Context, service *loop.Service) ([]loop.Result, error)

// iterateCommand wires an iteration of one program and does the work with it.
func iterateCommand(ctx context.Context, env Env, o iterateOptions, do work) error {
	if o.count < 1 {
		return Usagef("-n %d: give at least one iteration", o.count)
	}
	if env.Paused() {
		fmt.Fprintln(env.Stderr, "AUTOLOOP_PAUSED is true: nothing runs; set it to false to go on")
		return deliver(env, o, nil, nil)
	}
	runDir, err := newRunDir()
	if err != nil {
		return err
	}
	defer func() { _ = tree.RemoveAll(runDir) }()
	hub, err := o.hub(env)
	if err != nil {
		return err
	}
	who, err := identity(env)
	if err != nil {
		return err
	}
	repo, err := openRepo(ctx, env, o.repoDir, append(who, gitOptions(env, hub)...)...)
	if err != nil {
		return err
	}
	p, issue, err := chooseProgram(ctx, env, repo, hub, o)
	if err != nil {
		return err
	}
	if p == nil {
		if !o.json {
			fmt.Fprintln(env.Stdout, "nothing is selected: no program is due")
			return actOn(env, o, nil, nil)
		}
		return deliver(env, o, nil, []loop.Result{{Outcome: history.Idle, Reasons: []string{"nothing selected"}}})
	}
	if o.unasked(env) && repositoryPaused(ctx, hub) {
		fmt.Fprintln(env.Stderr, "the repository's variable AUTOLOOP_PAUSED is true: nothing runs; set it to false to go on")
		return deliver(env, o, p, nil)
	}
	if p.CIGate == "required" && hub == nil && !o.proposing {
		return Usagef("%s: `ci-gate: required` needs the repository on GitHub: give --repo and a token, or remove the line", p.File)
	}
	if o.model != "" {
		p.Model = o.model
	}
	budget, err := o.budget()
	if err != nil {
		return err
	}
	repo = repo.WithTemp(runDir)
	runner, err := newRunner(ctx, env, repo, p, runDir)
	if err != nil {
		return err
	}
	service := newIterateService(env, o, repo, p, runner, runDir)
	if service.Agents, err = chooseAgents(ctx, env, o, repo, p, runner); err != nil {
		return err
	}
	service.Agent, service.Model, service.BudgetUSD = service.Agents[0].Agent, service.Agents[0].Model, budget
	if hub != nil {
		service.Repository = hub.Repository()
		service.GitHub = &sync.Service{Hub: hub, Program: p, Known: issue, Now: env.Now}
		service.Alive = env.aliveOn(ctx, hub)
	}
	shown := newProgress(env)
	service.Progress = shown.Step
	if p.Evaluation == program.Tasks {
		service.Suite = &taskLoop{env: env, program: p, root: repo.Root, agent: service.Agent.Name(), model: service.Model, tell: func(text string) {
			shown.Step(loop.Step{Program: p.Name, Name: "measure", Detail: text, Minor: true})
		}}
	}
	if p.Evaluation == program.Skill {
		closing, err := evaluateSkill(ctx, env, o, service, func(text string) {
			shown.Step(loop.Step{Program: p.Name, Name: "measure", Detail: text, Minor: true})
		})
		if err != nil {
			return err
		}
		defer closing()
	}
	results, err := do(ctx, service)
	shown.Close()
	if printed := deliver(env, o, p, results); printed != nil {
		return errors.Join(err, printed)
	}
	return err
}

// unasked says that nobody read the variable AUTOLOOP_PAUSED before: neither a
// workflow that hands it on, empty where there is none, nor the scheduler. A
// workflow's own token may not.
func (o iterateOptions) unasked(env Env) bool {
	handedOn := slices.ContainsFunc(env.Environ, func(entry string) bool { return strings.HasPrefix(entry, "AUTOLOOP_PAUSED=") })
	return o.program != "" && !handedOn && !workflowToken(env)
}

func openRepo(ctx context.Context, env Env, dir string, options ...git.Option) (*git.Repo, error) {
	if dir == "" {
		dir = env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, Usagef("--repo-dir %s does not exist", dir)
	}
	return git.Open(ctx, dir, env.Environ, options...)
}

// defaultOutput is where the scheduler writes when nothing else is said.
const defaultOutput = "/tmp/gh-aw"

func outputDir(env Env, dir string) string {
	if dir == "" {
		dir = env.Getenv("AUTOLOOP_DIR")
	}
	if dir == "" {
		return defaultOutput
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	return dir
}

// newRunner runs the program's commands with the isolation that it asks for.
func newRunner(ctx context.Context, env Env, repo *git.Repo, p *program.Program, runDir string) (*process.Runner, error) {
	runner := process.NewRunner()
	var err error
	// The configuration of a checkout may hold a token; its objects are read.
	runner.Isolation, err = isolate(ctx, env, p, runner, runDir, []string{repo.CommonDir, repo.GitDir}, append(objectDirs(repo.CommonDir), namedFiles(env, p.AgentCommand)...))
	return runner, err
}

// newIterateService wires a service that lacks its agent.
func newIterateService(env Env, o iterateOptions, repo *git.Repo, p *program.Program, runner *process.Runner, runDir string) *loop.Service {
	masker := process.NewMasker(env.Environ)
	remote := o.gitRemote(env)
	return &loop.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo},
		Memory: &memory.Memory{Repo: repo, Remote: remote, Now: env.Now},
		Eval:   &evaluation.Evaluator{Runner: runner, Masker: masker}, Masker: masker,
		Base: o.base, DryRun: o.dryRun, RunDir: runDir, Holder: env.holder(), Alive: env.alive,
		Environ: func(dir string, names []string) ([]string, error) {
			if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
				return nil, err
			}
			return process.Environment(env.Environ, dir, names), nil
		},
		Now: env.Now, NewRun: func() string { return newRunID(env) },
		RunURL: runURL(env), SignOff: signOff(env, repo), Sleep: env.sleeper(), Transcripts: filepath.Join(outputDir(env, o.dir), "transcripts"),
	}
}

// targetFiles lists the tracked files that the program lets change.
func targetFiles(ctx context.Context, repo *git.Repo, p *program.Program) ([]string, error) {
	files, err := trackedFiles(ctx, repo)
	matcher := p.Matcher()
	return slices.DeleteFunc(files, func(path string) bool { return !matcher.Allows(path) }), err
}

// trackedFiles lists the files of the commit that is checked out, sorted.
func trackedFiles(ctx context.Context, repo *git.Repo) ([]string, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := repo.LsTree(ctx, head)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(entries))
	for i, entry := range entries {
		files[i] = entry.Path
	}
	slices.Sort(files)
	return files, nil
}

// newRunID names a run: the Actions run, else time and chance.
func newRunID(env Env) string {
	var chance [4]byte
	_, _ = rand.Read(chance[:])
	if id := env.Getenv("GITHUB_RUN_ID"); env.InActions() && id != "" {
		return id + "-" + env.Getenv("GITHUB_RUN_ATTEMPT") + "-" + hex.EncodeToString(chance[:2])
	}
	return env.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(chance[:])
}

func runURL(env Env) string {
	if !env.InActions() {
		return ""
	}
	return env.Getenv("GITHUB_SERVER_URL") + "/" + env.Getenv("GITHUB_REPOSITORY") + "/actions/runs/" + env.Getenv("GITHUB_RUN_ID")
}

// budget is --budget-usd in dollars; 0 is no bound.
func (o iterateOptions) budget() (float64, error) {
	if o.budgetUSD == "" {
		return 0, nil
	}
	usd, err := metric.ParseValue(o.budgetUSD)
	if err != nil || usd.Sign() <= 0 {
		return 0, Usagef("--budget-usd %s: give a number above 0", o.budgetUSD)
	}
	return usd.Float64(), nil
}
