package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxGitProcesses is how many git processes one iteration may start.
const maxGitProcesses = 35

// countGit puts a git into PATH that notes each call, and returns a function that
// says which there were since it was last asked, a subcommand with its arguments
// a line.
func (w *world) countGit() func() []string {
	w.t.Helper()
	real, err := exec.LookPath("git")
	require.NoError(w.t, err)
	dir := w.t.TempDir()
	log := filepath.Join(dir, "calls")
	script := "#!/bin/sh\nprintf '%s\\n' \"$(printf '%s ' \"$@\" | tr '\\n' ' ')\" >> " + log + "\nexec " + real + " \"$@\"\n"
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755))
	w.finds(dir)
	return func() []string {
		text, err := os.ReadFile(log)
		require.NoError(w.t, err)
		require.NoError(w.t, os.Remove(log))
		var calls []string
		for line := range strings.Lines(string(text)) {
			_, call, found := strings.Cut(line, "--work-tree=")
			if _, after, ok := strings.Cut(call, " "); found && ok {
				call = after
			}
			if !found {
				call = line[strings.LastIndex(line, "i18n.logOutputEncoding=UTF-8")+len("i18n.logOutputEncoding=UTF-8"):]
			}
			calls = append(calls, strings.TrimSpace(call))
		}
		return calls
	}
}

// TestGitProcessesOfAnIteration holds how many git processes each kind of
// iteration starts.
func TestGitProcessesOfAnIteration(t *testing.T) {
	w := valuesWorld(t, "", "9", "8", "7", "9", "10")
	calls := w.countGit()
	for _, c := range []struct{ kind, outcome string }{
		{"the first, which measures the baseline", "rejected"},
		{"a change that is worse", "rejected"},
		{"no change", "rejected"},
		{"a change that is better", "accepted"},
	} {
		assert.Equal(t, c.outcome, w.one().Outcome, c.kind)
		made := calls()
		t.Logf("%s: %d", c.kind, len(made))
		assert.LessOrEqual(t, len(made), maxGitProcesses, "%s:\n%s", c.kind, strings.Join(made, "\n"))
	}
}

// TestGitProcessesOfSchedulingManyPrograms holds that a program, and its budget,
// cost no process of git.
func TestGitProcessesOfSchedulingManyPrograms(t *testing.T) {
	w := valuesWorld(t, "", "9")
	require.Equal(t, "rejected", w.one().Outcome)
	calls := w.countGit()
	few := 0
	for _, programs := range []int{1, 20} {
		records := filepath.Join(t.TempDir(), "records")
		w.git("worktree", "add", "--quiet", records, "memory/autoloop")
		for i := range programs {
			w.write(fmt.Sprintf(".autoloop/programs/more%d.md", i), "---\nmetric: value\nbudget: {iterations: 3, per: day}\n---\n## Target\n- `value.txt`\n## Evaluation\n```sh\necho '{\"value\": 1}'\n```\n")
			for _, suffix := range []string{".md", ".jsonl"} {
				text, err := os.ReadFile(filepath.Join(records, "p"+suffix))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(records, fmt.Sprintf("more%d%s", i, suffix)), text, 0o600))
			}
		}
		w.run(records, "git", "add", "--all")
		w.run(records, "git", "commit", "--quiet", "--message", "more")
		w.git("worktree", "remove", "--force", records)
		a := w.binary("scheduler", "--max", "30")
		require.Zero(t, a.code, a.stderr)
		made := calls()
		if few == 0 {
			few = len(made)
		}
		assert.LessOrEqual(t, len(made), few, "%d programs:\n%s", programs, strings.Join(made, "\n"))
	}
}
