package command_test

import (
	"context"
	"os"
	"testing"

	"github.com/org/autoloop/internal/command"
)

// victimMark makes the test binary a process that is killed while it runs a
// command: its value is the environment entry that marks the command.
const victimMark = "COMMAND_TEST_VICTIM"

func TestMain(m *testing.M) {
	if handled, code := command.Supervise(os.Args); handled {
		os.Exit(code)
	}
	if mark := os.Getenv(victimMark); mark != "" {
		_, _ = command.NewRunner().Run(context.Background(), command.Spec{
			Args: []string{"sh", "-c", daemons + "wait"}, Dir: "/", Env: []string{path, mark},
		})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// daemons leaves processes in the background in every way that gets away from
// a plain kill of the process group.
const daemons = `
sleep 600 &
setsid sleep 600 &
(setsid sh -c 'trap "" TERM HUP INT; sleep 600 & sleep 600; sleep 600' &)
setsid setsid sh -c '(sleep 600 &) ; exec 0<&- 1>&- 2>&-; sleep 600' &
`
