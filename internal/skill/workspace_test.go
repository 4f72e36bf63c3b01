package skill

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/testdir"
)

func TestWorkspaceMovesWithItsSkill(t *testing.T) {
	t.Parallel()
	w, base := newWorkspace(t, paths{"SKILL.md": "x", "evals/evals.json": "{}"})
	_, err := CreateWorkspace(t.Context(), w.Dir, filepath.Join(base, "s"))
	require.ErrorContains(t, err, `has "manifest.json" in it`)
	w.Applied = &Applied{Version: 3, Digest: "d"}
	require.NoError(t, w.Save())
	require.NoError(t, os.Rename(base, base+"-moved"))
	t.Cleanup(func() { _ = os.Rename(base+"-moved", base) })
	again, err := OpenWorkspace(t.Context(), filepath.Join(base+"-moved", "ws"), io.Discard)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(base+"-moved", "s"), again.Skill)
	assert.Equal(t, w.Applied, again.Applied)
	tree, err := Verify(t.Context(), again.Version(0))
	require.NoError(t, err)
	assert.Equal(t, again.SuiteHash, tree.Below("evals").Digest())
}

// TestDirectoriesOfOthers are left as they are: one with anything in it, and one in the skill.
func TestDirectoriesOfOthers(t *testing.T) {
	t.Parallel()
	for dir, c := range map[string]struct{ has, says string }{
		"ws":      {"", ""},
		"ws1":     {".hidden", ""},
		"ws2":     {"notes.txt", `has "notes.txt" in it`},
		"ws3":     {"candidate/mine", `has "candidate" in it`},
		"ws4":     {"iteration-1/mine", `has "iteration-1" in it`},
		"ws5":     {".git/HEAD", `has ".git" in it`},
		"s/ws":    {"", "keep the two apart"},
		"s/er/ws": {"", "keep the two apart"},
		"s":       {"", "keep the two apart"},
		".":       {"", "keep the two apart"},
	} {
		base := testdir.New(t, paths{"s/SKILL.md": "x"})
		if c.has != "" {
			testdir.Put(t, base, paths{dir + "/" + c.has: "precious"})
		}
		before := testdir.Has(t, base)
		_, err := CreateWorkspace(t.Context(), filepath.Join(base, dir), filepath.Join(base, "s"))
		if c.says == "" {
			require.NoError(t, err, dir)
			continue
		}
		require.ErrorContains(t, err, c.says)
		assert.Equal(t, before, testdir.Has(t, base), "nothing is made")
	}
}

func TestWorkspaceIsHeldByOneRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories cannot be locked here")
	}
	w, _ := newWorkspace(t, paths{"SKILL.md": "x"})
	release, err := w.Hold()
	require.NoError(t, err)
	again, err := OpenWorkspace(t.Context(), w.Dir, io.Discard)
	require.NoError(t, err)
	_, err = again.Hold()
	require.ErrorContains(t, err, "another run works in "+w.Dir)
	release()
	release, err = again.Hold()
	require.NoError(t, err)
	release()
}

// TestManifestsOfWorkspaces has a manifest.json as others, later versions and accidents
// leave it.
func TestManifestsOfWorkspaces(t *testing.T) {
	t.Parallel()
	of := func(more string) string { return `{"schema": 1, "format": "autoloop-skill-workspace", ` + more + `}` }
	applied := func(before string) string { return of(`"applied": {"before": "` + before + `"}`) }
	for name, c := range map[string]struct {
		text, holds string // the skill, the best version, whether it was applied, and what undoing leads to; or the error
	}{
		"a skill beside it":            {of(`"skill": "../s", "best_version": 2`), "../s 2 false v0"},
		"a skill elsewhere":            {of(`"skill": "/somewhere/s"`), "/somewhere/s 0 false v0"},
		"of nobody knows which":        {of(`"skill": ""`), " 0 false v0"},
		"fields of later":              {of(`"later": {"a": [1]}, "applied": {"version": 1, "later": 1}`), " 0 true v0"},
		"what was kept before a merge": {applied("before-apply-12"), " 0 true before-apply-12"},
		"nothing was kept":             {of(`"applied": {"version": 1, "before": ""}`), " 0 true v0"},
		"a way out":                    {applied("../../etc"), "is no manifest of a workspace"},
		"a way out, dots":              {applied("before-apply-1/../../x"), "is no manifest of a workspace"},
		"a line more":                  {applied(`before-apply-1\n`), "is no manifest of a workspace"},
		"another version":              {applied("v3"), "is no manifest of a workspace"},
		"half a version":               {of(`"best_version": 1.5`), "is no manifest of a workspace"},
		"a later schema": {
			`{"schema": 2, "format": "autoloop-skill-workspace"}`, "is no manifest of a workspace",
		},
		"no schema":   {`{"format": "autoloop-skill-workspace"}`, "is no manifest of a workspace"},
		"another's":   {`{"schema": 1, "format": "npm"}`, "is no manifest of a workspace"},
		"null":        {`null`, "is no manifest of a workspace"},
		"cut off":     {`{`, "is no manifest of a workspace"},
		"two":         {of(`"skill": "../s"`) + "{}", "is no manifest of a workspace"},
		"too large":   {of(`"x": "` + strings.Repeat("x", 1<<20) + `"`), "is no file of at most 1048576 bytes"},
		"a link":      {"-> /dev/zero", "is no file of at most"},
		"a directory": {"/", "is no file of at most"},
	} {
		dir := testdir.New(t, nil)
		file := "ws/manifest.json"
		if c.text == "/" {
			file += "/"
		}
		testdir.Put(t, dir, paths{file: c.text})
		w, err := OpenWorkspace(t.Context(), filepath.Join(dir, "ws"), io.Discard)
		if err != nil {
			require.ErrorContains(t, err, c.holds, name)
			assert.Contains(t, err.Error(), "manifest.json")
			continue
		}
		back := "v0"
		if w.Applied != nil && w.Applied.Before != "" {
			back = w.Applied.Before
		}
		skill := strings.Replace(w.Skill, dir, "..", 1)
		assert.Equal(t, c.holds, fmt.Sprint(skill, " ", w.Best, " ", w.Applied != nil, " ", back), name)
	}
}

func TestDirectoriesThatAreNoWorkspace(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, paths{"file": "", "other/notes.md": ""})
	for name, says := range map[string]string{
		"nowhere": "workspace: it has neither manifest.json",
		"file":    "not a directory",
		"other":   "workspace: it has neither manifest.json",
	} {
		_, err := OpenWorkspace(t.Context(), filepath.Join(base, name), io.Discard)
		require.ErrorContains(t, err, says, name)
	}
}

func TestPlacesOfAWorkspace(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, paths{"s/SKILL.md": "x", "other/README.md": "x"})
	for dir, want := range map[string]string{
		"/s": "/s-autoresearch", "/s/": "/s-autoresearch", "/./s/.": "/s-autoresearch", "/other": "/other", "/gone": "/gone",
	} {
		assert.Equal(t, base+want, WorkspaceOf(base+dir), dir)
	}
	dir := filepath.Join(base, "ws")
	assert.Equal(t, dir, FreshDir(dir), "it is not there yet")
	testdir.Put(t, base, paths{"ws": "a file is there too"})
	assert.Equal(t, dir+"-2", FreshDir(dir))
	testdir.Put(t, base, paths{"ws-2": "-> nowhere"})
	assert.Equal(t, dir+"-3", FreshDir(dir))
	testdir.Put(t, base, paths{"ws-3/": ""})
	assert.Equal(t, dir+"-3-2", FreshDir(dir+"-3/"), "beside it, not in it")
}

// TestWorkspacesOfScripts has a directory as a script leaves it, and what of it is
// taken for a version.
func TestWorkspacesOfScripts(t *testing.T) {
	t.Parallel()
	for list, foreign := range map[string]bool{
		"v0/SKILL.md v1/SKILL.md": true,
		"v0/SKILL.md":             true,
		"v1/SKILL.md":             false,
		"v0":                      false,
		"v0/SKILL.md v0.manifest.json manifest.json": false,
		"v0/SKILL.md v0.manifest.json":               true, // one of ours, cut off
		"v0/SKILL.md manifest.json/x":                false,
		"":                                           false,
	} {
		dir := testdir.New(t, nil)
		for file := range strings.FieldsSeq(list) {
			testdir.Put(t, dir, paths{file: "x"})
		}
		assert.Equal(t, foreign, ForeignWorkspace(dir), list)
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	base := testdir.New(t, nil)
	w := &Workspace{Dir: filepath.Join(base, "s-autoresearch")}
	for name := range strings.FieldsSeq("v0 v1 v2 v10 v1-old candidate v") {
		testdir.Put(t, filepath.Join(w.Dir, name), paths{"SKILL.md": "of " + name, "evals/evals.json": "{}"})
	}
	testdir.Put(t, w.Dir, paths{"notes.md": "x"})
	for n, action := range []results.Action{results.Baseline, results.Kept, results.Kept, results.Reverted} {
		score := metric.MustValue([]string{"0.5", "0.5", "0.75", "0.5"}[n])
		require.NoError(t, w.Append(results.Row{
			Iteration: n, Time: time.Unix(1e9, 0), Score: &score, Action: action, Changelog: "x",
		}))
	}
	before := testdir.Has(t, filepath.Join(w.Dir, "v1"))
	require.True(t, ForeignWorkspace(w.Dir))
	w, err := OpenWorkspace(t.Context(), w.Dir, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, 2, w.Best)
	assert.Equal(t, filepath.Join(base, "s"), w.Skill, "by its name")
	assert.Equal(t, before, testdir.Has(t, filepath.Join(w.Dir, "v1")), "versions stay as they are")
	for name, version := range map[string]bool{
		"v0": true, "v1": true, "v2": true, "v10": true, "v1-old": false, "candidate": false, "v": false,
	} {
		_, err := Verify(t.Context(), filepath.Join(w.Dir, name))
		assert.Equal(t, version, err == nil, name)
	}
	assert.False(t, ForeignWorkspace(w.Dir), "it is ours now")
	original, err := Verify(t.Context(), w.Version(0))
	require.NoError(t, err)
	assert.Equal(t, original.Below("evals").Digest(), w.SuiteHash)
	again, err := OpenWorkspace(t.Context(), w.Dir, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "who executed before is not known", again.Executor.Changed(&history.Executor{Agent: "a"}))

	for says, spoiled := range map[string]paths{
		`"l" is a link that leaves the tree`: {"v1/l": "-> /etc"}, "results.tsv: ": {"results.tsv": "nothing of a table\n"},
	} {
		dir := testdir.New(t, paths{"v0/SKILL.md": "x", "v1/SKILL.md": "x"})
		testdir.Put(t, dir, spoiled)
		_, err := OpenWorkspace(t.Context(), dir, io.Discard)
		require.ErrorContains(t, err, says)
		assert.NoFileExists(t, filepath.Join(dir, "manifest.json"))
	}
}

// TestKeepSkill never loses what was kept before.
func TestKeepSkill(t *testing.T) {
	t.Parallel()
	w, base := newWorkspace(t, paths{"SKILL.md": "one"})
	testdir.Put(t, w.Dir, paths{"before-undo-2": "somebody's"})
	for _, name := range []string{"before-undo-1", "before-undo-3"} {
		testdir.Put(t, base, paths{"s/SKILL.md": name})
		kept, err := w.KeepSkill(t.Context(), "before-undo")
		require.NoError(t, err)
		assert.Equal(t, name, kept)
	}
	text, err := os.ReadFile(filepath.Join(w.Dir, "before-undo-1", "SKILL.md"))
	require.NoError(t, err)
	assert.Equal(t, "before-undo-1", string(text))
	require.NoError(t, os.RemoveAll(w.Skill))
	_, err = w.KeepSkill(t.Context(), "before-undo")
	require.ErrorContains(t, err, "take a snapshot of ")
}

// TestAlteredOriginal cannot come back from the skill, which may be
// another one by now.
func TestAlteredOriginal(t *testing.T) {
	t.Parallel()
	w, _ := newWorkspace(t, paths{"SKILL.md": "x"})
	assert.False(t, taken(t, w.Skill, w.Version(0)).Changed, "what is the same may be taken again")
	writableSnapshot(t, w.Version(0))
	testdir.Put(t, w.Version(0), paths{"SKILL.md": "y"})
	_, err := TakeSnapshot(t.Context(), w.Skill, w.Version(0))
	require.ErrorContains(t, err, "a workspace, which never changes; begin")
	require.NoError(t, files.RemoveAll(w.Version(0)))
	_, err = TakeSnapshot(t.Context(), w.Skill, w.Version(0))
	require.ErrorContains(t, err, "is the original of a workspace")
	_, err = w.Hold()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "lost its v0, which nothing can replace;")
}

// TestResults: the same row again changes nothing, and what cannot be read stays as it is.
func TestResults(t *testing.T) {
	t.Parallel()
	score := metric.MustValue("0.5")
	row := results.Row{Time: time.Unix(1e9, 0), Score: &score, Action: results.Baseline, Changelog: "a\tb"}
	w := &Workspace{Dir: testdir.New(t, nil)}
	for rows := range 3 {
		table, err := w.Results()
		require.NoError(t, err)
		assert.Len(t, table.Rows, min(rows, 1))
		require.NoError(t, w.Append(row))
	}
	for name, text := range map[string]string{
		"another table": "name\tvalue\nx\t1\n", "cut off": results.Header + "\n0\t2026-01-02T03:04:05Z\t0.5",
		"binary": "\x00\xff\x00",
	} {
		testdir.Put(t, w.Dir, paths{"results.tsv": text})
		_, err := w.Results()
		require.ErrorContains(t, err, "results.tsv: ", name)
		require.ErrorContains(t, w.Append(row), "results.tsv: ", name)
		assert.Equal(t, text, testdir.Has(t, w.Dir)["results.tsv"], name)
	}
}
