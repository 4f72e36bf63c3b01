package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/evals"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/tree"
)

// skillEvalOptions are the flags of `iterate skill eval`.
type skillEvalOptions struct {
	agent, command, model, judge, judgeModel, isolation, out string
	env                                                      []string
	jobs                                                     int
	timeout                                                  time.Duration
	network, json                                            bool
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
	o.register(cmd.Flags(), env)
	return cmd
}

func (o *skillEvalOptions) register(flags *pflag.FlagSet, env Env) {
	flags.StringVar(&o.agent, "agent", env.Getenv("AUTOLOOP_AGENT"), "who works on the cases, as `iterate agents` lists them")
	flags.StringVar(&o.command, "agent-command", "", "the command of the agent `command`")
	flags.StringVar(&o.model, "model", "", "the model that the agent uses")
	flags.StringVar(&o.judge, "judge", "auto", "who grades expectations: auto, api, cli or off")
	flags.StringVar(&o.judgeModel, "judge-model", "", "the model that grades")
	flags.StringSliceVar(&o.env, "env", nil, "variables that agent and checks may see")
	flags.IntVar(&o.jobs, "jobs", defaultJobs, "cases at the same time")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "what an agent has for one case")
	flags.BoolVar(&o.network, "network", true, "shell_command checks may reach the network")
	flags.StringVar(&o.isolation, "isolation", "auto", "auto, required or off")
	flags.StringVar(&o.out, "out", "", "keep transcripts, outputs and gradings in this `directory`, which must not exist")
	flags.BoolVar(&o.json, "json", false, "print a JSON object")
}

// evaluated is `iterate skill eval --json`. Scores are null where the skill has
// no such suite.
type evaluated struct {
	Name     string            `json:"name"`
	Score    score.Value       `json:"score"`
	Cases    []evaluatedCase   `json:"cases"`
	Triggers *evaluatedFigure  `json:"triggers"`
	Answers  *evaluatedFigure  `json:"answers"`
	Feedback map[string]string `json:"eval_feedback,omitempty"`
}

type evaluatedFigure struct {
	Score score.Value     `json:"score"`
	Cases []evaluatedCase `json:"cases"`
}

type evaluatedCase struct {
	ID       string      `json:"id"`
	Passed   int         `json:"passed"`
	Total    int         `json:"total"`
	PassRate score.Value `json:"pass_rate"`
	Problem  *string     `json:"problem"`
	Failed   []string    `json:"failed"`
}

func evalSkill(ctx context.Context, env Env, dir string, o skillEvalOptions) error {
	skill, err := evals.Load(env.path(dir), ".", "")
	if err != nil {
		return misfit(err)
	}
	run, err := newRunDir()
	if err != nil {
		return err
	}
	defer func() { _ = tree.RemoveAll(run) }()
	keep, err := o.keep(env, run)
	if err != nil {
		return err
	}
	l := &skillLoop{
		env: env, root: env.Dir, agent: o.agent, dir: run, keep: keep, hidden: []string{filepath.Join(skill.Dir, suite.EvalDir)},
		program: &program.Program{
			File: "iterate skill eval", ExecutorCommand: o.command, Executor: o.agent, Model: o.model, Judge: o.judge, JudgeModel: o.judgeModel,
			Env: o.env, Jobs: o.jobs, Network: o.network, Isolation: o.isolation,
		},
		tell: func(text string) { fmt.Fprintln(env.Stderr, text) },
	}
	if o.agent == "" && o.command == "" {
		return Usagef("nobody works on the cases: name an agent with --agent, or a command with --agent-command")
	}
	options, err := l.options(ctx)
	if err != nil {
		return err
	}
	options.Timeout = o.timeout
	found, err := evaluateAll(ctx, skill, keep, options)
	if err != nil {
		return misfit(err)
	}
	return found.print(env, o.json)
}

// misfit makes faults of the skill the caller's.
func misfit(err error) error {
	var fault *evals.FaultError
	var unfit *evals.UnfitError
	if errors.As(err, &fault) || errors.As(err, &unfit) {
		return &UsageError{err}
	}
	return err
}

// keep is where what the cases leave is kept: in --out, else as long as it runs.
func (o *skillEvalOptions) keep(env Env, run string) (string, error) {
	if o.out == "" {
		return filepath.Join(run, "out"), nil
	}
	dir := env.path(o.out)
	if _, err := os.Lstat(dir); err == nil {
		return "", Usagef("--out %s exists already; name a new directory", o.out)
	}
	return dir, nil
}

// evaluateAll runs the suites that the skill has, one after the other.
func evaluateAll(ctx context.Context, skill *evals.Skill, keep string, o evals.Options) (evaluated, error) {
	found := evaluated{Name: skill.Name}
	result, err := evals.Run(ctx, skill, keep, o)
	if err != nil {
		return found, err
	}
	whole := figureOf(result)
	found.Score, found.Cases, found.Feedback = whole.Score, whole.Cases, result.Feedback
	for _, more := range []struct {
		suite *evals.Skill
		name  string
		to    **evaluatedFigure
	}{{skill.TriggerSuite(), "triggers", &found.Triggers}, {skill.AnswerSuite(), "answers", &found.Answers}} {
		if more.suite == nil {
			continue
		}
		result, err := evals.Run(ctx, more.suite, filepath.Join(keep, more.name), o)
		if err != nil {
			return found, err
		}
		figure := figureOf(result)
		*more.to = &figure
	}
	return found, nil
}

func figureOf(r evals.Result) evaluatedFigure {
	figure := evaluatedFigure{Score: suite.RateValue(r.Rate)}
	for _, c := range r.Cases {
		one := evaluatedCase{ID: c.ID, Passed: c.Passed, Total: c.Total, PassRate: suite.RateValue(c.PassRate()), Problem: given(c.Problem), Failed: []string{}}
		for _, failed := range c.Failed {
			one.Failed = append(one.Failed, failed.Text+": "+failed.Evidence)
		}
		figure.Cases = append(figure.Cases, one)
	}
	return figure
}

func (e evaluated) print(env Env, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(e)
	}
	for _, c := range e.Cases {
		fmt.Fprintf(env.Stdout, "case %s: %d of %d\n", c.ID, c.Passed, c.Total)
		if c.Problem != nil {
			fmt.Fprintf(env.Stdout, "  counts 0: %s\n", *c.Problem)
		}
		for _, line := range c.Failed {
			fmt.Fprintf(env.Stdout, "  failed: %s\n", line)
		}
	}
	for name, figure := range map[string]*evaluatedFigure{"triggers": e.Triggers, "answers": e.Answers} {
		if figure != nil {
			fmt.Fprintf(env.Stdout, "%s: %s over %d\n", name, figure.Score, len(figure.Cases))
		}
	}
	_, err := fmt.Fprintf(env.Stdout, "%s: pass rate %s over %d cases\n", e.Name, e.Score, len(e.Cases))
	return err
}
