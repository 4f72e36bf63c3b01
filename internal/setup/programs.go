package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// Inspector looks at every program: who proposes for it, and whether its
// evaluation can be used.
type Inspector struct {
	Programs memory.Programs
	Memory   *memory.Memory
	// GitHub has the issue programs; nil without them.
	GitHub *api.Client
	// Runnable reports why a program cannot be iterated, TrackedFiles lists the
	// files of the commit that is checked out.
	Runnable     func(context.Context, *program.Program) error
	TrackedFiles func(context.Context) ([]string, error)
	// Proposers names the agents that propose for a program.
	Proposers func(context.Context, *program.Program) ([]string, error)
	// Repeat runs a program's evaluation twice.
	Repeat func(context.Context, *program.Program, ...string) (loop.Inspection, error)
}

// Examine runs the evaluation of every program twice, of files and of
// issues. What issues of strangers ask for is not run.
func (i Inspector) Examine(ctx context.Context) ([]Finding, error) {
	all, findings, err := i.programs(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(findings) == 0 {
		findings = append(findings, warning("programs", "there are no programs yet",
			"write one that fits with `iterate init --local`, or one that runs as it stands with `iterate init NAME`"))
	}
	for _, p := range all {
		of, err := i.program(ctx, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			of = append(of, Finding{
				Level: Problem, Subject: "program " + p.Name, Message: err.Error(),
				Fix: "fix the program, or look closer with `iterate doctor " + p.Name + "`",
			})
		}
		findings = append(findings, of...)
	}
	return findings, nil
}

// programs are the programs of files and those of issues, with what
// kept an issue from being one.
func (i Inspector) programs(ctx context.Context) (all []*program.Program, findings []Finding, err error) {
	if all, err = i.Programs.Load(true); err != nil {
		return nil, nil, err
	}
	if i.GitHub != nil {
		held, of, err := i.issues(ctx, all)
		if err != nil {
			return nil, nil, err
		}
		all, findings = append(all, held...), of
	}
	if len(all) == 0 {
		all, err = i.Programs.Load(false)
	}
	return all, findings, err
}

func (i Inspector) issues(ctx context.Context, files []*program.Program) ([]*program.Program, []Finding, error) {
	const subject = "issue programs"
	states, err := i.Memory.States(ctx)
	if err != nil {
		return nil, []Finding{warning(subject, "not looked at: "+err.Error(),
			"make the git remote readable")}, ctx.Err()
	}
	found, _, err := schedule.DiscoverIssues(ctx, i.GitHub, sync.ProgramLabel, files, states)
	if err != nil {
		return nil, nil, err
	}
	var findings []Finding
	for _, stranger := range found.Untrusted {
		findings = append(findings, warning(subject, fmt.Sprintf("issue #%d is not run", stranger.Issue),
			stranger.Reason))
	}
	for _, text := range found.Warnings {
		findings = append(findings, warning(subject, text, ""))
	}
	return found.Programs, findings, nil
}

// program says who would propose for a program, runs its evaluation twice
// and looks at what that reads. An evaluation that cannot be used is an error.
func (i Inspector) program(ctx context.Context, p *program.Program) ([]Finding, error) {
	about := func(level Level, text, fix string) Finding {
		return Finding{Level: level, Subject: "program " + p.Name, Message: text, Fix: fix}
	}
	if p.Unconfigured && p.Err() == nil {
		return []Finding{about(Warning, "it is not configured yet", "replace the placeholders in "+p.File)}, nil
	}
	if err := i.Runnable(ctx, p); err != nil {
		return nil, err
	}
	who := about(OK, "", "")
	if agents, err := i.Proposers(ctx, p); err != nil {
		who = about(Warning, err.Error(), "`iterate doctor` has what each lacks; in a workflow others may be there")
	} else {
		who.Message = "proposed for by " + strings.Join(agents, ", ")
	}
	findings := []Finding{who}
	if p.Evaluation != program.Metric {
		return append(findings, about(OK, "not run: a model takes part in its evaluation", "")), nil
	}
	found, err := i.Repeat(ctx, p)
	if err != nil {
		return findings, err
	}
	if found.Problem != "" {
		return findings, fmt.Errorf("the evaluation cannot be used: %s", found.Problem)
	}
	files, err := i.TrackedFiles(ctx)
	if err != nil {
		return findings, err
	}
	findings = append(findings, about(OK, describeRepeat(found), ""))
	if text := TargetMet(p, found.Median); text != "" && !i.begun(ctx, p) {
		findings = append(findings, about(Warning, text, "give a `target-metric` that is not reached yet, or none"))
	}
	for _, text := range WithinReach(p, files) {
		findings = append(findings, about(Warning, text, ""))
	}
	return findings, nil
}

// begun reports whether a program has records: it may have reached its target by
// its own work.
func (i Inspector) begun(ctx context.Context, p *program.Program) bool {
	files, _, err := i.Memory.Read(ctx, p.Name)
	return err != nil || files.Ledger != nil || files.State != nil
}

// TargetMet says that what a program measures meets its target already; "" when
// it does not.
func TargetMet(p *program.Program, measured metric.Value) string {
	if !p.Direction.TargetMet(measured, p.Target) {
		return ""
	}
	return fmt.Sprintf("it measures %s, which meets target-metric %s already: it would be completed before anything "+
		"is tried", measured, p.Target)
}

func describeRepeat(found loop.Inspection) string {
	took := fmt.Sprintf("a run takes %.3g s, and its tree and setup %.3g s", found.Seconds, found.Prepare)
	if found.Noisy {
		return fmt.Sprintf("the evaluation runs and is noisy: %v; %s", found.Samples, took)
	}
	return fmt.Sprintf("the evaluation runs and repeats itself: %s; %s", found.Median, took)
}
