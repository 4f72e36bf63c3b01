package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/workspace"
)

// TestSwapInTwoSteps finds what a killed process leaves where two names cannot
// be exchanged.
func TestSwapInTwoSteps(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	write(t, src, "one", "1", 0o644)
	_, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	require.NoError(t, os.Rename(src, filepath.Join(base, ".src.aside")))
	restored, err := workspace.Restore(t.Context(), snap, src)
	require.NoError(t, err)
	assert.False(t, restored.Changed, "the old directory has its name again")
	assertNothingElse(t, base, "src", "v0", "v0.manifest.json")
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	skill := filepath.Join(base, "s")
	write(t, skill, "SKILL.md", "x", 0o644)
	write(t, skill, "evals/evals.json", "{}", 0o644)
	dir := workspace.Beside(skill)
	require.NoError(t, os.Mkdir(dir, 0o755))
	w, err := workspace.Create(t.Context(), dir, skill)
	require.NoError(t, err)
	_, err = workspace.Create(t.Context(), dir, skill)
	require.ErrorContains(t, err, "is a workspace already")
	w.Best, w.Applied = 3, &workspace.Applied{Version: 3, Digest: "d"}
	require.NoError(t, w.Save())

	require.NoError(t, os.Rename(base, base+"-moved"))
	t.Cleanup(func() { _ = os.Rename(base+"-moved", base) })
	moved := filepath.Join(base+"-moved", "s-autoresearch")
	again, err := workspace.OpenWorkspace(moved)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(base+"-moved", "s"), again.Skill, "both may move together")
	assert.Equal(t, 3, again.Best)
	assert.Equal(t, w.Applied, again.Applied)
	tree, err := workspace.VerifyBelow(t.Context(), again.Version(0), "evals")
	require.NoError(t, err)
	assert.Equal(t, again.SuiteHash, tree.Digest())

	value := metric.MustValue("0.5")
	row := results.Row{Time: time.Unix(1e9, 0), Score: &value, Action: results.Baseline, Changelog: "a\tb"}
	require.NoError(t, again.Append(row))
	require.NoError(t, again.Append(row))
	table, err := again.Results()
	require.NoError(t, err)
	assert.Len(t, table.Rows(), 1)
}

func TestWorkspaceInADirectoryOfOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", ".hidden": "", "notes.txt": `has "notes.txt" in it`, "candidate/mine": `has "candidate" in it`,
		"iteration-1/mine": `has "iteration-1" in it`, ".git/HEAD": `has ".git" in it`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := writableDir(t)
			skill, dir := filepath.Join(base, "s"), filepath.Join(base, "ws")
			write(t, skill, "SKILL.md", "x", 0o644)
			require.NoError(t, os.Mkdir(dir, 0o755))
			if name != "" {
				write(t, dir, name, "precious", 0o644)
			}
			_, err := workspace.Create(t.Context(), dir, skill)
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, want)
			assertNothingElse(t, dir, strings.SplitN(name, "/", 2)[0])
		})
	}
}

func TestWorkspaceWithinTheSkill(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	skill := filepath.Join(base, "s")
	write(t, skill, "SKILL.md", "x", 0o644)
	before := scan(t, skill)
	for _, dir := range []string{"s/ws", "s/deep/er/ws", "s", "."} {
		_, err := workspace.Create(t.Context(), filepath.Join(base, dir), skill)
		require.ErrorContains(t, err, "keep the two apart", dir)
	}
	assert.Equal(t, before, scan(t, skill), "nothing is made in the skill")
}

func TestWorkspaceIsHeldByOneRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories cannot be locked here")
	}
	base := writableDir(t)
	skill, dir := filepath.Join(base, "s"), filepath.Join(base, "ws")
	write(t, skill, "SKILL.md", "x", 0o644)
	require.NoError(t, os.Mkdir(dir, 0o755))
	w, err := workspace.Create(t.Context(), dir, skill)
	require.NoError(t, err)
	release, err := w.Hold()
	require.NoError(t, err)
	again, err := workspace.OpenWorkspace(dir)
	require.NoError(t, err)
	_, err = again.Hold()
	require.ErrorContains(t, err, "another run works in "+dir)
	release()
	release, err = again.Hold()
	require.NoError(t, err)
	release()
}
