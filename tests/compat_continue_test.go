package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A repository that an older version worked on goes on with this one.

// keptLines holds that a record begins with what the older version wrote.
func keptLines(t *testing.T, before, after string) {
	t.Helper()
	assert.True(t, strings.HasPrefix(after, before+"\n"), "the lines that were there stay:\n%s\n%s", before, after)
}

func TestCompatFileProgramGoesOn(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w := restoredWorld(t, filepath.Join(dir, "file"))
		before, table, head := w.memory("p.jsonl"), w.memory("p.results.tsv"), w.git("rev-parse", "autoloop/p")
		a := w.binary("iterate", "replay", "p")
		assert.Zero(t, a.code, "the old decisions hold: %s", a.stdout)

		got := w.one()
		assert.Empty(t, got.Warnings)
		assert.Equal(t, 5, got.Iteration)
		assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.Equal(t, "improved", *got.Verdict)
		assert.Equal(t, "7", text(got.Best))
		assert.Equal(t, "-1", *got.Delta)
		assert.Equal(t, "7", w.git("show", "autoloop/p:value.txt"))
		assert.Equal(t, head, w.git("rev-parse", "autoloop/p^"))
		keptLines(t, before, w.memory("p.jsonl"))
		keptLines(t, table, w.memory("p.results.tsv"))
		assert.Equal(t, 1, strings.Count(w.memory("p.results.tsv"), "\tbaseline\t"), "it is measured as before")
		state := w.memory("p.md")
		for _, part := range []string{
			"| Iteration Count | 5 |", "| Initial Metric | 10 |", "| Best Metric | 7 |", "| Target Metric | 2 |", "| Consecutive Errors | 0 |",
			"| Recent Statuses | accepted, rejected, rejected, accepted, accepted |", "- mind the *gap*   \n\n## My own notes\n\nkept \\| as is",
			"### Iteration 5 — ", "### Iteration 4 — ", "### Iteration 1 — ",
		} {
			assert.Contains(t, state, part)
		}

		got = w.one()
		assert.Equal(t, 6, got.Iteration)
		assert.Contains(t, got.Stopped, "completed")
		assert.Zero(t, w.binary("iterate", "replay", "p").code)
		assert.Contains(t, w.binary("scheduler", "status").stdout, "rest")
	})
}

// TestCompatBaselinesHold: what an older version measured, under every kind of
// evaluation, need not be measured again.
func TestCompatBaselinesHold(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		for _, name := range []string{"metric", "skill", "tasks"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := restoredWorld(t, filepath.Join(dir, "kinds"))
				table := w.memory(name + ".results.tsv")
				got := w.oneOf(name)
				assert.Equal(t, 2, got.Iteration)
				assert.NotNil(t, got.Metric, got.Reasons)
				assert.Empty(t, got.Warnings)
				keptLines(t, table, w.memory(name+".results.tsv"))
				assert.Equal(t, 1, strings.Count(w.memory(name+".results.tsv"), "\tbaseline\t"), w.memory(name+".results.tsv"))
				assert.Zero(t, w.binary("iterate", "replay", name).code)
			})
		}
	})
}

// TestCompatPlanIsFollowed runs what an older scheduler selected.
func TestCompatPlanIsFollowed(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w := restoredWorld(t, filepath.Join(dir, "file"))
		place := filepath.Join(filepath.Dir(w.dir), "gh-aw")
		require.NoError(t, os.MkdirAll(place, 0o755))
		plan := w.atHome(frozenFile(t, dir, "file", "autoloop.json"))
		require.NoError(t, os.WriteFile(filepath.Join(place, "autoloop.json"), []byte(plan), 0o600))
		a := w.binary("iterate", "--json")
		require.Zero(t, a.code, a.stderr)
		assert.Equal(t, "idle", w.decode(a.stdout)[0].Program)
	})
}

func TestCompatPendingIterationGoesOn(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		t.Run("green", func(t *testing.T) {
			t.Parallel()
			h := restoredHub(t, filepath.Join(dir, "issue"))
			commit, before, pull := head(t, h.bare, "autoloop/p"), h.remembered("p.jsonl"), h.openPull()
			h.report("success")
			got := h.one()
			assert.Equal(t, "accepted", got.Outcome, got.Reasons)
			assert.Equal(t, 2, got.Iteration)
			assert.Equal(t, commit, *got.Commit)
			assert.Equal(t, "8", text(got.Best))
			keptLines(t, before, h.remembered("p.jsonl"))
			assert.Contains(t, h.remembered("p.results.tsv"), "\t8\t8\tkept\t")
			assert.Contains(t, h.remembered("p.md"), "| Recent Statuses | accepted, accepted |")
			assert.Equal(t, pull, h.openPull())
			assert.Contains(t, h.pullBody(), "CI is green")
			marks := func() (list []string) {
				for _, c := range h.look().On(1) {
					if mark, _, _ := strings.Cut(c.Body, "\n"); strings.HasPrefix(mark, "<!-- ") {
						list = append(list, mark)
					}
				}
				return list
			}
			posted := marks()
			third := h.one()
			assert.Equal(t, "pending-ci", third.Outcome, third.Reasons)
			assert.Equal(t, 3, third.Iteration)
			assert.Equal(t, commit, h.run(h.bare, "git", "rev-parse", "autoloop/p^"))
			assert.NotContains(t, h.told(3), "Smaller steps", "the comment was told before")
			assert.Equal(t, posted, marks(), "each comment is there once, and none before CI has spoken")
		})
		t.Run("red", func(t *testing.T) {
			t.Parallel()
			h := restoredHub(t, filepath.Join(dir, "issue"))
			candidate := head(t, h.bare, "autoloop/p")
			h.report("failure", "x_test.go:12: expected 3, got 4")
			h.try("9", "7.5")
			fixing := h.one()
			assert.Equal(t, "pending-ci", fixing.Outcome, fixing.Reasons)
			assert.Equal(t, 2, fixing.Iteration)
			assert.Contains(t, h.told(2), "expected 3, got 4")
			assert.Equal(t, candidate, h.run(h.bare, "git", "rev-parse", "autoloop/p^"))
			h.report("success")
			got := h.one()
			assert.Equal(t, "accepted", got.Outcome)
			assert.Equal(t, "7.5", text(got.Best))
		})
	})
}

func TestCompatBundleIsPublished(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		dir = filepath.Join(dir, "jobs")
		w := restoredWorld(t, dir)
		before, head := w.memory("p.jsonl"), w.git("rev-parse", "autoloop/p")
		got := w.publish(filepath.Join(w.absolute(dir), "bundle"))
		assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.Equal(t, 3, got.Iteration)
		assert.Equal(t, "5", text(got.Best))
		assert.Equal(t, "5", w.git("show", "autoloop/p:value.txt"))
		assert.Equal(t, head, w.git("rev-parse", "autoloop/p^"))
		keptLines(t, before, w.memory("p.jsonl"))
		assert.Contains(t, w.memory("p.results.tsv"), "\t5\t5\tkept\t")
		a := w.binary("iterate", "publish", "--program", "p", filepath.Join(w.absolute(dir), "bundle"))
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, "published before")
		next := w.one()
		assert.Equal(t, 4, next.Iteration)
		assert.Equal(t, "accepted", next.Outcome, next.Reasons)
		assert.Zero(t, w.binary("iterate", "replay", "p").code)
	})
}

func TestCompatFixBundleIsPublished(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		dir = filepath.Join(dir, "fix")
		h := restoredHub(t, dir)
		candidate := head(t, h.bare, "autoloop/p")
		got := h.publish(filepath.Join(h.absolute(dir), "bundle"))
		assert.Equal(t, "pending-ci", got.Outcome, got.Reasons)
		assert.Equal(t, 2, got.Iteration)
		assert.Equal(t, candidate, h.run(h.bare, "git", "rev-parse", "autoloop/p^"), "the fix is on top")
		h.report("success")
		got = h.one()
		assert.Equal(t, "accepted", got.Outcome, got.Reasons)
		assert.Equal(t, "7.5", text(got.Best))
	})
}

func TestCompatSkillWorkspaceGoesOn(t *testing.T) {
	eachVersion(t, func(t *testing.T, dir string) {
		t.Helper()
		w := skillWorld(t, "", frozenImprover)
		require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "s")))
		restoreTree(t, filepath.Join(dir, "skill", "tree.json"), w.dir)
		w.aside("restored", "")
		table := strings.TrimSuffix(w.read(ws+"/results.tsv"), "\n")
		end := w.skillEnd("-n", "1", "--runs", "auto", "--executor-command", frozenExecutor)
		require.Len(t, end.Iterations, 1, "the iteration that was killed, again")
		assert.Equal(t, "kept", end.Iterations[0].Action, end.Iterations[0].Changelog)
		assert.Equal(t, 3, end.BestVersion)
		assert.Equal(t, "---\nname: s\n---\nalpha\nbeta\ngamma\n", w.read(ws+"/v3/SKILL.md"), "it began with the best version")
		keptLines(t, table, w.read(ws+"/results.tsv"))
		end = w.skillEnd("--runs", "auto", "--executor-command", frozenExecutor, "--yes")
		assert.Equal(t, "perfect", end.Ended)
		assert.True(t, end.Applied)
		assert.Equal(t, "---\nname: s\n---\nalpha\nbeta\ngamma\ndelta\n", w.read("s/SKILL.md"))
		scored := w.binary("iterate", "score", ws, "1")
		assert.Zero(t, scored.code, scored.stderr)
		assert.Contains(t, scored.stdout, "score 0.6667")
	})
}

func (w *world) absolute(name string) string {
	w.t.Helper()
	absolute, err := filepath.Abs(name)
	require.NoError(w.t, err)
	return absolute
}
