package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The four examples of the proposal.

func TestLowerImproves(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "1.5", "1.3")
	before := w.checkout()
	got := w.one()
	assert.Equal(t, "accepted", got.Outcome)
	assert.Equal(t, "improved", *got.Verdict)
	assert.Equal(t, "-0.2", *got.Delta)
	assert.Equal(t, "1.3", text(got.Best))
	assert.Contains(t, w.memory("p.md"), "- **Metric**: 1.3 (previous best: 1.5, delta: -0.2)")
	assert.Equal(t, "1.3", w.git("show", "autoloop/p:value.txt"))
	message := w.git("log", "-1", "--format=%B", "autoloop/p")
	assert.True(t, strings.HasPrefix(message, "[Autoloop: p] Iteration 1: try 1.3\n"), message)
	assert.Contains(t, message, "Autoloop-Iteration: 1\nAutoloop-Metric: 1.3\nAutoloop-Run: "+got.RunID)
	assert.Equal(t, before, w.checkout(), "the user's checkout is as it was")
}

func TestSchedulerThenIterate(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "schedule: every 6h\nmetric_direction: lower", "3", "2", "1")
	a := w.binary("scheduler")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "selected: p (it never ran)")
	a = w.binary("iterate", "--json")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "accepted", w.decode(a.stdout)[0].Outcome)
	a = w.binary("scheduler")
	assert.Contains(t, a.stdout, "skipped: p: not due yet")
	a = w.binary("iterate", "--json")
	require.Zero(t, a.code)
	assert.Equal(t, "idle", w.decode(a.stdout)[0].Outcome)
	a = w.binary("scheduler", "--now", "2199-01-01T00:00:00Z")
	assert.Contains(t, a.stdout, "selected: p", "its time has come")
}

// edit changes the state file as a person would, by a commit on its branch.
func (w *world) edit(before, after string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "memory")
	w.git("worktree", "add", "--quiet", dir, "memory/autoloop")
	file := filepath.Join(dir, "p.md")
	data, err := os.ReadFile(file)
	require.NoError(w.t, err)
	require.Contains(w.t, string(data), before)
	require.NoError(w.t, os.WriteFile(file, []byte(strings.Replace(string(data), before, after, 1)), 0o600))
	w.run(dir, "git", "commit", "--quiet", "--all", "--message", "edit")
	w.git("worktree", "remove", dir)
}

func TestDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct{ args, want string }{
		{"--direction lower --best 1.5 --value 1.3", `{"improved":true,"delta":"-0.2","target_met":null}`},
		{"--direction LOWER --best 1.5 --value 1.7", `{"improved":false,"delta":"+0.2","target_met":null}`},
		{
			"--direction lower --best 0.9 --value 0.85 --target 0.9",
			`{"improved":true,"delta":"-0.05","target_met":true}`,
		},
		{"--value 7 --target 30", `{"improved":true,"delta":null,"target_met":false}`},
	} {
		a := w.binary("iterate", append([]string{"job", "decide", "--json"}, strings.Fields(c.args)...)...)
		require.Zero(t, a.code, a.stderr)
		assert.JSONEq(t, c.want, a.stdout, c.args)
	}
	for _, args := range []string{
		"", "--value nan", "--value 85%", "--value 1 --direction sideways", "--value 1 --best x",
		"--valu 1",
	} {
		a := w.binary("iterate", append([]string{"job", "decide"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, a.code, args)
		assert.Equal(t, 1, strings.Count(a.stderr, "\n"), "one clear line: %s", a.stderr)
	}
}
