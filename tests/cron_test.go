package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// documentedTimers are the fences of docs/howto/own-machine.md in a language.
func documentedTimers(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for _, block := range docBlocks(readText(t, "../docs/howto/own-machine.md")) {
		if strings.HasPrefix(block.info, language) {
			found = append(found, block.text)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// TestDocumentedCrontab runs the line of the crontab with nothing but what
// cron gives it: it is silent while all is well, and mails what went wrong.
func TestDocumentedCrontab(t *testing.T) {
	t.Parallel()
	w := valuesProject(t, "schedule: daily\nmetric_direction: higher", "1", "2")
	w.write(".gitignore", "autoloop.log\n")
	w.commit("log")
	crontab := documentedTimers(t, "crontab")[0]
	var env []string
	command := ""
	for line := range strings.Lines(crontab) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "17 * * * * "):
			command = strings.TrimPrefix(line, "17 * * * * ")
		case strings.HasPrefix(line, "PATH="):
			env = append(env, "PATH="+binaries+":"+strings.TrimPrefix(line, "PATH="))
		case strings.HasPrefix(line, "AUTOLOOP_DIR="):
			env = append(env, "AUTOLOOP_DIR="+filepath.Join(w.side, "state"))
		}
	}
	require.Len(t, env, 2)
	require.Contains(t, command, "/home/me/project")
	run := func() string {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c",
			strings.ReplaceAll(command, "/home/me/project", w.dir)) //nolint:gosec // our own docs
		cmd.Dir, cmd.Env = "/",
			append(env, "HOME="+filepath.Join(filepath.Dir(w.dir), "home"), "SIDE="+w.side, "AUTOLOOP_ISOLATION=off",
				"SHELL=/bin/sh", "LOGNAME=me")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	assert.Empty(t, run())
	assert.Contains(t, w.read("autoloop.log"), "kept")
	assert.Empty(t, run(), "nothing is due")
	text := strings.Replace(w.read(".autoloop/programs/p.md"), "agent-command: ", "agent-command: exit 3; ", 1)
	w.write(".autoloop/programs/p.md", strings.Replace(text, "schedule: daily\n", "", 1)) // due at every tick
	w.commit("an agent that fails")
	assert.Contains(t, run(), "iterate: iteration 2 of p ended in an")
}

// TestDocumentedUnits: systemd takes the units as they stand.
func TestDocumentedUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		long.Missing(t, "systemd-analyze")
	}
	dir := t.TempDir()
	names := []string{"autoloop.service", "autoloop.timer", "autoloop-failed.service"}
	units := documentedTimers(t, "ini")
	require.Len(t, units, len(names))
	args := []string{"--user", "verify"}
	for i, name := range names {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(units[i]), 0o600))
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), analyze, args...) //nolint:gosec // a program of the system
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Empty(t, strings.TrimSpace(string(out)))
}
