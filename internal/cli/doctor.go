package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func (a *App) newDoctorCommand() *cobra.Command {
	var quick bool
	var history string
	cmd := &cobra.Command{
		Use:   "doctor [PROGRAM | PATH | --quick]",
		Short: "Say whether repository, token and machine are fit, or an evaluation or suite is",
		Long: `Look at the checkout, at each agent on this machine and, with a repository on GitHub and a token, at
all that can keep iterations from being published; each finding comes with its fix. Unless --quick,
the evaluation of every program is run twice.

With a program say whether its evaluation repeats itself, the smallest gain that can be told from
chance, how long a candidate takes to decide, and whether the evaluation notices a target file that is
emptied or given a syntax error. Nothing is written.

Of the skill at PATH examine the eval suite without a model: cases without a check, checks that
always pass, prompts that contain their answer; and with --history what came out the same in every run.

The exit code is 1 when something has to be fixed.`,
		Example: "  iterate doctor\n  iterate doctor speed\n  iterate doctor speed --json\n" +
			"  iterate doctor skills/release-notes --history kept",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case len(args) == 0:
				return a.inspectSetup(ctx, quick)
			case quick:
				return misuse.Errorf("%s: give a program, or --quick", args[0])
			case a.isSuite(ctx, args[0]):
				return a.examineSkill(ctx, args[0], history)
			}
			if err := onlyFor("skills", cmd, "history"); err != nil {
				return err
			}
			a.Program = args[0]
			return a.inspectEvaluation(ctx)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "run no evaluation")
	a.jsonFlag(cmd)
	cmd.Flags().StringVar(&history, "history", "",
		"a `directory` with gradings of earlier runs of a skill, at any depth")
	a.githubFlags(cmd)
	return cmd
}

func (a *App) inspectEvaluation(ctx context.Context) error {
	if err := a.openRun(ctx); err != nil {
		return err
	}
	p, _, err := a.selected(ctx)
	if err != nil {
		return err
	}
	a.warn(a.uncommitted(ctx).Of(p)...)
	if p.Evaluation != program.Metric {
		return misuse.Errorf("%s: doctor looks at programs with `evaluation: metric`; this one has `%s`", p.File,
			p.Evaluation)
	}
	service, runner, err := a.measurer(ctx, p)
	if err != nil {
		return err
	}
	shown := newProgress(a.Env)
	service.Progress = shown.Step
	found, err := service.Inspect(ctx, loop.EnoughRuns, loop.Emptied, loop.Nonsense)
	shown.Close()
	if err != nil {
		return err
	}
	files, err := a.trackedFiles(ctx)
	if err != nil {
		return err
	}
	result := setup.Conclude(found, p.Timeout)
	if runner.Isolation != nil {
		result.Isolation = string(runner.Isolation.Method)
	}
	result.Findings = append(result.Findings, setup.WithinReach(p, files)...)
	texts := []string{p.SharedOutput()}
	if found.Problem == "" {
		texts = append(texts, setup.TargetMet(p, found.Median))
	}
	result.Findings = append(result.Findings, slices.DeleteFunc(texts, func(text string) bool { return text == "" })...)
	if err := a.print(result, result.String()); err != nil {
		return err
	}
	if found.Problem != "" {
		return fmt.Errorf("the evaluation of %s cannot be used: %s", p.Name, found.Problem)
	}
	return nil
}

// inspectSetup says whether this machine, repository and token can do all that
// iterations need. Nothing is written.
func (a *App) inspectSetup(ctx context.Context, quick bool) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	a.warn(a.changedPrograms(ctx)...)
	wish, err := a.isolationWish(&program.Program{Isolation: "auto", Network: true})
	if err != nil {
		return err
	}
	dir, err := a.newRunDir(a.TempDir())
	if err != nil {
		return err
	}
	isolation := setup.Isolation(ctx, wish, a.NewRunner(), dir, a.Environ)
	findings, err := setup.Agents(ctx, a.registry(a.NewRunner()), agent.Situation{Env: a.Environ, Dir: a.Env.Dir})
	if err != nil {
		return err
	}
	findings = append(append(findings, isolation), setup.Checkout(a.Repo)...)
	switch {
	case a.GitHub != nil:
		findings = append(findings, setup.Hub{Client: a.GitHub, WorkflowToken: a.WorkflowToken()}.Examine(ctx)...)
	case a.repository() != "":
		findings = append(findings, setup.Finding{
			Level: setup.Warning, Subject: "GitHub", Fix: "set GITHUB_TOKEN",
			Message: "there is a repository and no token, so GitHub is left out",
		})
	default:
		findings = append(findings, setup.Finding{
			Level: setup.OK, Subject: "GitHub", Message: "left out: no repository is named",
		})
	}
	if !quick {
		inspector, err := a.inspector(ctx)
		if err != nil {
			return err
		}
		evaluations, err := inspector.Examine(ctx)
		if err != nil {
			return err
		}
		findings = append(findings, evaluations...)
	}
	return verdict(a.print(findings, setup.FindingsTable(findings)),
		slices.ContainsFunc(findings, func(f setup.Finding) bool { return f.Level == setup.Problem }))
}

// inspector looks at programs with what iterations would use.
func (a *App) inspector(ctx context.Context) (setup.Inspector, error) {
	here := *a
	in, err := here.Input(ctx)
	return setup.Inspector{
		Input: in, Runnable: a.runnable, TrackedFiles: a.trackedFiles, Repeat: a.repeat,
		Proposers: func(ctx context.Context, p *program.Program) ([]string, error) {
			agents, err := a.agents(ctx, p, a.NewRunner())
			names := make([]string, len(agents))
			for i, one := range agents {
				names[i] = one.Name()
			}
			return names, err
		},
	}, err
}

// repeat runs a program's evaluation twice on the unchanged files, and once on a target
// file that is broken in each of these ways, in trees of its own.
func (a *App) repeat(ctx context.Context, p *program.Program, ways ...string) (loop.Inspection, error) {
	measured := *a
	measured.removals = nil
	defer measured.close()
	if err := measured.useRunDir(); err != nil {
		return loop.Inspection{}, err
	}
	service, _, err := measured.measurer(ctx, p)
	if err != nil {
		return loop.Inspection{}, err
	}
	return service.Inspect(ctx, 0, ways...)
}
