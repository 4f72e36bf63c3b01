package skill_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// TestPlaceOfRun has what is at the place of a workspace before a run.
func TestPlaceOfRun(t *testing.T) {
	t.Parallel()
	file := func(at, text string) func(t *testing.T, base string) {
		return func(t *testing.T, base string) { t.Helper(); putFile(t, filepath.Join(base, at), text) }
	}
	of := func(other string) func(t *testing.T, base string) {
		return func(t *testing.T, base string) {
			t.Helper()
			putFile(t, filepath.Join(base, "other", "SKILL.md"), "x")
			require.NoError(t, os.Symlink("s", filepath.Join(base, "link")))
			_, err := workspace.Create(t.Context(), filepath.Join(base, "s-autoresearch"), filepath.Join(base, other))
			require.NoError(t, err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, base string)
		says    string // the error, "" for none
		warns   string
	}{
		"nothing":            {func(*testing.T, string) {}, "", ""},
		"files of others":    {file("s-autoresearch/notes.md", "x"), `is no workspace and has "notes.md" in`, ""},
		"a file":             {file("s-autoresearch", "x"), "is no directory", ""},
		"its own":            {of("s"), "", ""},
		"its own, by a link": {of("link"), "", ""},
		"that of another":    {of("other"), "is the workspace of ", ""},
		"that of one that moved": {func(t *testing.T, base string) {
			t.Helper()
			of("other")(t, base)
			require.NoError(t, os.RemoveAll(filepath.Join(base, "other")))
		}, "", ""},
		"a script's":  {file("s-autoresearch/v0/SKILL.md", "x"), "", "by another program: writing manifests"},
		"one cut off": {file("s-autoresearch/manifest.json", "{"), "manifest of a workspace, or was cut off", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, files.RemoveAll(base)) })
			dir, place := filepath.Join(base, "s"), filepath.Join(base, "s-autoresearch")
			putFile(t, filepath.Join(dir, "SKILL.md"), "x")
			c.prepare(t, base)
			said := &bytes.Buffer{}
			w, err := skill.OpenOrCreate(t.Context(), place, dir, said)
			if c.warns == "" {
				assert.Empty(t, said.String())
			}
			assert.Contains(t, said.String(), c.warns)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, dir, w.Skill)
			assert.DirExists(t, w.Version(0))
		})
	}
}

func putFile(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestRunGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows  string // as their actions begin
		run   *workspace.Run
		count int
		says  string
	}{
		"nothing":                  {"", nil, 3, ""},
		"nothing, though it began": {"", &workspace.Run{Count: 3}, 3, ""},
		"a run that ended":         {"bkr", nil, 3, "s: going on from v1, iteration 3\n"},
		"one that was interrupted": {
			"bkr", &workspace.Run{After: 0, Count: 3}, 3,
			"s: going on from v1, iteration 3; it finishes the run that was interrupted, 1 of 3 are left\n",
		},
		"of another number": {
			"bkr", &workspace.Run{After: 0, Count: 3}, 4,
			"s: going on from v1, iteration 3\n",
		},
		"after runs before": {
			"bkrrr", &workspace.Run{After: 3, Count: 5}, 5,
			"s: going on from v1, iteration 5; it finishes the run that was interrupted, 4 of 5 are left\n",
		},
		"measured anew in the middle": {
			"bkrb", &workspace.Run{After: 2, Count: 2}, 2,
			"s: going on from v3, iteration 4; it finishes the run that was interrupted, 2 of 2 are left\n",
		},
	} {
		w := &workspace.Workspace{Dir: t.TempDir(), Run: c.run}
		for n, action := range c.rows {
			require.NoError(t, w.Append(results.Row{
				Iteration: n,
				Action: map[rune]results.Action{
					'b': results.Baseline, 'k': results.Kept,
					'r': results.Reverted,
				}[action], Changelog: "x",
			}))
		}
		text, err := skill.GoesOn(w, "s", c.count)
		require.NoError(t, err, name)
		assert.Equal(t, c.says, text, name)
	}
	w := &workspace.Workspace{Dir: t.TempDir()}
	putFile(t, filepath.Join(w.Dir, "results.tsv"), "no table\n")
	_, err := skill.GoesOn(w, "s", 1)
	require.ErrorContains(t, err, "results.tsv")
	ended := skill.BrokenOff(canceled(t), w, nil)
	assert.Empty(t, ended, "what cannot be read promises nothing")
	empty := &workspace.Workspace{Dir: t.TempDir()}
	assert.Equal(t, "interrupted: nothing was measured yet in "+empty.Dir+"; the same command goes on from there\n",
		skill.BrokenOff(canceled(t), empty, nil))
}

// canceled is a context that has ended.
func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// hold works in the workspace of a appliedSkill until the test ends.
func hold(t *testing.T, b *appliedSkill) {
	t.Helper()
	other, err := workspace.OpenWorkspace(b.Workspace.Dir)
	require.NoError(t, err)
	release, err := other.Hold()
	require.NoError(t, err)
	t.Cleanup(release)
}

// alter changes a version of a appliedSkill.
func alter(t *testing.T, b *appliedSkill, version int) {
	t.Helper()
	file := filepath.Join(b.Workspace.Version(version), "SKILL.md")
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.WriteFile(file, []byte("altered"), 0o600))
}

// TestFilesOfApplyAndUndo: a skill is changed where its workspace says that it is,
// when nobody else works there, and never to what is no version.
func TestFilesOfApplyAndUndo(t *testing.T) {
	t.Parallel()
	put := func(names ...string) func(t *testing.T, b *appliedSkill) {
		return func(t *testing.T, b *appliedSkill) {
			t.Helper()
			for _, name := range names {
				putFile(t, filepath.Join(b.dir, name), "x")
			}
		}
	}
	for name, c := range map[string]struct {
		spoil   func(t *testing.T, b *appliedSkill)
		version int
		says    string
		misuse  bool
	}{
		"no skill is named": {
			func(_ *testing.T, b *appliedSkill) { b.Workspace.Skill = "" }, 1, "does not say where its skill is", true,
		},
		"it is gone": {
			func(_ *testing.T, b *appliedSkill) { _ = os.RemoveAll(b.dir) }, 1, "read the skill: ", false,
		},
		"a run works there":   {hold, 1, "another run works in ", false},
		"no such version":     {put(), 9, "such version was kept; there are v0, v1", true},
		"a version below all": {put(), -7, "--version -7: no such version was kept", true},
		"the version was altered": {
			func(t *testing.T, b *appliedSkill) { t.Helper(); alter(t, b, 1) }, 1, "was altered", false,
		},
		"the original was": {
			func(t *testing.T, b *appliedSkill) { t.Helper(); alter(t, b, 0) }, 1, "was altered", false,
		},
		"the original is gone": {
			func(_ *testing.T, b *appliedSkill) { _ = files.RemoveAll(b.Workspace.Version(0)) }, 1, "has lost its v0", false,
		},
		"the skill links out": {
			func(_ *testing.T, b *appliedSkill) { _ = os.Symlink("/etc", filepath.Join(b.dir, "l")) }, 1,
			"is a link that leaves the tree", false,
		},
		"a name that is no text": {
			put("a\x1b[2Jb\n"), 1, `v0 ("a\x1b[2Jb\n"); nothing was applied`, false,
		},
		"many files changed": {
			put("a", "b", "c", "d", "e", "f", "g", "h"), 1, "changed since v0 (a, b, c, d, e, and 3", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAppliedSkill(t)
			c.spoil(t, b)
			before, _ := workspace.Scan(t.Context(), b.dir)
			done, err := b.Apply(t.Context(), skill.ChangeOptions{Version: c.version, Yes: true})
			require.ErrorContains(t, err, c.says)
			assert.Nil(t, done)
			var wrong *misuse.Error
			assert.Equal(t, c.misuse, errors.As(err, &wrong), "%v", err)
			after, _ := workspace.Scan(t.Context(), b.dir)
			assert.Equal(t, before, after)
			assert.Empty(t, b.asked)
		})
	}
}
