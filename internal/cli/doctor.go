package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func newDoctorCommand(env Env, o *iterateOptions) *cobra.Command {
	var evaluation string
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "doctor [PROGRAM | --quick]",
		Short: "Say whether repository, token and machine are fit, or a program's evaluation",
		Long: "Look at the checkout, the agents on this machine and, with a repository on GitHub and a token, at all\n" +
			"that can keep iterations from being published; each finding comes with its fix. The exit code is 1\n" +
			"when something has to be fixed. Of every program, unless --quick, it says who proposes for it, and runs\n" +
			"the evaluation twice: those of files and those of issues that people with rights here opened.\n\n" +
			"With a program, run its evaluation on the incumbent and say whether it repeats itself, how far its numbers\n" +
			"scatter, the smallest gain that the program's settings can tell from chance, and how long one\n" +
			"candidate takes to decide. A target file is emptied, and given a syntax error, in a throw-away tree, to see whether the\n" +
			"evaluation notices. Nothing is written.\n\n" +
			"The exit code is 1 when the evaluation cannot be used.",
		Example: "  iterate doctor\n  iterate doctor speed\n  iterate doctor speed --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := *o
			if len(args) > 0 && (quick || evaluation != "") {
				return misuse.Errorf("%s: give a program, or --quick, or --evaluation", args[0])
			}
			if len(args) > 0 {
				evaluation = args[0]
			}
			if evaluation == "" {
				return inspectSetup(cmd.Context(), env, o, quick, asJSON)
			}
			o.Program = evaluation
			return inspectEvaluation(cmd.Context(), env, o, asJSON)
		},
	}
	cmd.Flags().StringVar(&evaluation, "evaluation", "", "the same as `PROGRAM`")
	cmd.Flags().BoolVar(&quick, "quick", false, "run no evaluation")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	githubFlags(cmd.Flags(), &o.GitHub)
	return cmd
}

func inspectEvaluation(ctx context.Context, env Env, o iterateOptions, asJSON bool) error {
	deps, remove, err := app.OpenRun(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer remove()
	p, _, err := deps.Program(ctx)
	if err != nil {
		return err
	}
	if p.Evaluation != program.Metric {
		return misuse.Errorf("%s: --evaluation looks at programs with `evaluation: metric`; this one has `%s`", p.File, p.Evaluation)
	}
	runner, err := deps.Runner(ctx, p)
	if err != nil {
		return err
	}
	service, err := deps.Measurer(p, runner)
	if err != nil {
		return err
	}
	shown := newProgress(env)
	service.Progress = shown.Step
	found, err := service.Inspect(ctx)
	shown.Close()
	if err != nil {
		return err
	}
	files, err := deps.TrackedFiles(ctx)
	if err != nil {
		return err
	}
	result := setup.Conclude(found, p.Timeout)
	wished, _ := app.IsolationWish(env, p) // deps.Runner refuses a wrong one
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
func inspectSetup(ctx context.Context, env Env, o iterateOptions, quick, asJSON bool) error {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	wish, err := app.IsolationWish(env, &program.Program{Isolation: "auto", Network: true})
	if err != nil {
		return err
	}
	isolation, err := setup.Isolation(ctx, wish, env.NewRunner(), env.TempDir(), env.Environ)
	if err != nil {
		return err
	}
	registry := app.NewRegistry(env, env.NewRunner(), process.NewMasker(env.Environ))
	findings := append(append(setup.Agents(registry, env.Environ), isolation), setup.Checkout(ctx, deps.Repo)...)
	switch {
	case deps.GitHub != nil:
		findings = append(findings, setup.Hub{Client: deps.GitHub, WorkflowToken: env.WorkflowToken()}.Examine(ctx)...)
	case o.Repository(env) != "":
		findings = append(findings, setup.Finding{
			Level: setup.Warning, Subject: "GitHub", Message: "there is a repository and no token, so GitHub is left out", Fix: "set GITHUB_TOKEN",
		})
	default:
		findings = append(findings, setup.Finding{Level: setup.OK, Subject: "GitHub", Message: "left out: no repository is named"})
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
func inspector(deps *app.Deps) setup.Inspector {
	return setup.Inspector{
		Programs: deps.Source(program.Parse), Memory: deps.Memory, GitHub: deps.GitHub, Runnable: deps.Runnable, TrackedFiles: deps.TrackedFiles,
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
