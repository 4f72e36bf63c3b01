package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// Inspector looks at every program: who proposes for it, and whether its
// evaluation can be used.
type Inspector struct {
	// Input has the programs of files and of issues, and their states.
	Input schedule.Input
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
	var found findings
	for _, stranger := range i.Input.Issues.Untrusted {
		found.warn("issue programs", fmt.Sprintf("issue #%d is not run", stranger.Issue), stranger.Reason)
	}
	for _, text := range i.Input.Issues.Warnings {
		found.warn("issue programs", text, "")
	}
	if len(i.Input.Programs) == 0 && len(found) == 0 {
		found.warn("programs", "there are no programs yet",
			"write one that fits with `iterate init --local`, or one that runs as it stands with `iterate init NAME`")
	}
	for _, p := range i.Input.Programs {
		err := i.program(ctx, p, &found)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			found.problem("program "+p.Name, err.Error(),
				"fix the program, or look closer with `iterate doctor "+p.Name+"`")
		}
	}
	return found, nil
}

// program says who would propose for a program, runs its evaluation twice
// and looks at what that reads. An evaluation that cannot be used is an error.
func (i Inspector) program(ctx context.Context, p *program.Program, found *findings) error {
	subject := "program " + p.Name
	if p.Unconfigured && p.Err() == nil {
		found.warn(subject, "it is not configured yet", "replace the placeholders in "+p.File)
		return nil
	}
	if err := i.Runnable(ctx, p); err != nil {
		return err
	}
	if agents, err := i.Proposers(ctx, p); err != nil {
		found.warn(subject, err.Error(), "`iterate doctor` has what each lacks; in a workflow others may be there")
	} else {
		found.ok(subject, "proposed for by %s", strings.Join(agents, ", "))
	}
	if p.Evaluation != program.Metric {
		found.ok(subject, "not run: a model takes part in its evaluation")
		return nil
	}
	run, err := i.Repeat(ctx, p)
	if err == nil && run.Problem != "" {
		err = fmt.Errorf("the evaluation cannot be used: %s", run.Problem)
	}
	if err != nil {
		return err
	}
	files, err := i.TrackedFiles(ctx)
	if err != nil {
		return err
	}
	repeats := "repeats itself: " + run.Median.String()
	if run.Noisy {
		repeats = fmt.Sprintf("is noisy: %v", run.Samples)
	}
	found.ok(subject, "the evaluation runs and %s; a run takes %.3g s, and its tree and setup %.3g s", repeats,
		run.Seconds, run.Prepare)
	if text := TargetMet(p, run.Median); text != "" && i.Input.States[p.Name] == nil {
		// One with a state may have reached its target by its own work.
		found.warn(subject, text, "give a `target-metric` that is not reached yet, or none")
	}
	for _, text := range WithinReach(p, files) {
		found.warn(subject, text, "")
	}
	return nil
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
