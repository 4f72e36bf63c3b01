package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoGitProcessOutlivesACommand: the one that answers questions for long ends with
// the command, which waits for it. Where nobody does, as below a shell that is process 1
// of a container, it would stay as a zombie.
func TestNoGitProcessOutlivesACommand(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "", "5", "4", "3", "2")
	bin := t.TempDir()
	noted := filepath.Join(bin, "noted")
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' cat-file --batch-command '*) echo $$ >> '%s';; esac\nPATH='%s'\nexec git \"$@\"\n", noted, os.Getenv("PATH"))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700)) //nolint:gosec // it is executed
	w.finds(bin)
	for _, run := range []func(string, ...string) answer{w.binary, w.process} {
		for command, args := range map[string][]string{"iterate": {"--program", "p"}, "scheduler": {"status"}} {
			a := run(command, args...)
			require.Zero(t, a.code, a.stderr)
			pids, err := os.ReadFile(noted)
			require.NoError(t, err, "%s asked git for an object", command)
			require.NoError(t, os.Remove(noted))
			for _, pid := range strings.Fields(string(pids)) {
				number, err := strconv.Atoi(pid)
				require.NoError(t, err)
				process, err := os.FindProcess(number)
				require.NoError(t, err)
				assert.ErrorIs(t, process.Signal(syscall.Signal(0)), os.ErrProcessDone, "%s %v", command, args)
			}
		}
	}
}
