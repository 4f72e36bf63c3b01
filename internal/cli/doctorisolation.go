package cli

import (
	"context"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// isolationFinding says whether agents and evaluations are kept apart from this
// machine, for programs that say nothing else, and how to have it so. What is
// required and cannot be had is a problem.
func isolationFinding(ctx context.Context, env Env) (setup.Finding, error) {
	const exposed = "agents and evaluations can read and write all that you can: "
	finding := setup.Finding{Level: setup.Warning, Subject: "isolation"}
	wish, err := app.IsolationWish(env, &program.Program{Isolation: "auto", Network: true})
	if err != nil {
		return finding, err
	}
	if wish == "off" {
		finding.Message = exposed + "AUTOLOOP_ISOLATION is off"
		finding.Fix = "unset it, unless all this runs in a container that has nothing to lose"
		return finding, nil
	}
	dir, err := tree.NewRunDir()
	if err != nil {
		return finding, err
	}
	defer func() { _ = tree.RemoveAll(dir) }()
	probe := process.NewRunner().ProbeIsolation(ctx, dir, env.Environ)
	switch {
	case ctx.Err() != nil:
		return finding, context.Cause(ctx)
	case probe.Available():
		finding.Level, finding.Message = setup.OK, "it works here, by "+string(probe.Method)
	case wish == "required":
		finding.Level, finding.Message, finding.Fix = setup.Problem, "AUTOLOOP_ISOLATION is required, and this machine has none: "+probe.Reason, probe.Cure
	default:
		finding.Message, finding.Fix = exposed+probe.Reason, probe.Cure
	}
	return finding, nil
}
