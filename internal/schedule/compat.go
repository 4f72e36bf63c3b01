package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// Compat puts a plan in the words of the original scheduler: it lists also the
// skipped program that was asked for, and has a size and a direction without one.
func (p *Plan) Compat() {
	if s := p.selected; s != nil && s.Skip != "" {
		p.Skipped = append(p.Skipped, Skipped{s.Program.Name, s.Skip, s.NextDue, s})
	}
	for i, skipped := range p.Skipped {
		switch skipped.standing.Condition { //nolint:exhaustive // the original knows no others
		case Completed:
			p.Skipped[i].Reason = "completed: target metric reached"
		case Paused:
			p.Skipped[i].Reason = "paused: " + cmp.Or(skipped.standing.Machine.PauseReason, "None")
		case Plateau:
			p.Skipped[i].Reason = "plateau: 5 consecutive rejections"
		}
	}
	p.StateFileSizeBytes = cmp.Or(p.StateFileSizeBytes, new(0))
	p.SelectedMetricDirection = cmp.Or(p.SelectedMetricDirection, new(metric.Higher.String()))
}

// compatList is a list as Python prints it.
func compatList(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return "['" + strings.Join(names, "', '") + "']"
}

// CompatText is what callers of the original scheduler read, and whether it would
// have failed. Forced is the error of Choose.
func (p *Plan) CompatText(in Input, forced error) (text string, failed bool) {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, warning := range p.Warnings {
		say("  Warning: %s", plain.Line(warning))
	}
	if p.NoPrograms {
		say("NO_PROGRAMS_FOUND")
		return out.String(), false
	}
	names, skipped := make([]string, 0, len(p.Standings)), make([]string, 0, len(p.Skipped))
	for _, s := range p.Standings {
		names = append(names, s.Program.Name)
		switch {
		case s.Condition == Unconfigured: // its state is not looked at
		case s.StateSize != nil:
			last := "None"
			if s.Machine.LastRun != nil {
				last = s.Machine.LastRun.Format(time.RFC3339)
			}
			say("  %s: last_run=%s, iteration_count=%d", s.Program.Name, last, s.Machine.IterationCount)
		default:
			say("  %s: no state file found (first run)", s.Program.Name)
			say("  %s: no state found (first run)", s.Program.Name)
		}
	}
	for _, s := range p.Skipped {
		skipped = append(skipped, s.Name)
	}
	for _, failure := range p.Errors {
		say("  Warning: %s: %s", failure.Name, failure.Problem())
	}
	if bad, ok := errors.AsType[*ForcedError](forced); ok {
		switch bad.Why { //nolint:exhaustive // the others have the words of this scheduler
		case "":
			say("requested program '%s' not found", plain.Line(in.Forced))
			say("ERROR: requested program '%s' not found. Available programs: %s", plain.Line(in.Forced),
				compatList(names))
		case Unconfigured:
			say("ERROR: requested program '%s' is unconfigured (has placeholders).", in.Forced)
		}
		return out.String(), true
	}
	if in.Forced != "" && p.Selected != nil {
		say("FORCED: running program '%s' (manual dispatch)", *p.Selected)
	}
	selected, file := "(none)", "n/a"
	if p.Selected != nil {
		selected = *p.Selected
	}
	if p.SelectedFile != nil {
		file = *p.SelectedFile
	}
	say("=== Autoloop Program Check ===")
	say("Selected program:      %s (%s)", selected, file)
	say("Deferred (next run):   %s", compatList(p.Deferred))
	say("Programs skipped:      %s", compatList(skipped))
	say("Programs unconfigured: %s", compatList(p.Unconfigured))
	if p.Selected == nil && len(p.Unconfigured) == 0 {
		say("\nNo programs due this run. Exiting early.")
		return out.String(), true
	}
	return out.String(), false
}
