//go:build unix

package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/sandbox"
)

// prepare makes a template of a fixture and a configuration.
func prepare(t *testing.T, fixture dir, o *sandbox.Overlay) (dir, *sandbox.Template, error) {
	t.Helper()
	template, err := sandbox.Prepare(t.Context(), filepath.Join(t.TempDir(), "x"),
		sandbox.Fixture{Name: "fixture", Dir: fixture.path}, o)
	if err != nil {
		return dir{}, nil, err
	}
	return dir{t, template.Dir}, template, nil
}

// TestSpecialFiles are refused where they would be copied, and nowhere else.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at                     string
		fixture, configuration string // what each says of it
	}{
		"in both": {
			"A.md", `fixture: "A.md" is neither a file nor a directory nor a link`,
			`candidate: "A.md" is neither a file nor a directory nor a link`,
		},
		"deep in both": {
			".claude/a", `fixture: ".claude/a" is neither`,
			`candidate: ".claude/a" is neither`,
		},
		"where none is looked for": {".claude/a/A.md", `fixture: ".claude/a/A.md" is neither`, ""},
		"in a git directory":       {".git/pipe", "", ""},
		"in another git directory": {"sub/.GIT/pipe", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t, map[string]string{"B.md": "b\n"})
			require.NoError(t, os.MkdirAll(filepath.Dir(d.at(c.at)), 0o755))
			require.NoError(t, syscall.Mkfifo(d.at(c.at), 0o644))
			says := func(err error, want string) {
				t.Helper()
				if want == "" {
					require.NoError(t, err)
					return
				}
				var refused *sandbox.PathError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, c.at, refused.Path)
				require.ErrorContains(t, err, want)
			}
			_, _, err := prepare(t, d, nil)
			says(err, c.fixture)
			err = sandbox.Inspect(t.Context(), sandbox.Fixture{Name: "fixture", Dir: d.path})
			says(err, c.fixture)
			_, err = sandbox.ReadOverlay(t.Context(), "candidate", d.path, config{})
			says(err, c.configuration)
		})
	}
}

// TestHowACopyIsMade: permissions and times are the fixture's, whoever runs it can work in
// every directory, and nothing gains a right that only its owner was to have.
func TestHowACopyIsMade(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, nil)
	long := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, mode := range map[string]fs.FileMode{
		"a": 0o644, "b/private": 0o600, "b/runs": 0o755, "c/readonly": 0o444,
		"c/own": 0o400, "d/setuid": 0o755, "d/all": 0o777,
	} {
		fixture.put(name, name, mode)
		require.NoError(t, os.Chtimes(fixture.at(name), long, long))
	}
	require.NoError(t, os.Chmod(fixture.at("d/setuid"), 0o755|fs.ModeSetuid))
	require.NoError(t, os.Mkdir(fixture.at("empty"), 0o755))
	dirs := map[string]fs.FileMode{"b": 0o711, "c": 0o555, "d": 0o777, "empty": 0o500}
	for name, mode := range dirs {
		require.NoError(t, os.Chmod(fixture.at(name), mode))
	}
	t.Cleanup(func() {
		for name := range dirs {
			_ = os.Chmod(fixture.at(name), 0o755) //nolint:gosec // so that it can be removed
		}
	})
	box, in := open(t, fixture, nil)
	for name, want := range map[string]fs.FileMode{
		"a": 0o644, "b/private": 0o600, "b/runs": 0o755, "c/readonly": 0o444, "c/own": 0o400, "d/setuid": 0o755,
		"d/all": 0o777,
		"b":     fs.ModeDir | 0o711, "c": fs.ModeDir | 0o755, "d": fs.ModeDir | 0o777, "empty": fs.ModeDir | 0o700,
	} {
		info, err := os.Lstat(in.at(name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode(), name)
		if !info.IsDir() {
			assert.True(t, info.ModTime().Equal(long), "%s: %s", name, info.ModTime())
		}
	}
	info, err := os.Lstat(in.path)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeDir|0o700, info.Mode(), "nobody else looks into a sandbox")
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Empty(t, changes.List, "a copy is no change")
}

func TestTooDeepDirectory(t *testing.T) {
	t.Parallel()
	for depth, says := range map[int]string{64: "", 65: "is too deep"} {
		fixture := newDir(t, nil)
		name := strings.Repeat("d/", depth-1) + "d"
		require.NoError(t, os.MkdirAll(fixture.at(name), 0o755))
		_, template, err := prepare(t, fixture, nil)
		if says == "" {
			require.NoError(t, err)
			assert.Len(t, template.Manifest, depth)
			continue
		}
		require.ErrorContains(t, err, says)
		var refused *sandbox.PathError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, name, refused.Path)
	}
}

// TestHowLargeAConfigurationIs: each file, and all together.
func TestHowLargeAConfigurationIs(t *testing.T) {
	t.Parallel()
	sized := func(sizes ...int64) error {
		d := newDir(t, nil)
		for i, size := range sizes {
			name := fmt.Sprintf("%d.md", i)
			d.put(name, "", 0o644)
			require.NoError(t, os.Truncate(d.at(name), size))
		}
		_, err := sandbox.ReadOverlay(t.Context(), "candidate", d.path, config{})
		return err
	}
	const mb = 1 << 20
	_, err := sandbox.ReadOverlay(t.Context(), "candidate", newDir(t, nil).at("none"), config{})
	require.ErrorContains(t, err, "open the candidate: ")
	require.NoError(t, sized(60*mb, 4*mb))
	require.ErrorContains(t, sized(60*mb, 4*mb, 1), "makes it larger than 67108864 bytes")
}

// TestOverlaysRemove the files that the other configuration has alone, with the
// directories that they leave empty; nothing else of a fixture.
func TestOverlaysRemove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fixture map[string]string // "-> x" is a link
		others  string
		left    map[string]string
	}{
		"the only one of its directories": {
			map[string]string{".claude/a/b/c": "x", "b": "x"}, ".claude/a/b/c", map[string]string{"b": "x"},
		},
		"a directory of that name": {map[string]string{"A.md/own": "x"}, "A.md", map[string]string{"A.md/own": "x"}},
		"a link of that name": {
			map[string]string{"A.md": "-> own", "own": "x"}, "A.md", map[string]string{"own": "x"},
		},
		"a link on the way": {
			map[string]string{".claude": "-> own", "own/a": "x"},
			".claude/a",
			map[string]string{".claude": "-> own", "own/a": "x"},
		},
		"a file on the way": {map[string]string{".claude": "x"}, ".claude/a", map[string]string{".claude": "x"}},
	} {
		fixture := newDir(t, nil)
		for at, text := range c.fixture {
			if target, is := strings.CutPrefix(text, "-> "); is {
				fixture.link(target, at)
			} else {
				fixture.put(at, text, 0o644)
			}
		}
		mine, others := overlay(t, newDir(t, nil)), newDir(t, map[string]string{c.others: "x"})
		theirs, err := sandbox.ReadOverlay(t.Context(), "side", others.path, anything{})
		require.NoError(t, err)
		mine.Against(theirs)
		in, _, err := prepare(t, fixture, mine)
		require.NoError(t, err)
		assert.Equal(t, c.left, in.has(), name)
	}
}
