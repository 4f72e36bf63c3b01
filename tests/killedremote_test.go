//go:build unix

package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// heldWorld is a shared world whose remote is held while it moves the refs of the
// second iteration, before the one with this log: the agent makes that log a pipe,
// and git waits for somebody who reads it. The remote's process says who it is in
// the file `receiver`.
func heldWorld(t *testing.T, log string) (w *world, remote, pipe string) {
	t.Helper()
	w, remote = sharedWorld(t, "2", "3", "4")
	pipe = filepath.Join(remote, "logs", "refs", "heads", filepath.FromSlash(log))
	w.write(".autoloop/programs/p.md", strings.Replace(fmt.Sprintf(values, ""), "agent-command: ", "agent-command: sh \"$SIDE/hold.sh\" && ", 1))
	w.git("commit", "--quiet", "--all", "--message", "hold")
	w.git("push", "--quiet", "origin", "main")
	for name, script := range map[string]string{
		"hold.sh":    fmt.Sprintf("[ \"$AUTOLOOP_ITERATION\" != 2 ] || [ -e \"$SIDE/held\" ] || { touch \"$SIDE/held\"; mkdir -p '%s'; rm -f '%s'; mkfifo '%s'; }\n", filepath.Dir(pipe), pipe, pipe),
		"receive.sh": fmt.Sprintf("#!/bin/sh\necho $$ > '%s/receiver'\nexec git-receive-pack \"$@\"\n", w.side),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(w.side, name), []byte(script), 0o755))
	}
	w.git("config", "remote.origin.receivepack", filepath.Join(w.side, "receive.sh"))
	w.run(remote, "git", "config", "core.logAllRefUpdates", "true")
	return w, remote, pipe
}

// receiver is the process of git that takes the last push.
func (w *world) receiver() int {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.beside("receiver")))
	require.NoError(w.t, err)
	return pid
}

// TestKilledWhileItTakesAPush really ends the git of a remote of this machine between
// the two refs that a push moves, in either order: asked to end, when it removes its
// locks; killed, when they stay; and together with the run that pushes.
func TestKilledWhileItTakesAPush(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for order, log := range map[string]string{"the branch moved first": "memory/autoloop", "the records moved first": "zzz"} {
		for how, end := range map[string]func(run, receiver int) error{
			"asked to end": func(_, receiver int) error { return syscall.Kill(receiver, syscall.SIGTERM) },
			"killed":       func(_, receiver int) error { return syscall.Kill(receiver, syscall.SIGKILL) },
			"both killed": func(run, receiver int) error {
				if err := syscall.Kill(run, syscall.SIGKILL); err != nil {
					return err
				}
				return syscall.Kill(receiver, syscall.SIGKILL)
			},
		} {
			t.Run(order+"/"+how, func(t *testing.T) {
				t.Parallel()
				w, remote, pipe := heldWorld(t, log)
				first := *w.one("--remote", "origin").Commit
				if log == "zzz" { // git moves what a symbolic ref stands for after all others
					w.run(remote, "git", "update-ref", "refs/heads/zzz", first)
					w.run(remote, "git", "symbolic-ref", "refs/heads/autoloop/p", "refs/heads/zzz")
				}
				half := func() bool {
					moved := w.run(remote, "git", "rev-parse", "autoloop/p") != first
					return moved != w.decidedThere(remote, 2)
				}

				cmd := w.command("iterate", "--program", "p", "--remote", "origin", "--json")
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				require.NoError(t, cmd.Start())
				require.Eventually(t, half, 5*time.Minute, 50*time.Millisecond, "the push is not held")
				require.NoError(t, end(cmd.Process.Pid, w.receiver()))
				reader, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0) // no later push is held
				require.NoError(t, err)
				t.Cleanup(func() { _ = reader.Close() })
				require.NoError(t, os.Remove(pipe))
				_ = cmd.Wait()
				locks := strings.Fields(w.run(remote, "find", remote, "-name", "*.lock"))
				if how == "asked to end" {
					assert.Zero(t, cmd.ProcessState.ExitCode(), stderr.String())
					assert.Equal(t, 2, w.decode(stdout.String())[0].Iteration)
					assert.Empty(t, locks)
					assert.False(t, half(), "the same run finished its push")
				} else {
					require.NotEmpty(t, locks)
					said := stderr.String()
					if how == "both killed" {
						old := time.Now().Add(-time.Hour)
						for _, lock := range locks {
							require.NoError(t, os.Chtimes(lock, old, old))
						}
						said = w.binary("iterate", "--program", "p", "--remote", "origin").stderr
					}
					named := slices.ContainsFunc(locks, func(lock string) bool {
						return strings.Contains(said, "the lock "+lock+" is in the way") && strings.Contains(said, "remove it with: rm "+lock)
					})
					assert.True(t, named, said)
					for _, lock := range locks {
						require.NoError(t, os.Remove(lock))
					}
				}
				got := w.one("--remote", "origin")
				assert.Equal(t, "accepted", got.Outcome, got.Reasons)
				undone := log != "zzz" && how != "asked to end"
				assert.Equal(t, map[bool]int{true: 2, false: 3}[undone], got.Iteration, "the branch alone is taken back, the records are followed")
				assert.Equal(t, *got.Commit, w.run(remote, "git", "rev-parse", "autoloop/p"))
				a := w.binary("iterate", "replay", "p", "--remote", "origin")
				assert.Zero(t, a.code, a.stdout)
			})
		}
	}
}

// decidedThere reports whether a remote's records have the end of an iteration.
func (w *world) decidedThere(remote string, iteration int) bool {
	w.t.Helper()
	for line := range strings.Lines(w.run(remote, "git", "show", "memory/autoloop:p.jsonl")) {
		if strings.Contains(line, `"event":"decided"`) && strings.Contains(line, fmt.Sprintf(`"iteration":%d,`, iteration)) {
			return true
		}
	}
	return false
}
