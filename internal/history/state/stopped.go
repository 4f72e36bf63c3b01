package state

import (
	"cmp"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// Stopped says why a program takes no iteration and how it goes on; "" when it is
// neither paused nor completed. It is printed by many, so that nothing hidden is in it.
func (m Machine) Stopped(name string) string {
	switch {
	case m.Completed:
		return "completed: " + cmp.Or(plain.Line(m.CompletedReason), "its target is reached") + resume(m.CompletedReason, name)
	case m.Paused:
		return "paused: " + cmp.Or(plain.Line(m.PauseReason), "by hand") + resume(m.PauseReason, name)
	default:
		return ""
	}
}

// resume says how a program goes on, behind a reason that does not say it.
func resume(reason, name string) string {
	if strings.Contains(reason, "/autoloop resume") {
		return ""
	}
	return "; say `/autoloop resume`, or run `iterate resume " + name + "`"
}
