package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/workspace"
)

// TestManifestsOfWorkspaces has a manifest.json as others, later versions and accidents
// leave it.
func TestManifestsOfWorkspaces(t *testing.T) {
	t.Parallel()
	of := func(more string) string { return `{"schema": 1, "format": "autoloop-skill-workspace", ` + more + `}` }
	for name, c := range map[string]struct {
		text, holds string // the skill, the best version, whether it was applied, and what undoing leads to
		fails       string
	}{
		"a skill beside it":     {of(`"skill": "../s", "best_version": 2`), "../s 2 false v0", ""},
		"a skill elsewhere":     {of(`"skill": "/somewhere/s"`), "/somewhere/s 0 false v0", ""},
		"of nobody knows which": {of(`"skill": ""`), " 0 false v0", ""},
		"fields of later": {
			of(`"later": {"a": [1]}, "applied": {"version": 1, "later": 1}`), " 0 true v0", "",
		},
		"what was kept before a merge": {of(`"applied": {"before": "before-apply-12"}`), " 0 true before-apply-12", ""},
		"nothing was kept":             {of(`"applied": {"version": 1, "before": ""}`), " 0 true v0", ""},
		"a way out": {
			of(`"applied": {"before": "../../etc"}`), "", "is no snapshot of an application",
		},
		"a way out, dots": {
			of(`"applied": {"before": "before-apply-1/../../x"}`), "", "is no snapshot of",
		},
		"a line more":     {of(`"applied": {"before": "before-apply-1\n"}`), "", "is no snapshot of"},
		"another version": {of(`"applied": {"before": "v3"}`), "", "is no snapshot of"},
		"no such version": {of(`"best_version": -1`), "", "there is no version -1"},
		"half a version": {
			of(`"best_version": 1.5`), "", "manifest of a workspace, or was cut off",
		},
		"a later schema": {
			`{"schema": 2, "format": "autoloop-skill-workspace"}`, "", "the schema 2, and this program reads 1",
		},
		"no schema": {`{"format": "autoloop-skill-workspace"}`, "", "has the schema 0"},
		"another's": {`{"schema": 1, "format": "npm"}`, "", "is no manifest of a workspace"},
		"null":      {`null`, "", "is no manifest of a workspace"},
		"cut off":   {`{`, "", "is no manifest of a workspace"},
		"two":       {of(`"skill": "../s"`) + "{}", "", "is no manifest of a workspace"},
		"too large": {of(`"x": "` + strings.Repeat("x", 1<<20) + `"`), "", "is no file of at most 1048576 bytes"},
	} {
		dir := filepath.Join(writableDir(t), "ws")
		write(t, dir, "manifest.json", c.text, 0o644)
		w, err := workspace.OpenWorkspace(dir)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, name)
			assert.Contains(t, err.Error(), "manifest.json")
			continue
		}
		require.NoError(t, err, name)
		back, place := w.Undone()
		assert.Equal(t, filepath.Join(dir, back), place)
		skill := strings.Replace(w.Skill, filepath.Dir(dir), "..", 1)
		assert.Equal(t, c.holds, fmt.Sprint(skill, " ", w.Best, " ", w.Applied != nil, " ", back), name)
	}
	for name, put := range map[string]func(file string) error{
		"a directory": func(file string) error { return os.Mkdir(file, 0o755) },
		"a link":      func(file string) error { return os.Symlink("/dev/zero", file) },
	} {
		dir := writableDir(t)
		require.NoError(t, put(filepath.Join(dir, "manifest.json")))
		_, err := workspace.OpenWorkspace(dir)
		require.ErrorContains(t, err, "is no file of at most", name)
	}
}

func TestDirectoriesThatAreNoWorkspace(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	write(t, base, "file", "", 0o644)
	write(t, base, "other/notes.md", "", 0o644)
	for name, says := range map[string]string{
		"nowhere": "there is no workspace " + filepath.Join(base,
			"nowhere") + ": a run of `iterate skill PATH` makes one", "file": "is no directory",
		"other": "workspace: it has neither manifest.json",
	} {
		_, err := workspace.OpenWorkspace(filepath.Join(base, name))
		require.ErrorContains(t, err, says, name)
	}
}

func TestPlacesOfAWorkspace(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	write(t, base, "s/SKILL.md", "x", 0o644)
	write(t, base, "other/README.md", "x", 0o644)
	for dir, want := range map[string]string{
		filepath.Join(base, "s"):     filepath.Join(base, "s-autoresearch"),
		base + "/s/":                 filepath.Join(base, "s-autoresearch"),
		base + "/./s/.":              filepath.Join(base, "s-autoresearch"),
		filepath.Join(base, "other"): filepath.Join(base, "other"),
		filepath.Join(base, "gone"):  filepath.Join(base, "gone"),
	} {
		assert.Equal(t, want, workspace.Of(dir), dir)
	}
	dir := filepath.Join(base, "ws")
	assert.Equal(t, dir, workspace.FreshDir(dir), "it is not there yet")
	write(t, base, "ws", "a file is there too", 0o644)
	assert.Equal(t, dir+"-2", workspace.FreshDir(dir))
	require.NoError(t, os.Symlink("nowhere", dir+"-2"))
	assert.Equal(t, dir+"-3", workspace.FreshDir(dir))
	require.NoError(t, os.Mkdir(dir+"-3", 0o755))
	assert.Equal(t, dir+"-3-2", workspace.FreshDir(dir+"-3/"), "beside it, not in it")
}

// TestWorkspacesOfScripts has a directory as a script leaves it, and what of it is
// taken for a version.
func TestWorkspacesOfScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   []string
		foreign bool
	}{
		"versions":              {[]string{"v0/SKILL.md", "v1/SKILL.md"}, true},
		"the original alone":    {[]string{"v0/SKILL.md"}, true},
		"no original":           {[]string{"v1/SKILL.md"}, false},
		"a file of that name":   {[]string{"v0"}, false},
		"one of ours":           {[]string{"v0/SKILL.md", "v0.manifest.json", "manifest.json"}, false},
		"one of ours, cut off":  {[]string{"v0/SKILL.md", "v0.manifest.json"}, false},
		"whose manifest is odd": {[]string{"v0/SKILL.md", "manifest.json/x"}, false},
		"nothing":               {nil, false},
	} {
		dir := writableDir(t)
		for _, file := range c.files {
			write(t, dir, file, "x", 0o644)
		}
		assert.Equal(t, c.foreign, workspace.Foreign(dir), name)
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	half, more := metric.MustValue("0.5"), metric.MustValue("0.75")
	base := writableDir(t)
	dir := filepath.Join(base, "s-autoresearch")
	for _, version := range []string{"v0", "v1", "v2", "v10"} {
		write(t, dir, version+"/SKILL.md", "of "+version, 0o644)
		write(t, dir, version+"/evals/evals.json", "{}", 0o644)
	}
	for _, other := range []string{"v1-old/SKILL.md", "candidate/SKILL.md", "v/SKILL.md", "notes.md"} {
		write(t, dir, other, "x", 0o644)
	}
	w := &workspace.Workspace{Dir: dir}
	for n, action := range []results.Action{results.Baseline, results.Kept, results.Kept, results.Reverted} {
		score := half
		if n == 2 {
			score = more
		}
		require.NoError(t, w.Append(results.Row{
			Iteration: n, Time: time.Unix(1e9, 0), Score: &score, Action: action,
			Changelog: "x",
		}))
	}
	before := scan(t, filepath.Join(dir, "v1"))
	require.True(t, workspace.Foreign(dir))
	w, err := workspace.Adopt(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, 2, w.Best)
	assert.Equal(t, filepath.Join(base, "s"), w.Skill, "by its name")
	assert.Equal(t, before, scan(t, filepath.Join(dir, "v1")), "versions stay as they are")
	for _, version := range []string{"v0", "v1", "v2", "v10"} {
		_, err := workspace.Verify(t.Context(), filepath.Join(dir, version))
		require.NoError(t, err, version)
	}
	for _, other := range []string{"v1-old", "candidate", "v"} {
		assert.NoFileExists(t, workspace.ManifestFile(filepath.Join(dir, other)))
	}
	assert.False(t, workspace.Foreign(dir), "it is ours now")
	suite, err := workspace.VerifyBelow(t.Context(), w.Version(0), "evals")
	require.NoError(t, err)
	assert.Equal(t, suite.Digest(), w.SuiteHash)
	again, err := workspace.OpenWorkspace(dir)
	require.NoError(t, err)
	assert.Equal(t, "who executed before is not known", again.Executor.Changed(&history.Executor{Agent: "a"}))
}

func TestAdoptThatCannot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		says  string
	}{
		"a link out": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "v1", "l")))
		}, `"l" is a link that leaves the tree`},
		"a table that is": {func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, "results.tsv", "nothing of a table\n", 0o644)
		}, "results.tsv: "},
	} {
		dir := filepath.Join(writableDir(t), "ws")
		write(t, dir, "v0/SKILL.md", "x", 0o644)
		write(t, dir, "v1/SKILL.md", "x", 0o644)
		c.spoil(t, dir)
		_, err := workspace.Adopt(t.Context(), dir)
		require.ErrorContains(t, err, c.says, name)
		assert.NoFileExists(t, filepath.Join(dir, "manifest.json"), name)
	}
}

// TestKeepSkill never loses what was kept before.
func TestKeepSkill(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	skill, dir := filepath.Join(base, "s"), filepath.Join(base, "ws")
	write(t, skill, "SKILL.md", "one", 0o644)
	w, err := workspace.Create(t.Context(), dir, skill)
	require.NoError(t, err)
	keep := func(text string) string {
		write(t, skill, "SKILL.md", text, 0o644)
		name, err := w.KeepSkill(t.Context(), "before-undo")
		require.NoError(t, err)
		return name
	}
	assert.Equal(t, "before-undo-1", keep("one"))
	assert.Equal(t, "before-undo-1", keep("one"), "it is there already")
	assert.Equal(t, "before-undo-2", keep("two"))
	assert.Equal(t, "before-undo-1", keep("one"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "before-undo-1", "SKILL.md"), 0o600))
	write(t, filepath.Join(dir, "before-undo-1"), "SKILL.md", "altered", 0o600)
	write(t, dir, "before-undo-3", "somebody's", 0o644)
	assert.Equal(t, "before-undo-4", keep("one"), "what is altered, or another's, is neither used nor overwritten")
	text, err := os.ReadFile(filepath.Join(dir, "before-undo-1", "SKILL.md"))
	require.NoError(t, err)
	assert.Equal(t, "altered", string(text))
	require.NoError(t, os.RemoveAll(skill))
	_, err = w.KeepSkill(t.Context(), "before-undo")
	require.ErrorContains(t, err, "read the skill: ")
}

// TestAlteredOriginal cannot come back from the skill, which may be
// another one by now.
func TestAlteredOriginal(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	skill, dir := filepath.Join(base, "s"), filepath.Join(base, "ws")
	write(t, skill, "SKILL.md", "x", 0o644)
	w, err := workspace.Create(t.Context(), dir, skill)
	require.NoError(t, err)
	taken, err := workspace.Take(t.Context(), skill, w.Version(0))
	require.NoError(t, err)
	assert.False(t, taken.Changed, "what is the same may be taken again")
	require.NoError(t, os.Chmod(filepath.Join(w.Version(0), "SKILL.md"), 0o600))
	write(t, w.Version(0), "SKILL.md", "y", 0o600)
	_, err = workspace.Take(t.Context(), skill, w.Version(0))
	require.ErrorContains(t, err, "a workspace, which never changes; begin")
	require.NoError(t, files.RemoveAll(w.Version(0)))
	_, err = workspace.Take(t.Context(), skill, w.Version(0))
	require.ErrorContains(t, err, "is the original of a workspace")
	_, err = w.Hold()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "lost its v0, which nothing can replace;")
}

func TestRestoreOverWhatIsNotThere(t *testing.T) {
	t.Parallel()
	base := writableDir(t)
	src, snap := filepath.Join(base, "src"), filepath.Join(base, "v0")
	write(t, src, "SKILL.md", "x", 0o644)
	taken, err := workspace.Take(t.Context(), src, snap)
	require.NoError(t, err)
	for name, c := range map[string]struct{ dir, digest, says string }{
		"gone meanwhile":      {"gone", taken.Digest, "changed meanwhile; nothing was written"},
		"into the snapshot":   {"v0/inside", "", "keep the two apart"},
		"over the snapshot":   {"v0", "", "keep the two apart"},
		"below nothing":       {"a/b", "", "is no directory; make it first"},
		"a link that is lost": {"lost", "", "is a link that leads nowhere"},
		"a file":              {"file", "", "is there and is no directory"},
	} {
		_ = os.Symlink("nowhere", filepath.Join(base, "lost"))
		write(t, base, "file", "precious", 0o644)
		_, err := workspace.RestoreOver(t.Context(), snap, filepath.Join(base, c.dir), c.digest)
		require.ErrorContains(t, err, c.says, name)
	}
	assertNothingElse(t, base, "src", "v0", "v0.manifest.json", "lost", "file")
}

func TestResultsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	score := metric.MustValue("0.5")
	for name, c := range map[string]struct{ text, says string }{
		"another table": {"name\tvalue\nx\t1\n", "results.tsv: "},
		"cut off":       {results.Header + "\n0\t2026-01-02T03:04:05Z\t0.5", "results.tsv: "},
		"binary":        {"\x00\xff\x00", "results.tsv: "},
	} {
		dir := writableDir(t)
		write(t, dir, "results.tsv", c.text, 0o644)
		w := &workspace.Workspace{Dir: dir}
		_, err := w.Results()
		require.ErrorContains(t, err, c.says, name)
		err = w.Append(results.Row{Time: time.Unix(1e9, 0), Score: &score, Action: results.Baseline})
		require.ErrorContains(t, err, c.says, name)
		text, err := os.ReadFile(filepath.Join(dir, "results.tsv"))
		require.NoError(t, err)
		assert.Equal(t, c.text, string(text), "%s: it stays as it is", name)
	}
	table, err := (&workspace.Workspace{Dir: writableDir(t)}).Results()
	require.NoError(t, err)
	assert.Empty(t, table.Rows())
}
