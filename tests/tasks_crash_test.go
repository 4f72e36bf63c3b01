//go:build unix

package tests

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
			w := tasksWorld(t, manyTasks())
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
			assert.Contains(t, a.stdout, "improved: net composite gain +4 over 4 tasks")
			w.alone()
			assert.Empty(t, w.left(), "the run after a killed one clears up")
		})
	}
}

// TestTasksOnAFullDisk fills a file system of a few megabytes, with finished
// runs or by an agent whose failure then says nothing of the configuration, and
// makes room for the next comparison.
func TestTasksOnAFullDisk(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, fill := range map[string]string{
		"by what is kept": `head -c 700000 /dev/zero | tr '\0' x; `,
		"by an agent":     `head -c 10000000 /dev/zero >big || { truncate -s -300K big; exit 1; }; `,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tasksWorld(t, manyTasks())
			disk := filepath.Join(w.side, "disk")
			require.NoError(t, os.MkdirAll(disk, 0o755))
			iterate := quoted(append([]string{filepath.Join(binaries, "iterate")},
				w.taskArgs(fill+lingering, "--settings", w.settings("cost-tolerance: 1000", "jobs: 1"))...))
			a := w.answer(w.smallDisk(disk, `
TMPDIR=$DISK/tmp; XDG_CACHE_HOME=$DISK/cache; export TMPDIR XDG_CACHE_HOME
limited `+iterate+` 2>"$SIDE/first" && exit 9
find "$DISK/tmp" "$DISK/cache/autoloop/tasks" -mindepth 1 -maxdepth 1 -name 'autoloop-run-*' >"$SIDE/left"
find "$DISK/cache" -name result.json | wc -l >"$SIDE/finished"
unlimited `+iterate+` 2>"$SIDE/second" || exit 10
`))
			first, second := readSide(t, w, "first"), readSide(t, w, "second")
			require.Zero(t, a.code, "%s\n%s\n%s", a.stderr, first, second)
			assert.Regexp(t, `iterate: .*(no space left on device|file too large)`, first)
			assert.Empty(t, readSide(t, w, "left"))
			finished := strings.TrimSpace(readSide(t, w, "finished"))
			t.Logf("%s runs were finished when the disk was full", finished)
			if finished != "0" {
				assert.Contains(t, second, "runs, "+finished+" kept from before")
			}
			assert.Contains(t, a.stdout, "improved: net composite gain +4 over 4 tasks")
			w.alone()
		})
	}
}

func readSide(t *testing.T, w *world, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.side, name))
	require.NoError(t, err)
	return string(text)
}

// smallDisk runs a script with a file system of four megabytes at disk, where
// the system lets us mount one, and else with files of at most half a megabyte.
// In it `limited` runs a command on that, and `unlimited` with more room.
func (w *world) smallDisk(disk, script string) *exec.Cmd {
	setup := `mount -t tmpfs -o size=4m none "$DISK" && mkdir "$DISK/tmp" || exit 8
limited() { "$@"; }
unlimited() { mount -t tmpfs -o remount,size=64m none "$DISK" && "$@"; }
`
	shell := []string{"unshare", "-rm", "sh", "-c"}
	probe := exec.CommandContext(w.t.Context(), "unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=4m", "none", disk)
	if err := probe.Run(); err != nil {
		w.t.Logf("no file system can be mounted here (%v): files are limited instead", err)
		shell = []string{"sh", "-c"}
		setup = `mkdir "$DISK/tmp"
limited() { (ulimit -f 1000; "$@"); }
unlimited() { "$@"; }
`
	}
	cmd := exec.CommandContext(w.t.Context(), shell[0], append(shell[1:], setup+script)...)
	cmd.Dir, cmd.Env = w.dir, append(append([]string{}, w.env...), "DISK="+disk)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// quoted joins arguments for a shell.
func quoted(args []string) string {
	for i, arg := range args {
		args[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(args, " ")
}
