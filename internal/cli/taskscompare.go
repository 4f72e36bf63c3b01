package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/tasks/judge"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// tasksOptions are the flags of `iterate tasks eval`.
type tasksOptions struct {
	app.TaskRun

	baseline, candidate string
	report, shard       string
	output              compareOptions
}

func newTasksCompareCommand(env Env, shared *iterateOptions) *cobra.Command {
	var o tasksOptions
	cmd := &cobra.Command{
		Use:     "eval",
		Aliases: []string{"compare"}, // its name until 1.0
		Short:   "Run a task suite with a baseline and a candidate configuration, and say which is better",
		Long: "Run every task of a suite with two configurations of an agent, each time in a fresh sandbox: a copy of the\n" +
			"task's fixture with the configuration laid over it. A configuration is what a commit or a directory has in\n" +
			"AGENTS.md, CLAUDE.md, .claude/, .cursor/, .github/copilot-instructions.md and the like (see --config).\n\n" +
			"Where a model works or judges, each task is run five times on both sides, and chance is told from change.\n" +
			"Runs that are finished are kept: interrupted, the same command goes on where it was, and the baseline's\n" +
			"runs serve the next candidate. The exit code is 0 for improved and neutral, 1 for regressed or when there\n" +
			"is no comparison, 2 for misuse. In GitHub Actions the report is added to the job summary too.",
		Example: "  iterate tasks eval --suite tasks --agent claude\n" +
			"  iterate tasks eval --suite tasks --baseline origin/main --candidate HEAD --agent claude --report out\n" +
			"  iterate tasks eval --suite tasks --baseline old/ --candidate new/ --agent-command \"sh $PWD/agent.sh\"",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.RepoDir = shared.RepoDir
			return compareTasks(cmd.Context(), env, o, cmd.Flags())
		},
	}
	o.register(cmd.Flags(), env)
	return cmd
}

func (o *tasksOptions) register(flags *pflag.FlagSet, env Env) {
	flags.StringVar(&o.Suite, "suite", "", "`DIR` of the task suite")
	flags.StringVar(&o.baseline, "baseline", "HEAD", "the configuration to beat: a directory or a commit")
	flags.StringVar(&o.candidate, "candidate", ".", "the configuration to judge: a directory or a commit")
	flags.StringVar(&o.Agent, "agent", env.Getenv("AUTOLOOP_AGENT"), "who works on tasks that name no agent; given as a flag, on every task")
	flags.StringVar(&o.Model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.Command, "agent-command", "", "the command of the agent `command`, which is then the default agent")
	flags.StringArrayVar(&o.Config, "config", nil, "a `GLOB` of the configuration's files, instead of the usual ones (repeatable)")
	flags.StringArrayVar(&o.Env, "env", nil, "the `NAME` of a variable that agent and checks may see (repeatable)")
	flags.StringVar(&o.Judge, "judge", string(judge.Auto), "who judges tasks with a rubric: auto, api, cli or off")
	flags.StringVar(&o.JudgeModel, "judge-model", "", "the judge's model")
	flags.StringVar(&o.Runs, "runs", "auto", "how often each task is run on both sides, or auto")
	flags.IntVar(&o.Jobs, "jobs", defaultJobs, "how many runs there are at the same time")
	flags.StringVar(&o.USD, "budget-usd", "", "begin no further run when this comparison has cost so many dollars")
	flags.Int64Var(&o.Tokens, "budget-tokens", 0, "begin no further run when it has used so many tokens")
	flags.Float64Var(&o.Minutes, "budget-minutes", 0, "begin no further run after so many minutes")
	flags.StringVar(&o.UnknownCost, "unknown-cost", "allow", "what a budget does when a cost is unknown: allow or pause")
	flags.StringVar(&o.Cache, "cache", "", "`DIR` where finished runs are kept (default: autoloop/tasks in the user's cache directory)")
	flags.StringVar(&o.shard, "shard", "", "run only every N-th task, from the I-th on, as `I/N`, into --cache; 'iterate shards merge' puts the parts together")
	flags.StringVar(&o.report, "report", "", "write report.json, report.md, both outcomes, transcripts and changes to this `DIR`")
	flags.StringVar(&o.Isolation, "isolation", "auto", "keep agents and checks apart from the rest of this machine: auto, required or off")
	flags.BoolVar(&o.Network, "network", true, "checks may reach the network; false needs isolation")
	flags.BoolVar(&o.Fresh, "fresh", false, "run everything again, also what is kept")
	flags.BoolVar(&o.output.json, "json", false, "print a JSON object")
	flags.BoolVar(&o.output.markdown, "markdown", false, "print markdown, for a comment or a summary")
	flags.StringVar(&o.output.html, "html", "", "write a page to look at into this file, too")
	o.output.thresholds.register(flags)
	flags.Lookup("program").Usage = "take suite, agent, judge and thresholds from this program `file`; flags win"
}

const defaultJobs = 2

// compareTasks runs the suite on both sides and prints the report.
func compareTasks(ctx context.Context, env Env, o tasksOptions, flags *pflag.FlagSet) error {
	if err := o.fill(ctx, env, flags); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	thresholds, err := o.output.thresholds.read(env, flags)
	if err != nil {
		return err
	}
	loaded, err := taskrun.Load(ctx, env.Path(o.Suite))
	if err != nil {
		return err
	}
	place, err := app.NewTaskPlace(env, o.TaskRun)
	if err != nil {
		return err
	}
	defer place.Close()
	said := &app.Held{Out: env.Stderr}
	wiring := env
	wiring.Stderr = said
	options, err := o.Wire(ctx, wiring, place)
	if err != nil {
		return err
	}
	options.Thresholds, options.Override = thresholds, flags.Changed("agent")
	baseline, err := o.Side(ctx, env, place, "baseline", o.baseline)
	if err != nil {
		return err
	}
	candidate, err := o.Side(ctx, env, place, "candidate", o.candidate)
	if err != nil {
		return err
	}
	bar := newTaskProgress(env)
	options.Progress = func(p taskrun.Progress) {
		said.Release()
		bar.Show(p)
	}
	if o.shard != "" {
		err := o.runPart(ctx, env, loaded, [2]taskrun.Side{baseline, candidate}, options)
		bar.Close()
		return err
	}
	found, err := taskrun.Run(ctx, loaded, baseline, candidate, options)
	bar.Close()
	if err != nil {
		return err
	}
	return o.deliver(env, found)
}

// check looks at flags that exclude each other or cannot be read.
func (o *tasksOptions) check() error {
	switch {
	case o.Suite == "":
		return misuse.Errorf("--suite is missing: give the directory of a task suite, or a --program that names one")
	case o.output.json && o.output.markdown:
		return misuse.Errorf("--json and --markdown exclude each other; give one of them")
	case o.Jobs < 1:
		return misuse.Errorf("--jobs %d: give at least one", o.Jobs)
	case o.shard != "" && (o.Cache == "" || o.report != ""):
		return misuse.Errorf("--shard needs --cache DIR, where the part is kept, and makes no --report: merge the parts first (iterate shards merge)")
	case o.Tokens < 0 || o.Minutes < 0:
		return misuse.Errorf("a budget below 0 makes no sense")
	case !slices.Contains([]string{"auto", "required", "off"}, o.Isolation):
		return misuse.Errorf("--isolation %s: give auto, required or off", o.Isolation)
	case o.UnknownCost != "allow" && o.UnknownCost != "pause":
		return misuse.Errorf("--unknown-cost %s: give allow or pause", o.UnknownCost)
	}
	return nil
}
