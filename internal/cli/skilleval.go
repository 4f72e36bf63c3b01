package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/evalrun"
	"github.com/org/autoloop/internal/skill/evals"
)

// skillEvalOptions are the flags of `iterate skill eval`.
type skillEvalOptions struct {
	agent, command, model, judge, judgeModel, isolation, out string
	env                                                      []string
	jobs                                                     int
	timeout                                                  time.Duration
	network, json                                            bool
	// setup and start are of the server that the cases ask.
	setup, start string
	// shard limits what is run to every n-th case.
	shard string
}

func newSkillEvalCommand(env Env) *cobra.Command {
	var o skillEvalOptions
	cmd := &cobra.Command{
		Use:   "eval PATH",
		Short: "Run a skill's eval suites once, and print the score",
		Long: "Run every case of the skill at PATH in a sandbox of its own, grade it, and print the mean pass rate; trigger\n" +
			"queries and questions with exact answers are figures of their own. The skill is not changed.",
		Example: "  iterate skill eval skills/release-notes --agent claude\n" +
			"  iterate skill eval skills/release-notes --agent-command \"sh $PWD/executor.sh\" --judge off --json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return evalSkill(cmd.Context(), env, args[0], o) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.shard, "shard", "", "run only every N-th case, from the I-th on, as `I/N`; needs --out; 'iterate shards merge' puts the parts together")
	return cmd
}

func (o *skillEvalOptions) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.agent, "agent", "", "who works on the cases, as 'iterate agents' lists them\n(default: --agent-command, else AUTOLOOP_AGENT, else models in Actions)")
	flags.StringVar(&o.command, "agent-command", "", "the command of the agent `command`")
	flags.StringVar(&o.model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.judge, "judge", "auto", "who grades expectations: auto, api, cli or off")
	flags.StringVar(&o.judgeModel, "judge-model", "", "the model that grades")
	flags.StringSliceVar(&o.env, "env", nil, "variables that agent and checks may see")
	flags.IntVar(&o.jobs, "jobs", defaultJobs, "cases at the same time")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "what an agent has for one case")
	flags.BoolVar(&o.network, "network", true, "shell_command checks may reach the network")
	flags.StringVar(&o.isolation, "isolation", "auto", "auto, required or off")
	flags.StringVar(&o.setup, "setup", "", "a command that is run in a copy of the skill before --start")
	flags.StringVar(&o.start, "start", "", "the command of the server that the cases ask, run in a copy of the skill; it listens on $PORT,\nand is started anew for each evaluation")
	flags.StringVar(&o.out, "out", "", "keep transcripts, outputs and gradings in this `directory`, which must not exist")
	flags.BoolVar(&o.json, "json", false, "print a JSON object")
}

// check refuses numbers that mean nothing.
func (o *skillEvalOptions) check() error {
	if o.jobs < 1 || o.timeout <= 0 {
		return misuse.Errorf("--jobs %d, --timeout %s: give at least one job, and a time above 0", o.jobs, o.timeout)
	}
	if o.setup != "" && o.start == "" {
		return misuse.Errorf("--setup is of the server that --start runs: give both")
	}
	return nil
}

func evalSkill(ctx context.Context, env Env, dir string, o skillEvalOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	suited, err := evalrun.Load(env.Path(dir), ".", "")
	if err != nil {
		return err
	}
	if err := o.choose(ctx, env, "who works on the cases"); err != nil {
		return err
	}
	shard, err := parseShard(o.shard)
	if err != nil {
		return err
	}
	if o.shard != "" && o.out == "" {
		return misuse.Errorf("--shard needs --out DIR, where the part is kept")
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
	l := &app.SkillSuite{
		Env: env, Root: env.Dir, Agent: o.agent, Named: "--agent", Dir: run, Keep: keep, Hidden: []string{filepath.Join(suited.Dir, evals.Dir)},
		Program: &program.Program{
			File: "iterate skill eval", ExecutorCommand: o.command, Executor: o.agent, Model: o.model, Start: o.start, Judge: o.judge, JudgeModel: o.judgeModel,
			Env: o.env, Jobs: o.jobs, Network: o.network, Isolation: o.isolation,
		},
		Tell: func(text string) { fmt.Fprintln(env.Stderr, text) },
	}
	options, err := l.Options(ctx)
	if err != nil {
		return err
	}
	options.Timeout, options.Setup = o.timeout, o.setup
	found, orders, err := skill.Evaluate(ctx, suited, keep, shard, options)
	if err != nil {
		return err
	}
	if o.shard != "" {
		who := []any{o.agent, o.command, o.model, o.judge, o.judgeModel, o.timeout, o.network, o.setup, o.start}
		if err := skill.WritePart(ctx, suited, keep, who, shard, found, orders); err != nil {
			return err
		}
	}
	return printEither(env, o.json, found, found)
}

// keep is where what the cases leave is kept: in --out, else as long as it runs.
func (o *skillEvalOptions) keep(env Env, run, suited string) (string, error) {
	if o.out == "" {
		return filepath.Join(run, "out"), nil
	}
	dir := env.Path(o.out)
	if _, err := os.Lstat(dir); err == nil {
		return "", misuse.Errorf("--out %s exists already; name a new directory", o.out)
	}
	there := dir // the first directory above that is there, and one below
	for _, err := os.Lstat(filepath.Dir(there)); errors.Is(err, fs.ErrNotExist); _, err = os.Lstat(filepath.Dir(there)) {
		there = filepath.Dir(there)
	}
	inside, err := skill.Inside(there, suited)
	if err == nil && inside {
		err = misuse.Errorf("--out %s is in the skill, which is never edited; name a directory elsewhere", o.out)
	}
	return dir, err
}
