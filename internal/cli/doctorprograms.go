package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

// inspectPrograms runs the evaluation of every program twice, of files and of
// issues. What issues of strangers ask for is not run.
func inspectPrograms(ctx context.Context, deps *app.Deps) ([]setup.Finding, error) {
	all, findings, err := programsToInspect(ctx, deps)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		of, err := inspectProgram(ctx, deps, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			of = append(of, setup.Finding{
				Level: setup.Problem, Subject: "program " + p.Name, Message: err.Error(),
				Fix: "mend the program, or look closer with `iterate doctor --evaluation " + p.Name + "`",
			})
		}
		findings = append(findings, of...)
	}
	return findings, nil
}

// programsToInspect are the programs of files and those of issues, with what
// kept an issue from being one.
func programsToInspect(ctx context.Context, deps *app.Deps) (all []*program.Program, findings []setup.Finding, err error) {
	source := deps.Source(program.Parse)
	if all, err = source.Load(true); err != nil {
		return nil, nil, err
	}
	if deps.GitHub != nil {
		held, of, err := issuesToInspect(ctx, deps, all)
		if err != nil {
			return nil, nil, err
		}
		all, findings = append(all, held...), of
	}
	if len(all) == 0 {
		all, err = source.Load(false)
	}
	return all, findings, err
}

func issuesToInspect(ctx context.Context, deps *app.Deps, files []*program.Program) ([]*program.Program, []setup.Finding, error) {
	warning := func(text, fix string) setup.Finding {
		return setup.Finding{Level: setup.Warning, Subject: "issue programs", Message: text, Fix: fix}
	}
	states, _, err := deps.Memory.States(ctx)
	if err != nil {
		return nil, []setup.Finding{warning("not looked at: "+err.Error(), "make the git remote readable")}, ctx.Err()
	}
	found, _, err := schedule.DiscoverIssues(ctx, deps.GitHub, sync.ProgramLabel, files, states)
	if err != nil {
		return nil, nil, err
	}
	var findings []setup.Finding
	for _, stranger := range found.Untrusted {
		findings = append(findings, warning(fmt.Sprintf("issue #%d is not run", stranger.Issue), stranger.Reason))
	}
	for _, text := range found.Warnings {
		findings = append(findings, warning(text, ""))
	}
	return found.Programs, findings, nil
}

// inspectProgram says who would propose for a program, runs its evaluation twice
// and looks at what that reads. An evaluation that cannot be used is an error.
func inspectProgram(ctx context.Context, deps *app.Deps, p *program.Program) ([]setup.Finding, error) {
	about := func(level setup.Level, text, fix string) setup.Finding {
		return setup.Finding{Level: level, Subject: "program " + p.Name, Message: text, Fix: fix}
	}
	if p.Unconfigured && p.Err() == nil {
		return []setup.Finding{about(setup.Warning, "it is not configured yet", "replace the placeholders in "+p.File)}, nil
	}
	if err := deps.Resolve(ctx, p); err != nil {
		return nil, err
	}
	if err := p.Runnable(); err != nil {
		return nil, err
	}
	who := about(setup.OK, "", "")
	if agents, err := deps.Agents(ctx, p, process.NewRunner()); err != nil {
		who = about(setup.Warning, err.Error(), "`iterate agents` has what each lacks; in a workflow others may be there")
	} else {
		who.Message = "proposed for by " + agentNames(agents)
	}
	findings := []setup.Finding{who}
	if p.Evaluation != program.Metric {
		return append(findings, about(setup.OK, "not run: a model takes part in its evaluation", "")), nil
	}
	found, err := repeatEvaluation(ctx, deps, p)
	if err != nil {
		return findings, err
	}
	files, err := deps.TrackedFiles(ctx)
	if err != nil {
		return findings, err
	}
	findings = append(findings, about(setup.OK, describeRepeat(found), ""))
	for _, text := range withinReach(p, files) {
		findings = append(findings, about(setup.Warning, text, ""))
	}
	return findings, nil
}

// repeatEvaluation runs a program's evaluation twice.
func repeatEvaluation(ctx context.Context, deps *app.Deps, p *program.Program) (loop.Inspection, error) {
	measured := *deps
	remove, err := measured.MakeRunDir()
	if err != nil {
		return loop.Inspection{}, err
	}
	defer remove()
	runner, err := measured.Runner(ctx, p)
	if err != nil {
		return loop.Inspection{}, err
	}
	found, err := measured.Measurer(p, runner).Repeat(ctx)
	if err == nil && found.Problem != "" {
		err = fmt.Errorf("the evaluation cannot be used: %s", found.Problem)
	}
	return found, err
}

func agentNames(agents []loop.Proposer) string {
	var names []string
	for _, one := range agents {
		names = append(names, one.Name())
	}
	return strings.Join(names, ", ")
}

func describeRepeat(found loop.Inspection) string {
	took := fmt.Sprintf("a run takes %.3g s, and its tree and setup %.3g s", found.Seconds, found.Prepare)
	if found.Noisy {
		return fmt.Sprintf("the evaluation runs and is noisy: %v; %s", found.Samples, took)
	}
	return fmt.Sprintf("the evaluation runs and repeats itself: %s; %s", found.Median, took)
}
