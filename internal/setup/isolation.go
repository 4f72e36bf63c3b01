package setup

import (
	"context"

	"github.com/org/autoloop/internal/process"
)

// Isolation says whether agents and evaluations are kept apart from this
// machine, for programs that say nothing else, and how to have it so. The wish is auto,
// required or off. What is
// required and cannot be had is a problem.
func Isolation(ctx context.Context, wish string, runner *process.Runner, runDir string, environ []string) Finding {
	const exposed = "agents and evaluations can read and write all that you can: "
	finding := Finding{Level: Warning, Subject: "isolation"}
	if wish == "off" {
		finding.Message = exposed + "AUTOLOOP_ISOLATION is off"
		finding.Fix = "unset it, unless all this runs in a container that has nothing to lose"
		return finding
	}
	probe := runner.ProbeIsolation(ctx, runDir, environ)
	switch {
	case probe.Available():
		finding.Level, finding.Message = OK, "it works here, by "+string(probe.Method)
	case wish == "required":
		finding.Level, finding.Message, finding.Fix = Problem,
			"AUTOLOOP_ISOLATION is required, but isolation does not work on this machine: "+probe.Reason, probe.Cure
	default:
		finding.Message, finding.Fix = exposed+probe.Reason, probe.Cure
	}
	return finding
}
