package cli

import (
	"context"
	"encoding/json"
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
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
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
	cmd.Flags().StringVar(&o.shard, "shard", "", "run every N-th case alone, from the I-th on, as `I/N`; needs --out; 'iterate shards merge' puts the parts together")
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

// evaluated is `iterate skill eval --json`. Scores are null where the skill has
// no such suite.
type evaluated struct {
	Name     string            `json:"name"`
	Score    metric.Value      `json:"score"`
	Cases    []evaluatedCase   `json:"cases"`
	Triggers *evaluatedFigure  `json:"triggers"`
	Answers  *evaluatedFigure  `json:"answers"`
	Feedback map[string]string `json:"eval_feedback,omitempty"`
	// Notes say what was not run.
	Notes []string `json:"notes,omitempty"`
}

type evaluatedFigure struct {
	Score metric.Value    `json:"score"`
	Cases []evaluatedCase `json:"cases"`
}

type evaluatedCase struct {
	ID       string       `json:"id"`
	Passed   int          `json:"passed"`
	Total    int          `json:"total"`
	PassRate metric.Value `json:"pass_rate"`
	Problem  *string      `json:"problem"`
	Failed   []string     `json:"failed"`
}

func evalSkill(ctx context.Context, env Env, dir string, o skillEvalOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	skill, err := evalrun.Load(env.Path(dir), ".", "")
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
	keep, err := o.keep(env, run, skill.Dir)
	if err != nil {
		return err
	}
	l := &app.SkillSuite{
		Env: env, Root: env.Dir, Agent: o.agent, Named: "--agent", Dir: run, Keep: keep, Hidden: []string{filepath.Join(skill.Dir, evals.Dir)},
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
	found, orders, err := evaluateAll(ctx, skill, keep, shard, options)
	if err != nil {
		return err
	}
	if o.shard != "" {
		if err := writeSkillPart(ctx, skill, keep, o, shard, found, orders); err != nil {
			return err
		}
	}
	return found.print(env, o.json)
}

// keep is where what the cases leave is kept: in --out, else as long as it runs.
func (o *skillEvalOptions) keep(env Env, run, skill string) (string, error) {
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
	inside, err := inSkill(there, skill)
	if err == nil && inside {
		err = misuse.Errorf("--out %s is in the skill, which is never edited; name a directory elsewhere", o.out)
	}
	return dir, err
}

// evaluateAll runs a shard of the suites that the skill has, one after the other,
// and lists the cases of each.
func evaluateAll(ctx context.Context, skill *evalrun.Skill, keep string, shard schedule.Shard, o evalrun.Options) (found evaluated, orders map[string][]string, err error) {
	found, orders = evaluated{Name: skill.Name}, map[string][]string{}
	mine, order := partOf(skill, shard)
	orders[suiteEvals] = order
	result, err := evalrun.Run(ctx, mine, keep, o)
	if err != nil {
		return found, nil, err
	}
	whole := figureOf(result)
	found.Score, found.Cases, found.Feedback = whole.Score, whole.Cases, result.Feedback
	for _, more := range []struct {
		suite *evalrun.Skill
		name  string
		to    **evaluatedFigure
	}{{skill.TriggerSuite(), suiteTriggers, &found.Triggers}, {skill.AnswerSuite(), suiteAnswers, &found.Answers}} {
		if more.suite == nil {
			continue
		}
		if more.to == &found.Triggers && !evalrun.Chooses(o.Agent.Name()) {
			found.Notes = append(found.Notes, fmt.Sprintf("the trigger queries were not run: agent %s is shown every file, and does not choose which skills it takes up", o.Agent.Name()))
			continue
		}
		mine, orders[more.name] = partOf(more.suite, shard)
		result, err := evalrun.Run(ctx, mine, filepath.Join(keep, more.name), o)
		if err != nil {
			return found, nil, err
		}
		figure := figureOf(result)
		*more.to = &figure
	}
	return found, orders, nil
}

func figureOf(r evalrun.Result) evaluatedFigure {
	figure := evaluatedFigure{Score: evals.RateValue(r.Rate)}
	for _, c := range r.Cases {
		one := evaluatedCase{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: evals.RateValue(c.PassRate()), Problem: text(c.Problem), Failed: []string{}}
		for _, failed := range c.Failed {
			one.Failed = append(one.Failed, failed.Text+": "+failed.Evidence)
		}
		figure.Cases = append(figure.Cases, one)
	}
	return figure
}

// print shows a figure of its own, with what failed, or nil.
func (f *evaluatedFigure) print(env Env, name string) {
	if f == nil {
		return
	}
	fmt.Fprintf(env.Stdout, "%s: %s over %d\n", name, render.ShortValue(&f.Score), len(f.Cases))
	for _, c := range f.Cases {
		for _, line := range c.Failed {
			fmt.Fprintf(env.Stdout, "  %s failed: %s\n", c.ID, line)
		}
		if c.Problem != nil {
			fmt.Fprintf(env.Stdout, "  %s counts 0: %s\n", c.ID, *c.Problem)
		}
	}
}

func (e evaluated) print(env Env, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(e)
	}
	var ids []string
	for _, c := range e.Cases {
		ids = append(ids, c.ID)
		fmt.Fprintf(env.Stdout, "case %s: %d of %d\n", c.ID, c.Passed, c.Total)
		if c.Problem != nil {
			fmt.Fprintf(env.Stdout, "  counts 0: %s\n", *c.Problem)
		}
		for _, line := range c.Failed {
			fmt.Fprintf(env.Stdout, "  failed: %s\n", line)
		}
	}
	e.Triggers.print(env, "triggers")
	e.Answers.print(env, "answers")
	for _, remark := range evalrun.Remarks(ids, e.Feedback) {
		fmt.Fprintln(env.Stdout, remark)
	}
	for _, note := range e.Notes {
		fmt.Fprintf(env.Stdout, "note: %s\n", note)
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: pass rate %s over %s\n", e.Name, render.ShortValue(&e.Score), render.Count(len(e.Cases), "case", "cases"))
	return err
}
