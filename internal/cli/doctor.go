package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

func (a *App) newDoctorCommand() *cobra.Command {
	var quick bool
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
always pass, and prompts that contain their answer.

The exit code is 1 when something has to be fixed.`,
		Example: "  iterate doctor\n  iterate doctor speed\n  iterate doctor speed --json\n" +
			"  iterate doctor skills/release-notes",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case len(args) == 0:
				return a.inspectSetup(ctx, quick)
			case quick:
				return misuse.Errorf("%s: give a program, or --quick", args[0])
			case a.isSuite(ctx, args[0]):
				return a.examineSkill(args[0])
			}
			a.Program = args[0]
			return a.inspectEvaluation(ctx)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "run no evaluation")
	a.jsonFlag(cmd)
	a.githubFlags(cmd)
	return cmd
}

// inspectEvaluation says of one program what its evaluation can see, and what it costs.
func (a *App) inspectEvaluation(ctx context.Context) error {
	if err := a.openRun(ctx); err != nil {
		return err
	}
	p, err := a.selected(ctx)
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
		result.Isolation = runner.Isolation.Method()
	}
	result.Findings = append(result.Findings, setup.WithinReach(p, files)...)
	for _, text := range []string{p.SharedOutput(), targetMet(p, found)} {
		if text != "" {
			result.Findings = append(result.Findings, text)
		}
	}
	if err := a.print(result, result.String()); err != nil {
		return err
	}
	return unusable("evaluation of "+p.Name, found)
}

// unusable is the error of an evaluation that cannot be used; nil when it can.
func unusable(what string, found loop.Inspection) error {
	if found.Problem == "" {
		return nil
	}
	return fmt.Errorf("the %s cannot be used: %s", what, found.Problem)
}

// targetMet says that what a program measures meets its target already; "" when it does not.
func targetMet(p *program.Program, found loop.Inspection) string {
	if found.Problem != "" || !p.Direction.TargetMet(found.Median, p.Target) {
		return ""
	}
	return fmt.Sprintf("it measures %s, which meets target-metric %s already: it would be completed before anything "+
		"is tried", found.Median, p.Target)
}

// inspectSetup says whether this machine, repository and token can do all that
// iterations need. Nothing is written.
func (a *App) inspectSetup(ctx context.Context, quick bool) error {
	if err := a.openRun(ctx); err != nil {
		return err
	}
	a.warn(a.changedPrograms(ctx)...)
	var found setup.Findings
	err := found.Agents(ctx, a.registry(a.NewRunner()), agent.Request{Dir: a.Dir})
	if err == nil {
		err = a.inspectIsolation(ctx, &found)
	}
	if err != nil {
		return err
	}
	found.Checkout(a.Repo)
	switch {
	case a.GitHub != nil:
		found.Hub(ctx, a.GitHub, a.WorkflowToken())
	case a.repository() != "":
		found.Warn("GitHub", "there is a repository and no token, so GitHub is left out", "set GITHUB_TOKEN")
	default:
		found.OK("GitHub", "left out: no repository is named")
	}
	if !quick {
		if err := a.inspectPrograms(ctx, &found); err != nil {
			return err
		}
	}
	return verdict(a.print(found, found.String()),
		slices.ContainsFunc(found, func(f setup.Finding) bool { return f.Level == setup.Problem }))
}

// inspectIsolation says whether agents and evaluations are kept apart from this machine,
// for programs that say nothing else, and how to have it so.
func (a *App) inspectIsolation(ctx context.Context, found *setup.Findings) error {
	const subject, exposed = "isolation", "agents and evaluations can read and write all that you can: "
	wish, err := a.isolationWish(&program.Program{Isolation: "auto", Network: true})
	if err != nil {
		return err
	}
	if wish == "off" {
		found.Warn(subject, exposed+"AUTOLOOP_ISOLATION is off",
			"unset it, unless all this runs in a container that has nothing to lose")
		return nil
	}
	switch probe := a.NewRunner().ProbeIsolation(ctx, a.RunDir, a.Environ); {
	case probe.Isolation != nil:
		found.OK(subject, "it works here, by %s", probe.Isolation.Method())
	case wish == "required":
		found.Problem(subject,
			"AUTOLOOP_ISOLATION is required, but isolation does not work on this machine: "+probe.Reason, probe.Cure)
	default:
		found.Warn(subject, exposed+probe.Reason, probe.Cure)
	}
	return nil
}

// inspectPrograms looks at every program, of files and of issues: who proposes for it, and
// whether its evaluation can be used. What issues of strangers ask for is not run.
func (a *App) inspectPrograms(ctx context.Context, found *setup.Findings) error {
	in, err := a.input(ctx)
	if err != nil {
		return err
	}
	for _, stranger := range in.Issues.Untrusted {
		found.Warn("issue programs", fmt.Sprintf("issue #%d is not run", stranger.Issue), stranger.Reason)
	}
	for _, text := range in.Issues.Warnings {
		found.Warn("issue programs", text, "")
	}
	if len(in.Programs)+len(in.Issues.Untrusted)+len(in.Issues.Warnings) == 0 {
		found.Warn("programs", "there are no programs yet",
			"write one that fits with `iterate init --local`, or one that runs as it stands with `iterate init NAME`")
	}
	for _, p := range in.Programs {
		err := a.inspectProgram(ctx, p, in.States[p.Name] == nil, found)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			found.Problem("program "+p.Name, err.Error(),
				"fix the program, or look closer with `iterate doctor "+p.Name+"`")
		}
	}
	return nil
}

// inspectProgram says who would propose for a program, fresh or not, runs its evaluation
// twice and looks at what that reads. An evaluation that cannot be used is an error.
func (a *App) inspectProgram(ctx context.Context, p *program.Program, fresh bool, found *setup.Findings) error {
	subject := "program " + p.Name
	if p.Unconfigured && p.Err() == nil {
		found.Warn(subject, "it is not configured yet", "replace the placeholders in "+p.File)
		return nil
	}
	if err := a.runnable(ctx, p); err != nil {
		return err
	}
	if agents, err := a.agents(ctx, p, a.NewRunner()); err != nil {
		found.Warn(subject, err.Error(), "`iterate doctor` has what each lacks; in a workflow others may be there")
	} else {
		found.OK(subject, "proposed for by %s", strings.Join(lists.Map(agents, loop.Proposer.Name), ", "))
	}
	if p.Evaluation != program.Metric {
		found.OK(subject, "not run: a model takes part in its evaluation")
		return nil
	}
	run, err := a.repeat(ctx, p)
	if err == nil {
		err = unusable("evaluation", run)
	}
	if err != nil {
		return err
	}
	files, err := a.trackedFiles(ctx)
	if err != nil {
		return err
	}
	repeats := "repeats itself: " + run.Median.String()
	if run.Noisy {
		repeats = fmt.Sprintf("is noisy: %v", run.Samples)
	}
	found.OK(subject, "the evaluation runs and %s; a run takes %.3g s, and its tree and setup %.3g s", repeats,
		run.Seconds, run.Prepare)
	if text := targetMet(p, run); text != "" && fresh { // else it may have reached its target by its own work
		found.Warn(subject, text, "give a `target-metric` that is not reached yet, or none")
	}
	for _, text := range setup.WithinReach(p, files) {
		found.Warn(subject, text, "")
	}
	return nil
}

// repeat runs a program's evaluation twice on the unchanged files, and once on a target
// file that is broken in each of these ways.
func (a *App) repeat(ctx context.Context, p *program.Program, ways ...string) (loop.Inspection, error) {
	service, _, err := a.measurer(ctx, p)
	if err != nil {
		return loop.Inspection{}, err
	}
	return service.Inspect(ctx, 0, ways...)
}
