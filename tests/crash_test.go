package tests

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// slow is a program whose agent and evaluation take a moment and leave
// processes of their own behind; the agent waits while a test holds it.
const slow = `---
metric: m
metric_direction: lower
evaluation-runs: 1
agent: command
agent-command: (setsid sleep 300 &); while [ -e "$SIDE/hold" ]; do touch "$SIDE/held"; sleep 0.05; done; sleep 0.05; sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values" > value.txt
env: [SIDE]
---
## Goal
Move the number.
## Target
` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
(setsid sleep 300 >/dev/null 2>&1 &)
sleep 0.05
printf '{"m": %s}\n' "$(cat value.txt)"
` + "```" + `
`

// hold has the agents of a slow program wait from now on.
func (w *project) hold() { w.aside("hold", "") }

// release has them go on.
func (w *project) release() {
	w.t.Helper()
	require.NoError(w.t, os.Remove(filepath.Join(w.side, "hold")))
}

// waits returns when an agent waits.
func (w *project) waits() {
	w.t.Helper()
	held := filepath.Join(w.side, "held")
	require.Eventually(w.t, func() bool { _, err := os.Stat(held); return err == nil }, 5*time.Minute,
		5*time.Millisecond,
		"no agent is at work")
}

// marked counts the processes that have the project's SIDE in their environment.
func (w *project) marked() int {
	count := 0
	entries, err := os.ReadDir("/proc")
	if err != nil {
		w.t.Skip("counting processes needs /proc")
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err == nil && strings.Contains(string(environ), "SIDE="+w.side+"\x00") {
			count++
		}
	}
	return count
}

// alone waits until none of the project's processes is left.
func (w *project) alone() {
	w.t.Helper()
	assert.Eventually(w.t, func() bool { return w.marked() == 0 }, 2*time.Minute, 20*time.Millisecond,
		"a process is left")
}

func slowProject(t *testing.T, remote bool) *project {
	t.Helper()
	w := newProject(t, map[string]string{".autoloop/programs/p.md": slow, "value.txt": "100\n"})
	lines := ""
	for i := range 200 {
		lines += fmt.Sprintf("%d\n", 99-i)
	}
	w.aside("values", lines)
	if remote {
		w.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", filepath.Join(w.side, "remote.git"))
		w.git("remote", "add", "origin", filepath.Join(w.side, "remote.git"))
		w.git("push", "--quiet", "origin", "main")
	}
	return w
}

// consistent checks everything that must hold after any number of kills.
func (w *project) consistent(branch string) {
	w.t.Helper()
	decided := map[float64]bool{}
	accepted := 0
	for _, event := range w.facts("decided") {
		n, ok := event["iteration"].(float64)
		require.True(w.t, ok)
		assert.False(w.t, decided[n], "iteration %v is decided twice", n)
		decided[n] = true
		if event["outcome"] == "accepted" {
			accepted++
		}
	}
	for n := range len(decided) {
		assert.True(w.t, decided[float64(n+1)], "iteration %d is missing", n+1)
	}
	assert.Len(w.t, strings.Fields(w.git("rev-list", "main.."+branch)), accepted, "one commit for each that was kept")
	rows := len(strings.Split(w.memory("p.results.tsv"), "\n")) - 1
	assert.Equal(w.t, len(decided)+1, rows, "a row for each iteration and the baseline")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(w.side), "tmp", "*"))
	require.NoError(w.t, err)
	assert.Empty(w.t, left, "the run after a killed one clears up")
	headings := map[string]bool{}
	for line := range strings.Lines(w.memory("p.md")) {
		if number, _, ok := strings.Cut(strings.TrimPrefix(line, "### Iteration "), " "); ok && strings.HasPrefix(line,
			"### Iteration ") {
			assert.False(w.t, headings[number], "iteration %s has two entries", number)
			headings[number] = true
		}
	}
	assert.GreaterOrEqual(w.t, len(headings), min(len(decided), 10))
}

// TestKilledAtAnyMoment kills a run with its whole process group spared, so
// that only what it prepared against this helps, at moments spread over an
// iteration; the run after it must end in the same place.
func TestKilledAtAnyMoment(t *testing.T) {
	long.Only(t, long.Kills)
	for _, remote := range []bool{false, true} {
		t.Run(fmt.Sprintf("remote %v", remote), func(t *testing.T) {
			t.Parallel()
			w := slowProject(t, remote)
			args := []string{"--program", "p", "--json"}
			branch := "autoloop/p"
			if remote {
				args = append(args, "--remote", "origin")
				branch = "origin/autoloop/p"
			}
			before := w.checkout()
			begun := time.Now()
			w.ok("iterate", args...)
			whole := time.Since(begun)
			const kills = 14
			for i := range kills {
				w.killAfter(whole*time.Duration(i+1)/kills, args)
				w.alone()
				if i%2 == 1 { // two kills in a row are common; three pause the program
					a := w.process("iterate", args...)
					// git may be killed in the moment in which it makes a lock: then the cure is said.
					if _, lock, left := strings.Cut(a.stderr, "if no other is running, remove "); left {
						require.NoError(t, os.Remove(strings.TrimSpace(lock)))
						a = w.process("iterate", args...)
					}
					require.Zero(t, a.code, a.stderr)
					require.Equal(t, "accepted", w.decode(a.stdout)[0].Outcome, a.stdout)
					w.consistent(branch)
				}
			}
			if !remote {
				assert.Equal(t, before, w.checkout())
			}
		})
	}
}

// killAfter starts a run and kills it, and nothing else, after a while.
func (w *project) killAfter(d time.Duration, args []string) {
	w.t.Helper()
	cmd := w.command("iterate", args...)
	require.NoError(w.t, cmd.Start())
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	timer.Stop()
}

// TestSignalsAreNoCrash: whatever asks a run to end, it cleans up, and three of them in a row
// pause nothing.
func TestSignalsAreNoCrash(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := slowProject(t, false)
	w.hold()
	unread := syscall.Signal(0) // its standard output is closed
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, unread, syscall.SIGTERM} {
		count := "50"
		if signal == unread {
			count = "1"
		}
		cmd := w.command("iterate", "--program", "p", "-n", count)
		read, write, err := os.Pipe()
		require.NoError(t, err)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = write, &said
		require.NoError(t, cmd.Start())
		require.NoError(t, write.Close())
		w.waits()
		require.NoError(t, read.Close())
		if signal == unread {
			w.release()
		} else {
			require.NoError(t, cmd.Process.Signal(signal))
		}
		err = cmd.Wait()
		if signal != unread {
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, 1, exit.ExitCode(), "%v: %s", signal, said.String())
		}
		assert.NotContains(t, said.String(), "goroutine")
		w.alone()
		left, err := filepath.Glob(filepath.Join(filepath.Dir(w.side), "tmp", "*"))
		require.NoError(t, err)
		assert.Empty(t, left, "%v", signal)
		w.hold()
		_ = os.Remove(filepath.Join(w.side, "held"))
	}
	w.release()
	assert.Equal(t, "accepted", w.one().Outcome)
	w.consistent("autoloop/p")
}

func TestTwoRunsAtTheSameMoment(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	w := slowProject(t, true)
	clones := []*project{w}
	other := *w
	other.dir = filepath.Join(w.side, "clone")
	w.run("", "git", "clone", "--quiet", filepath.Join(w.side, "remote.git"), other.dir)
	clones = append(clones, &other)
	const rounds = 3
	outcomes := map[string]int{}
	started := map[string]bool{}
	var mu sync.Mutex
	for range rounds {
		var group sync.WaitGroup
		for _, clone := range clones {
			group.Go(func() {
				cmd := clone.command("iterate", "--program", "p", "--remote", "origin", "--json")
				out, err := cmd.Output()
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("%v: %s", err, stderrOf(err))
					return
				}
				for _, result := range clone.decode(string(out)) {
					outcomes[result.Outcome]++
					if result.Outcome != "busy" {
						started[result.RunID] = true
					}
				}
			})
		}
		group.Wait()
	}
	assert.GreaterOrEqual(t, outcomes["accepted"], rounds)
	assert.Equal(t, 2*rounds, outcomes["accepted"]+outcomes["busy"], "%v", outcomes)
	w.git("fetch", "--quiet", "origin")
	w.git("update-ref", "refs/heads/memory/autoloop", "refs/remotes/origin/memory/autoloop")
	w.consistent("origin/autoloop/p")
	for _, event := range w.facts("finished") {
		id, ok := event["run_id"].(string)
		require.True(t, ok)
		delete(started, id)
	}
	assert.Empty(t, started, "every run's lines are there")
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// TestPauseWhileARunWorks: it is recorded at once, the iteration under way ends as it would,
// and no further one begins.
func TestPauseWhileARunWorks(t *testing.T) {
	t.Parallel()
	w := slowProject(t, false)
	w.hold()
	cmd := w.command("iterate", "--program", "p", "-n", "40")
	require.NoError(t, cmd.Start())
	w.waits()
	a := w.ok("iterate", "pause", "p", "a holiday")
	assert.Contains(t, a.stdout, "iteration under way ends")
	assert.Contains(t, w.memory("p.md"), "| Pause Reason | a holiday |")
	w.release()
	require.NoError(t, cmd.Wait())
	assert.Contains(t, w.memory("p.md"), "| Iteration Count | 1 |")
	assert.Contains(t, w.memory("p.md"), "| Recent Statuses | accepted |")
	assert.Contains(t, w.memory("p.md"), "| Pause Reason | a holiday |")
	assert.Zero(t, w.binary("iterate", "replay", "p").code, "the records agree")
}

func TestBusyIsSaid(t *testing.T) {
	t.Parallel()
	w := slowProject(t, false)
	w.hold()
	cmd := w.command("iterate", "--program", "p", "-n", "40")
	require.NoError(t, cmd.Start())
	w.waits()
	got := w.one()
	assert.Equal(t, "busy", got.Outcome)
	process := fmt.Sprintf("process %d on", cmd.Process.Pid)
	assert.Contains(t, got.Reasons[0], process)
	undo := w.binary("iterate", "undo", "p", "1")
	assert.Equal(t, 2, undo.code)
	assert.Contains(t, undo.stderr, process)
	assert.Contains(t, undo.stderr, "`iterate pause p`")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	w.release()
	assert.Equal(t, "accepted", w.one().Outcome, "a lease whose process is gone is free at once")
	w.alone()
}
