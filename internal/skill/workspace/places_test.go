package workspace_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/skill/workspace"
)

// TestWhereAWorkspaceMayBegin: in an empty directory, or in one that has nothing but what an
// interrupted attempt, or a script, left of a workspace.
func TestWhereAWorkspaceMayBegin(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	for name, c := range map[string]struct {
		begun bool // v0 was taken there
		files []string
		says  string
	}{
		"nothing":                    {false, nil, ""},
		"hidden files":               {false, []string{".DS_Store", ".cache/x"}, ""},
		"a repository":               {false, []string{".git/HEAD"}, `has ".git" in it`},
		"a file":                     {false, []string{"notes.md"}, `has "notes.md" in it`},
		"a version without a record": {false, []string{"v1/SKILL.md"}, `has "v1" in it`},
		"a table without a record":   {false, []string{"results.tsv"}, `has "results.tsv" in it`},
		"a record of no original":    {false, []string{"v1.manifest.json"}, `has "v1.manifest.json" in it`},
		"an attempt":                 {true, nil, ""},
		"an attempt with all of it": {
			true,
			[]string{
				"v1/x", "v12.manifest.json", "iteration-0/eval-1/x", "candidate/x", "results.tsv",
				".v1.stage-1/x",
			},
			"",
		},
		"an attempt and a file":       {true, []string{"thesis.md"}, `has "thesis.md" in it`},
		"an attempt in a repository":  {true, []string{".git/HEAD"}, ""},
		"a name that is nearly its":   {true, []string{"v1-old/x"}, `has "v1-old" in it`},
		"another that is nearly":      {true, []string{"iteration-a/x"}, `has "iteration-a" in it`},
		"candidates":                  {true, []string{"candidates/x"}, `has "candidates" in it`},
		"a table of somebody":         {true, []string{"results.tsv.bak"}, `has "results.tsv.bak" in it`},
		"a version with a line break": {true, []string{"v1\n/x"}, `has "v1\n" in it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := room(t)
			skill, dir := filepath.Join(base, "s"), filepath.Join(base, "ws")
			write(t, skill, "SKILL.md", "x", 0o644)
			require.NoError(t, os.Mkdir(dir, 0o755))
			if c.begun {
				_, err := workspace.Take(t.Context(), skill, filepath.Join(dir, "v0"))
				require.NoError(t, err)
			}
			for _, file := range c.files {
				write(t, dir, file, "precious", 0o644)
			}
			w, err := workspace.Create(t.Context(), dir, skill)
			for _, file := range c.files {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if file != ".v1.stage-1/x" { // what an interrupted attempt left may go
					require.NoError(t, err)
					assert.Equal(t, "precious", string(text), "nothing that was there is lost")
				}
			}
			if c.says != "" {
				require.ErrorContains(t, err, dir+" is no workspace and "+c.says)
				assert.NoFileExists(t, filepath.Join(dir, "manifest.json"))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, skill, w.Skill)
			assert.FileExists(t, filepath.Join(dir, "manifest.json"))
		})
	}
}

// TestWhatATakeIsRefused changes nothing and makes nothing.
func TestWhatATakeIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	for name, c := range map[string]struct {
		leave func(t *testing.T, base string)
		from  string
		to    string
		says  string
	}{
		"of a file": {
			func(t *testing.T, base string) { t.Helper(); write(t, base, "file", "x", 0o644) }, "file", "v1",
			"is no directory",
		},
		"of nothing": {nil, "gone", "v1", "no such file or directory"},
		"onto a link": {func(t *testing.T, base string) {
			t.Helper()
			require.NoError(t, os.Symlink("src", filepath.Join(base, "v1")))
		}, "src", "v1", "is there and is no directory"},
		"below a file": {
			func(t *testing.T, base string) { t.Helper(); write(t, base, "file", "x", 0o644) }, "src",
			"file/v1", "not a directory",
		},
		"through a link to itself": {func(t *testing.T, base string) {
			t.Helper()
			require.NoError(t, os.Symlink("src", filepath.Join(base, "l")))
		}, "l", "src/v1", "keep the two apart"},
		"above itself": {
			func(t *testing.T, base string) { t.Helper(); write(t, base, "src/in/a", "x", 0o644) },
			"src/in", "src", "keep the two apart",
		},
		"onto files of others": {
			func(t *testing.T, base string) { t.Helper(); write(t, base, "v1/mine", "x", 0o644) },
			"src", "v1", "has files in it and is no snapshot",
		},
		"of what leaves it by a link": {func(t *testing.T, base string) {
			t.Helper()
			require.NoError(t, os.Symlink("a/../..", filepath.Join(base, "src", "l")))
		}, "src", "v1", `"l" is a link that leaves the tree`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := room(t)
			write(t, base, "src/a", "x", 0o644)
			if c.leave != nil {
				c.leave(t, base)
			}
			before := everything(t, base)
			_, err := workspace.Take(t.Context(), filepath.Join(base, c.from), filepath.Join(base, c.to))
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "take a snapshot of ")
			assert.Equal(t, before, everything(t, base))
		})
	}
}

// everything lists the paths below a directory.
func everything(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}

// TestARestoreThatWasInterrupted leaves nothing behind that the next does not clear away.
func TestARestoreThatWasInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links need another system")
	}
	for name, c := range map[string]struct {
		leave func(t *testing.T, base string)
	}{
		"nothing of it": {nil},
		"half of what was to come": {func(t *testing.T,
			base string,
		) {
			t.Helper()
			write(t, base, ".dir.stage-1/a", "th", 0o600)
		}},
		"the old one, aside": {func(t *testing.T, base string) {
			t.Helper()
			require.NoError(t, os.Rename(filepath.Join(base, "dir"), filepath.Join(base, ".dir.aside")))
		}},
		"the old one, and the new": {func(t *testing.T,
			base string,
		) {
			t.Helper()
			write(t, base, ".dir.aside/a", "older", 0o644)
		}},
		"a directory that is gone": {func(t *testing.T, base string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(filepath.Join(base, "dir")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := room(t)
			write(t, base, "src/a", "theirs", 0o644)
			write(t, base, "dir/a", "mine", 0o644)
			_, err := workspace.Take(t.Context(), filepath.Join(base, "src"), filepath.Join(base, "v1"))
			require.NoError(t, err)
			if c.leave != nil {
				c.leave(t, base)
			}
			restored, err := workspace.Restore(t.Context(), filepath.Join(base, "v1"), filepath.Join(base, "dir"))
			require.NoError(t, err)
			assert.Equal(t, 1, restored.Written)
			text, err := os.ReadFile(filepath.Join(base, "dir", "a"))
			require.NoError(t, err)
			assert.Equal(t, "theirs", string(text))
			assertNothingElse(t, base, "src", "dir", "v1", "v1.manifest.json")
		})
	}
}
