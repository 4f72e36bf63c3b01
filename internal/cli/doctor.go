package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newDoctorCommand(env Env, o *iterateOptions) *cobra.Command {
	var asJSON, quick bool
	var history string
	cmd := &cobra.Command{
		Use:   "doctor [PROGRAM | PATH | --quick]",
		Short: "Say whether repository, token and machine are fit, or an evaluation or suite is",
		Long: `Look at the checkout, at each agent on this machine and, with a repository on GitHub and a token, at
all that can keep iterations from being published; each finding comes with its fix. Unless --quick,
the evaluation of every program is run twice.

With a program say whether its evaluation repeats itself, how far its numbers scatter, the smallest
gain that can be told from chance, how long a candidate takes to decide, and whether the evaluation
notices a target file that is emptied or given a syntax error. Nothing is written.

Of the skill at PATH examine the eval suite without a model: cases without a check, checks that
always pass, prompts that contain their answer, duplicates; and with --history what came out the same
in every run.

The exit code is 1 when something has to be fixed.`,
		Example: "  iterate doctor\n  iterate doctor speed\n  iterate doctor speed --json\n" +
			"  iterate doctor skills/release-notes --history kept",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return inspectSetup(cmd.Context(), env, o.Options, quick, asJSON)
			case quick:
				return misuse.Errorf("%s: give a program, or --quick", args[0])
			case isSuite(cmd.Context(), env, o.Options, args[0]):
				return examineSkill(cmd.Context(), env, args[0], history, asJSON)
			}
			if err := onlyFor("skills", cmd.Flags().Changed, "history"); err != nil {
				return err
			}
			o.Program = args[0]
			return inspectEvaluation(cmd.Context(), env, o.Options, asJSON)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "run no evaluation")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&history, "history", "",
		"a `directory` with gradings of earlier runs of a skill, at any depth")
	githubFlags(cmd.Flags(), &o.Options)
	return cmd
}

func inspectEvaluation(ctx context.Context, env Env, o Options, asJSON bool) error {
	deps, remove, err := openRun(ctx, env, o)
	if err != nil {
		return err
	}
	defer remove()
	p, _, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	warnUncommitted(env, lookUncommitted(ctx, deps.Repo, o.Programs).Of(p)...)
	if p.Evaluation != program.Metric {
		return misuse.Errorf("%s: doctor looks at programs with `evaluation: metric`; this one has `%s`", p.File,
			p.Evaluation)
	}
	runner, err := deps.Runner(ctx, p, env.Stderr)
	if err != nil {
		return err
	}
	service, err := deps.Measurer(p, runner)
	if err != nil {
		return err
	}
	shown := newProgress(env)
	service.Progress = shown.Step
	found, err := service.Inspect(ctx, loop.EnoughRuns, loop.Emptied, loop.Nonsense)
	shown.Close()
	if err != nil {
		return err
	}
	files, err := deps.TrackedFiles(ctx)
	if err != nil {
		return err
	}
	result := setup.Conclude(found, p.Timeout)
	wished, _ := isolationWish(env, p) // deps.Runner refuses a wrong one
	result.NoteIsolation(ctx, runner, wished, deps.RunDir, env.Environ)
	result.Findings = append(result.Findings, setup.WithinReach(p, files)...)
	if text := p.SharedOutput(); text != "" {
		result.Findings = append(result.Findings, text)
	}
	if text := setup.TargetMet(p, found.Median); text != "" && found.Problem == "" {
		result.Findings = append(result.Findings, text)
	}
	if asJSON {
		if err := printJSON(env, result); err != nil {
			return err
		}
	} else {
		fmt.Fprint(env.Stdout, result.String())
	}
	if found.Problem != "" {
		return fmt.Errorf("the evaluation of %s cannot be used: %s", p.Name, found.Problem)
	}
	return nil
}

// inspectSetup says whether this machine, repository and token can do all that
// iterations need. Nothing is written.
func inspectSetup(ctx context.Context, env Env, o Options, quick, asJSON bool) error {
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	warnUncommitted(env, changedPrograms(ctx, deps.Repo, deps.Source())...)
	wish, err := isolationWish(env, &program.Program{Isolation: "auto", Network: true})
	if err != nil {
		return err
	}
	isolation, err := setup.Isolation(ctx, wish, env.NewRunner(), env.TempDir(), env.Environ)
	if err != nil {
		return err
	}
	registry := newRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	findings, err := setup.Agents(ctx, registry, agent.Situation{Env: env.Environ, Dir: env.Dir})
	if err != nil {
		return err
	}
	findings = append(append(findings, isolation), setup.Checkout(deps.Repo)...)
	switch {
	case deps.GitHub != nil:
		findings = append(findings, setup.Hub{Client: deps.GitHub, WorkflowToken: env.WorkflowToken()}.Examine(ctx)...)
	case o.Repository(env) != "":
		findings = append(findings, setup.Finding{
			Level: setup.Warning, Subject: "GitHub",
			Message: "there is a repository and no token, so GitHub is left out", Fix: "set GITHUB_TOKEN",
		})
	default:
		findings = append(findings, setup.Finding{
			Level: setup.OK, Subject: "GitHub",
			Message: "left out: no repository is named",
		})
	}
	if !quick {
		evaluations, err := inspector(deps).Examine(ctx)
		if err != nil {
			return err
		}
		findings = append(findings, evaluations...)
	}
	return verdict(printEither(env, asJSON, findings, setup.FindingsTable(findings)),
		slices.ContainsFunc(findings, func(f setup.Finding) bool { return f.Level == setup.Problem }))
}

// inspector looks at programs with what iterations would use.
func inspector(deps *dependencies) setup.Inspector {
	return setup.Inspector{
		Programs: deps.Source(), Memory: deps.Memory, GitHub: deps.GitHub, Runnable: deps.Runnable,
		TrackedFiles: deps.TrackedFiles,
		Proposers: func(ctx context.Context, p *program.Program) ([]string, error) {
			agents, err := deps.Agents(ctx, p, deps.Env.NewRunner())
			names := make([]string, len(agents))
			for i, one := range agents {
				names[i] = one.Name()
			}
			return names, err
		},
		Repeat: deps.Repeat,
	}
}
