package schedule

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// Stopped says why a value of AUTOLOOP_PAUSED stops everything, "" when it does
// not. A value that is neither a yes nor a no stops too: somebody meant something
// by it.
func Stopped(value string) string {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "false", "0", "no", "off", "n":
		return ""
	case "true", "1", "yes", "on", "y":
		return "AUTOLOOP_PAUSED is " + strings.ToLower(strings.TrimSpace(value))
	}
	return fmt.Sprintf("AUTOLOOP_PAUSED is %q, which is neither true nor false (set it to one of them)",
		plain.Short(value, 40))
}
