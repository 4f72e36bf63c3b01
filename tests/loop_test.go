package tests

import (
	"encoding/json"
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

func TestLowerDoesNotImprove(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "1.5", "1.7")
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Equal(t, "+0.2", *got.Delta)
	assert.Equal(t, "1.5", text(got.Best))
	assert.Nil(t, got.Commit)
	assert.Empty(t, w.git("branch", "--list", "autoloop/*"), "nothing was kept")
}

func TestTargetHalts(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower\ntarget-metric: 0.9", "1.2", "0.85", "0.1")
	got := w.iterate("-n", "5")
	require.Len(t, got, 1, "the target ends the run")
	assert.Contains(t, got[0].Stopped, "completed: target reached: 0.85 with target 0.9")
	assert.Contains(t, w.memory("p.md"), "| Completed | true |")
	a := w.binary("scheduler")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stdout, "skipped: p: completed: target reached")
}

func TestNoDirectionIsHigher(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "schedule: every 6h", "1.5", "1.3", "1.7")
	got := w.iterate("-n", "2")
	require.Len(t, got, 2)
	assert.Equal(t, "rejected", got[0].Outcome)
	assert.Equal(t, "accepted", got[1].Outcome)
	assert.Equal(t, "+0.2", *got[1].Delta)
	assert.Contains(t, w.memory("p.md"), "| Metric Direction | higher |")
}

func TestTheFirstCandidateIsHeldAgainstTheBaseline(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: higher", "5", "5.0", "6")
	got := w.iterate("-n", "2")
	assert.Equal(t, "rejected", got[0].Outcome, "a tie is no gain, nor is being first")
	assert.Equal(t, "accepted", got[1].Outcome)
	rows := strings.Split(w.memory("p.results.tsv"), "\n")
	require.Len(t, rows, 4)
	assert.Equal(t, "iteration\ttimestamp\tscore\tbest_score\taction\tchangelog", rows[0])
	assert.Regexp(t, `^0\t\S+\+00:00\t5\t5\tbaseline\tInitial evaluation$`, rows[1])
	assert.Regexp(t, `^1\t\S+\t5\t5\treverted\ttry 5`, rows[2])
	assert.Regexp(t, `^2\t\S+\t6\t6\tkept\ttry 6$`, rows[3])
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

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "3", "2")
	refs, before := w.git("for-each-ref"), w.checkout()
	got := w.one("--dry-run")
	assert.Equal(t, "dry-run", got.Outcome)
	assert.Equal(t, "improved", *got.Verdict)
	assert.Equal(t, "-1", *got.Delta)
	assert.Equal(t, refs, w.git("for-each-ref"))
	assert.Equal(t, before, w.checkout())
}

func TestApply(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "3", "2")
	w.one()
	a := w.binary("iterate", "apply", "p")
	assert.Zero(t, a.code)
	assert.Contains(t, a.stdout, "nothing was merged", "without a terminal nothing is merged")
	assert.Contains(t, a.stdout, "-3\n+2\n")
	a = w.binary("iterate", "apply", "p", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "2", w.git("show", "main:value.txt"))
	assert.Contains(t, w.binary("iterate", "apply", "p", "--yes").stdout, "merged already")
	assert.Equal(t, 2, w.binary("iterate", "apply", "nobody").code)
}

func TestDefaultBranchMovesOn(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7", "6", "5")
	w.one()
	// A merge into the default branch and a commit beside it: the branch moves on.
	w.git("merge", "--quiet", "--no-edit", "autoloop/p")
	w.write("other.txt", "changed\n")
	w.git("commit", "--quiet", "--all", "--message", "other")
	got := w.one()
	assert.Equal(t, "accepted", got.Outcome)
	assert.Equal(t, w.git("rev-parse", "main"), w.git("rev-parse", "autoloop/p^"), "it stands on the default branch")
	// Commits on both sides: the default branch is merged in.
	w.write("third.txt", "x\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "third")
	assert.Equal(t, "accepted", w.one().Outcome)
	assert.Equal(t, "x", w.git("show", "autoloop/p:third.txt"))
	assert.Contains(t, w.memory("p.md"), "New baseline: the default branch moved on")
	// A conflict pauses, with the file named, and loses nothing.
	kept := w.git("rev-parse", "autoloop/p")
	w.write("value.txt", "100\n")
	w.git("commit", "--quiet", "--all", "--message", "conflict")
	got = w.one()
	assert.Equal(t, "error", got.Outcome)
	assert.Contains(t, got.Stopped, "paused: ")
	assert.Contains(t, got.Reasons[0], "value.txt")
	assert.Equal(t, kept, w.git("rev-parse", "autoloop/p"))
}

func TestForeignCommitsStartANewBaseline(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7", "2")
	w.one()
	w.git("switch", "--quiet", "autoloop/p")
	w.write("value.txt", "3\n")
	w.git("commit", "--quiet", "--all", "--message", "by hand")
	foreign := w.git("rev-parse", "HEAD")
	a := w.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "autoloop/p is checked out")
	w.git("switch", "--quiet", "main")
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome, "7 is worse than the 3 that was committed by hand")
	assert.Equal(t, "3", text(got.Best))
	assert.Equal(t, foreign, w.git("rev-parse", "autoloop/p"))
	assert.Equal(t, "accepted", w.one().Outcome)
	assert.Equal(t, foreign, w.git("rev-parse", "autoloop/p^"))
}

func TestDirectionChangeStartsANewBaseline(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "8.5")
	w.one()
	file := filepath.Join(w.dir, ".autoloop/programs/p.md")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), "lower", "higher", 1)), 0o600))
	got := w.one()
	assert.Equal(t, "accepted", got.Outcome)
	assert.Contains(t, w.memory("p.md"), "the direction changed from lower to higher")
	assert.Contains(t, w.memory("p.md"), "| Metric Direction | higher |")
	assert.Contains(t, w.memory("p.results.tsv"), "baseline\tNew baseline: the direction changed")
}

func TestPauses(t *testing.T) {
	t.Parallel()
	t.Run("plateau", func(t *testing.T) {
		t.Parallel()
		w := valuesWorld(t, "metric_direction: lower\nplateau: 3", "1", "2", "3", "4", "0.5", "6", "7")
		got := w.iterate("-n", "9")
		require.Len(t, got, 3)
		assert.Contains(t, got[2].Stopped, "paused: plateau: 3 rejections in a row")
		assert.Contains(t, w.memory("p.md"), "| Paused | true |")
		assert.Contains(t, w.binary("scheduler").stdout, "skipped: p: paused: plateau")
		w.edit("| Paused | true |", "| Paused | false |")
		a := w.binary("scheduler", "--now", "2199-01-01T00:00:00Z")
		assert.Contains(t, a.stdout, "selected: p", "a person resumed it")
		assert.Equal(t, "accepted", w.one().Outcome)
		assert.Equal(t, 1, w.count("resumed"))
	})
	t.Run("errors", func(t *testing.T) {
		t.Parallel()
		w := valuesWorld(t, "metric_direction: lower", "1", "2")
		file := filepath.Join(w.dir, ".autoloop/programs/p.md")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		broken := strings.Replace(string(data), "agent-command: ", "agent-command: exit 3; ", 1)
		require.NoError(t, os.WriteFile(file, []byte(broken), 0o600))
		got := w.iterate("-n", "9")
		require.Len(t, got, 3)
		assert.Equal(t, "error", got[2].Outcome)
		assert.Contains(t, got[2].Stopped, "paused: 3 errors in a row")
		assert.Contains(t, w.memory("p.md"), "| Consecutive Errors | 3 |")
	})
	t.Run("reverts end one run only", func(t *testing.T) {
		t.Parallel()
		w := valuesWorld(t, "metric_direction: lower\nstop-after-reverts: 2", "1", "2", "3", "4", "5")
		got := w.iterate("-n", "9")
		require.Len(t, got, 2)
		assert.Contains(t, w.memory("p.md"), "| Paused | false |")
	})
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

func TestWhatPeopleWriteStays(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "5", "4", "3")
	w.one()
	w.edit("## 🎯 Current Priorities\n\n*(none yet)*", "## 🎯 Current Priorities\n\n- mind the *gap*   \n\n## My own notes\n\nkept \\| as is")
	w.one()
	assert.Contains(t, w.memory("p.md"), "- mind the *gap*   \n\n## My own notes\n\nkept \\| as is")
	w.edit("| Best Metric | 3 |", "| Best Metric | -99 |")
	got := w.one()
	require.NotEmpty(t, got.Warnings)
	assert.Contains(t, got.Warnings[0], "Best Metric was -99 in the state and is 3 in the ledger")
	assert.Contains(t, w.memory("p.md"), "| Best Metric | 3 |")
}

func TestStateWithoutLedgerIsAdopted(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "5", "4")
	state := "# p\n\n## Machine State\n\n| Field | Value |\n|---|---|\n| Last Run | 2025-01-15 |\n| Iteration Count | 41 |\n| Best Metric | 6 |\n" +
		"| Recent Statuses | accepted, rejected |\n\n## Lessons Learned\n\n- old lesson\n"
	blob := filepath.Join(w.side, "p.md")
	require.NoError(t, os.WriteFile(blob, []byte(state), 0o600))
	id := w.git("hash-object", "-w", blob)
	tree := filepath.Join(w.side, "tree")
	require.NoError(t, os.WriteFile(tree, []byte("100644 blob "+id+"\tp.md\n"), 0o600))
	made := w.run(w.dir, "sh", "-c", "git mktree < "+tree)
	w.git("branch", "memory/autoloop", w.git("commit-tree", "-m", "old", made))
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), []byte(strings.Repeat("4\n", 50)), 0o600))
	got := w.one()
	assert.Equal(t, 42, got.Iteration)
	assert.Equal(t, "accepted", got.Outcome)
	text := w.memory("p.md")
	assert.Contains(t, text, "| Iteration Count | 42 |")
	assert.Contains(t, text, "| Recent Statuses | accepted, rejected, accepted |")
	assert.Contains(t, text, "| Metric Direction | lower |")
	assert.Contains(t, text, "- old lesson")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct{ args, want string }{
		{"--direction lower --best 1.5 --value 1.3", `{"improved":true,"delta":"-0.2","target_met":null}`},
		{"--direction LOWER --best 1.5 --value 1.7", `{"improved":false,"delta":"+0.2","target_met":null}`},
		{"--direction lower --best 0.9 --value 0.85 --target 0.9", `{"improved":true,"delta":"-0.05","target_met":true}`},
		{"--value 7 --target 30", `{"improved":true,"delta":null,"target_met":false}`},
	} {
		a := w.binary("iterate", append([]string{"job", "decide", "--json"}, strings.Fields(c.args)...)...)
		require.Zero(t, a.code, a.stderr)
		assert.JSONEq(t, c.want, a.stdout, c.args)
	}
	for _, args := range []string{"", "--value nan", "--value 85%", "--value 1 --direction sideways", "--value 1 --best x", "--valu 1"} {
		a := w.binary("iterate", append([]string{"job", "decide"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, a.code, args)
		assert.Equal(t, 1, strings.Count(a.stderr, "\n"), "one clear line: %s", a.stderr)
	}
}

func TestNewProgramRunsAsItStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.binary("iterate", "init", "speed")
	require.Zero(t, a.code, a.stderr)
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "program")
	a = w.binary("iterate", "validate", "--json")
	require.Zero(t, a.code, a.stdout)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &list))
	require.Len(t, list, 1)
	assert.Equal(t, true, list[0]["ok"])
	assert.InDelta(t, 6*3600, list[0]["interval_seconds"], 0)
	a = w.binary("iterate", "--program", "speed", "-n", "8", "--json")
	require.Zero(t, a.code, a.stderr)
	got := w.decode(a.stdout)
	best := got[len(got)-1].Best
	require.NotNil(t, best)
	value, err := best.Float64()
	require.NoError(t, err)
	assert.Less(t, value, 43.0, "the tuner improves on the start")
	assert.Equal(t, 2, w.binary("iterate", "init", "speed").code, "nothing is overwritten")
	assert.Equal(t, 2, w.binary("iterate", "init", "Bad Name").code)
}
