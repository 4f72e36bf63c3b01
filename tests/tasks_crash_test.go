//go:build unix

package tests

import (
	"bufio"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// lingering is an agent that takes a moment and leaves a process in a session
// of its own.
const lingering = `(setsid sleep 300 >/dev/null 2>&1 &); sleep 0.2; cp AGENTS.md out.txt`

func manyTasks() map[string]string {
	tasks := map[string]string{}
	for _, id := range []string{"a", "b", "c", "d"} {
		tasks[id] = hasAfter
	}
	return tasks
}

// TestTasksEndedInTheMiddle ends a comparison when a few runs are finished, by
// an interrupt and by a kill that it does not notice.
func TestTasksEndedInTheMiddle(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{
		"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM,
		"kill": syscall.SIGKILL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tasksProject(t, manyTasks())
			cmd := w.command("iterate", w.taskArgs(lingering)...)
			said, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			for lines := bufio.NewScanner(said); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "3/8 runs") {
					require.NoError(t, cmd.Process.Signal(signal))
					break
				}
			}
			require.Error(t, cmd.Wait())
			w.alone()
			if signal != syscall.SIGKILL {
				assert.Equal(t, 1, cmd.ProcessState.ExitCode())
				assert.Empty(t, w.left())
			}

			a := w.tasks(lingering)
			require.Zero(t, a.code, a.stderr)
			assert.Regexp(t, `(?m)^[3-7]/8 runs, [3-7] kept from before`, a.stderr)
			assert.Contains(t, a.stdout, "improved: net composite gain +4 over 4")
			w.alone()
			assert.Empty(t, w.left(), "the run after a killed one clears up")
		})
	}
}
