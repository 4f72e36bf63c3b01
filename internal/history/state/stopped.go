package state

import (
	"cmp"

	"github.com/org/autoloop/internal/plain"
)

// Stopped says why a program takes no iteration and how it goes on; "" when it is
// neither paused nor completed. It is printed by many, so that nothing hidden is in it.
func (m Machine) Stopped(name string) string {
	switch {
	case m.Completed:
		return "completed: " + cmp.Or(plain.Line(m.CompletedReason), "its target is reached") + m.resume(name)
	case m.Paused:
		return "paused: " + cmp.Or(plain.Line(m.PauseReason), "by hand") + m.resume(name)
	default:
		return ""
	}
}

// resume says how a program goes on. A comment is read where it has an issue or a
// pull request.
func (m Machine) resume(name string) string {
	here := "`iterate resume " + name + "`"
	if m.Issue == 0 && m.PR == 0 {
		return "; go on with " + here
	}
	return "; go on with `/autoloop resume` or " + here
}
