package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// evalOptions are the flags of `iterate eval`.
type evalOptions struct {
	suiteOptions

	against, candidate, runs, usd, out string
	fresh                              bool
	repo                               string // --repo-dir
}

func newEvalCommand(env Env) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval [PATH]",
		Short: "Run the suite of a skill or of tasks, and print the score",
		Long: `Of a skill, every case is run in a sandbox of its own and graded; trigger queries and questions with
exact answers are figures of their own. The skill is not changed.

Of a task suite, every task is run with a configuration of an agent (AGENTS.md, .claude/, …), with
--against with two; the exit code is 1 when --candidate is worse. Where a model works or judges, each
task is run five times a side. Finished runs are kept: interrupted, the same command goes on where it
was. Without PATH it is the key "tasks" of --settings.`,
		Example: "  iterate eval skills/release-notes --agent claude\n" +
			"  iterate eval tasks --against origin/main --agent claude --out report\n" +
			"  iterate eval tasks --against old/ --candidate new/ --agent-command \"sh agent.sh\"",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				dir, err := o.suiteOfSettings(cmd.Context(), env)
				if err != nil {
					return err
				}
				args = []string{dir}
			}
			if isSkill(env.Path(args[0])) {
				return evalSkill(cmd.Context(), env, args[0], &o)
			}
			return evalTasks(cmd.Context(), env, args[0], &o)
		},
	}
	flags := cmd.Flags()
	o.register(flags)
	repoDirFlag(flags, &o.repo)
	flags.StringVar(&o.against, "against", "", "compare with this configuration: a `DIR` or a commit")
	flags.StringVar(&o.candidate, "candidate", ".", "the configuration of the tasks: a `DIR` or a commit")
	flags.StringVar(&o.runs, "runs", "auto", "how often each task is run a side, or auto")
	flags.StringVar(&o.usd, "budget-usd", "", "begin no further run when it has cost so many dollars")
	flags.BoolVar(&o.fresh, "fresh", false, "run everything again, also what is kept")
	flags.StringVar(&o.out, "out", "", "write reports, transcripts, outputs and gradings to this `DIR`")
	return cmd
}

// suiteOfSettings is the task suite that the settings name, from the repository's root.
func (o *evalOptions) suiteOfSettings(ctx context.Context, env Env) (string, error) {
	p, err := settingsOf(env, o.settings, program.Tasks)
	if err != nil {
		return "", err
	}
	if p.Tasks == "" {
		return "", misuse.Errorf("name a skill or a task suite, or give --settings with a program that has `tasks`")
	}
	root := env.Dir
	if repo, err := openRepo(ctx, env, o.repo); err == nil {
		root = repo.Root
	}
	return filepath.Join(root, filepath.FromSlash(p.Tasks)), nil
}

// evalSkill runs a skill's suites.
func evalSkill(ctx context.Context, env Env, dir string, o *evalOptions) error {
	for _, flag := range []string{"against", "candidate", "runs", "budget-usd", "fresh"} {
		if o.flags.Changed(flag) {
			return misuse.Errorf("--%s is of task suites, and %s is a skill", flag, dir)
		}
	}
	p, err := o.read(env, program.Skill)
	if err != nil {
		return err
	}
	if o.agent != "" || o.command != "" {
		p.Executor, p.ExecutorCommand = "", ""
	}
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return err
	}
	worker := chooseAgent(env, p)
	if worker == "" && p.Executor == "" && p.ExecutorCommand == "" {
		return nobody(ctx, env, "who works on the cases")
	}
	run, remove, err := tree.NewRunDir(env.TempDir())
	if err != nil {
		return err
	}
	defer remove()
	keep, err := o.keep(env, run, suited.Dir)
	if err != nil {
		return err
	}
	l := &skillSuite{
		suiteSetup: suiteSetup{Env: env, Program: p, Root: env.Dir, Agent: worker, Named: "--agent", Tell: tellOn(env)},
		Dir:        run, Keep: keep, Hidden: []string{filepath.Join(suited.Dir, evals.Dir)},
	}
	options, err := l.Options(ctx)
	if err != nil {
		return err
	}
	options.Setup = p.Setup
	found, err := skill.Evaluate(ctx, suited, keep, options)
	if err != nil {
		return err
	}
	return printEither(env, o.json, found, found)
}

// keep is where what the cases leave is kept: in --out, else as long as it runs.
func (o *evalOptions) keep(env Env, run, suited string) (string, error) {
	if o.out == "" {
		return filepath.Join(run, "out"), nil
	}
	dir := env.Path(o.out)
	if _, err := os.Lstat(dir); err == nil {
		return "", misuse.Errorf("--out %s exists already; name a new directory", o.out)
	}
	there := dir // the first directory above that is there, and one below
	for _, err := os.Lstat(filepath.Dir(there)); errors.Is(err, fs.ErrNotExist); _,
		err = os.Lstat(filepath.Dir(there)) {
		there = filepath.Dir(there)
	}
	inside, err := skill.Inside(there, suited)
	if err == nil && inside {
		err = misuse.Errorf("--out %s is in the skill, which is never edited; name a directory elsewhere", o.out)
	}
	return dir, err
}

// evalTasks runs a task suite for one configuration, or for two.
func evalTasks(ctx context.Context, env Env, dir string, o *evalOptions) error {
	p, err := o.read(env, program.Tasks)
	if err != nil {
		return err
	}
	if o.flags.Changed("runs") {
		if p.Runs, err = taskRuns(o.runs); err != nil {
			return err
		}
	}
	loaded, err := taskrun.Load(ctx, env.Path(dir))
	if err != nil {
		return err
	}
	var said bytes.Buffer // a run that does not begin prints only the line that says why
	wiring := env
	wiring.Stderr = &said
	release := sync.OnceFunc(func() { _, _ = said.WriteTo(env.Stderr) })
	l := &taskSuite{
		suiteSetup: suiteSetup{
			Env: wiring, Program: p, Root: env.Dir, Agent: chooseAgent(env, p),
			Named: "the run's agent",
		},
		RepoDir: o.repo, USD: o.usd, Fresh: o.fresh, Override: o.agent != "",
	}
	session, err := l.Open(ctx, env.Path(dir))
	if err != nil {
		return err
	}
	defer session.Close()
	candidate, err := l.Side(ctx, session, "candidate", o.candidate)
	if err != nil {
		return err
	}
	shown := newProgress(env)
	session.Options.Progress = func(p taskrun.Progress) {
		release()
		shown.Begin(taskLine(p))
	}
	if o.against == "" {
		found, err := taskrun.Measure(ctx, loaded, candidate, session.Options)
		shown.Close()
		if err != nil {
			return err
		}
		return o.outcome(env, found)
	}
	baseline, err := l.Side(ctx, session, "against", o.against)
	if err != nil {
		return err
	}
	found, err := taskrun.Run(ctx, loaded, baseline, candidate, session.Options)
	shown.Close()
	if err != nil {
		return err
	}
	return o.deliver(env, found)
}

// taskRuns reads how often each task is run; 0 is auto.
func taskRuns(text string) (int, error) {
	const most = 1000
	if text == "auto" {
		return 0, nil
	}
	runs, err := strconv.Atoi(text)
	if err != nil || runs < 1 || runs > most {
		return 0, misuse.Errorf("--runs %s: give auto, or a number from 1 to %d", text, most)
	}
	return runs, nil
}

// outcome prints what one configuration scored.
func (o *evalOptions) outcome(env Env, found taskrun.Report) error {
	for _, warning := range found.Warnings {
		fmt.Fprintln(env.Stderr, "warning:", warning)
	}
	if o.json {
		return printEscapedJSON(env, found.Baseline)
	}
	_, err := io.WriteString(env.Stdout, found.Alone())
	return err
}

// validateSuite checks the suite of a skill or of tasks.
func validateSuite(ctx context.Context, env Env, dir string, asJSON bool) error {
	if !isSkill(env.Path(dir)) {
		return validateTasks(ctx, env, dir, asJSON)
	}
	found, err := skill.Validate(env.Path(dir))
	if err != nil {
		return err
	}
	return verdict(printEither(env, asJSON, found, found), !found.OK)
}
