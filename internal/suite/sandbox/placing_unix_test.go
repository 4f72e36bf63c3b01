//go:build unix

package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
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
		"beside the configuration":  {"sub/pipe", `fixture: "sub/pipe" is neither`, ""},
		"where none is looked for":  {".claude/a/A.md", `fixture: ".claude/a/A.md" is neither`, ""},
		"in a git directory":        {".git/pipe", "", ""},
		"in another git directory":  {"sub/.GIT/pipe", "", ""},
		"of the name of such a one": {".git", "", ""},
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

// TestEveryCopyIsItsOwn: two names of one file in a fixture are two files in a sandbox.
func TestEveryCopyIsItsOwn(t *testing.T) {
	t.Parallel()
	fixture := newDir(t, map[string]string{"a": "x"})
	require.NoError(t, os.Link(fixture.at("a"), fixture.at("b")))
	_, in := open(t, fixture, nil)
	require.NoError(t, os.WriteFile(in.at("a"), []byte("changed"), 0o600))
	assert.Equal(t, "x", in.has()["b"])
	assert.Equal(t, map[string]string{"a": "x", "b": "x"}, fixture.has())
}

func TestADirectoryThatIsTooDeep(t *testing.T) {
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
	require.NoError(t, sized(10*mb))
	require.ErrorContains(t, sized(10*mb+1), `"0.md" has 10485761 bytes, more than 10485760`)
	require.ErrorContains(t, sized(10*mb, 10*mb, 10*mb, 10*mb, 10*mb, 10*mb, 4*mb, 1),
		`candidate: "7.md" makes the configuration larger than 67108864 bytes`)
}

// TestWhatAnOverlayRemoves: the files that the other configuration has alone go, with the
// directories that they leave empty; nothing else of a fixture does.
func TestWhatAnOverlayRemoves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fixture      map[string]string // "-> x" is a link, "/" a directory
		mine, others []string
		left         string
	}{
		"a file":                {map[string]string{"A.md": "x", "b": "x"}, nil, []string{"A.md"}, "b"},
		"that both have":        {map[string]string{"A.md": "x"}, []string{"A.md"}, []string{"A.md"}, "A.md"},
		"that it does not have": {map[string]string{"b": "x"}, nil, []string{"A.md"}, "b"},
		"the only one of its directories": {
			map[string]string{".claude/a/b/c": "x", "b": "x"},
			nil,
			[]string{".claude/a/b/c"},
			"b",
		},
		"one of several": {
			map[string]string{".claude/a/b/c": "x", ".claude/a/d": "x"},
			nil,
			[]string{".claude/a/b/c"},
			".claude/a/d",
		},
		"beside an empty directory": {
			map[string]string{".claude/a": "x", ".claude/e": "/"},
			nil,
			[]string{".claude/a"},
			"",
		},
		"a directory of that name": {map[string]string{"A.md/own": "x"}, nil, []string{"A.md"}, "A.md/own"},
		"a link of that name": {
			map[string]string{"A.md": "-> own", "own": "x"},
			nil,
			[]string{"A.md"},
			"own",
		},
		"a link on the way": {
			map[string]string{".claude": "-> own", "own/a": "x"},
			nil,
			[]string{".claude/a"},
			".claude own/a",
		},
		"a file on the way": {map[string]string{".claude": "x"}, nil, []string{".claude/a"}, ".claude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := newDir(t, nil)
			for at, text := range c.fixture {
				switch target, is := strings.CutPrefix(text, "-> "); {
				case is:
					fixture.link(target, at)
				case text == "/":
					require.NoError(t, os.MkdirAll(fixture.at(at), 0o755))
				default:
					fixture.put(at, text, 0o644)
				}
			}
			side := func(names []string) *sandbox.Overlay {
				d := newDir(t, nil)
				for _, at := range names {
					d.put(at, "of a side", 0o644)
				}
				o, err := sandbox.ReadOverlay(t.Context(), "side", d.path, anything{})
				require.NoError(t, err)
				return o
			}
			mine, others := side(c.mine), side(c.others)
			mine.Against(others)
			in, template, err := prepare(t, fixture, mine)
			require.NoError(t, err)
			var left []string
			for _, e := range template.Manifest {
				if !e.Mode.IsDir() {
					left = append(left, e.Path)
				}
			}
			assert.Equal(t, c.left, strings.Join(left, " "))
			if name == "beside an empty directory" {
				assert.DirExists(t, in.at(".claude/e"))
			}
		})
	}
}

// TestWhatEachSideLacks is noted on both sides at once, whichever is asked, and again
// without adding to it.
func TestWhatEachSideLacks(t *testing.T) {
	t.Parallel()
	one, two := newDir(t, map[string]string{"A.md": "", "B.md": "", ".claude/x": ""}),
		newDir(t, map[string]string{"B.md": "other", "C.md": ""})
	one.link("B.md", "D.md")
	a, b := overlay(t, one), overlay(t, two)
	for range 2 {
		a.Against(b)
		assert.Equal(t, []string{"C.md"}, a.Absent)
		assert.Equal(t, []string{".claude/x", "A.md", "D.md"}, b.Absent)
	}
	b.Against(a)
	assert.Equal(t, []string{"C.md"}, a.Absent)
	a.Against(a)
	assert.Empty(t, a.Absent, "nothing is lacked beside itself")
}

// walker follows a link as a kernel does, one name after the other, and says whether it is
// ever above the directory that it began in.
type walker struct {
	t     *testing.T
	root  string
	hops  int
	leave bool
}

// walk goes on from a path below the root; ok is false where nothing is.
func (w *walker) walk(from, target string) (at string, ok bool) {
	at = from
	for _, name := range strings.Split(target, "/") {
		if info, err := os.Lstat(filepath.Join(w.root, at)); err != nil || !info.IsDir() {
			return "", false
		}
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && at == ".":
			w.leave = true
			return "", false
		case name == "..":
			at = path.Dir(at)
			continue
		}
		info, err := os.Lstat(filepath.Join(w.root, at, name))
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = path.Join(at, name)
			continue
		}
		if w.hops++; w.hops > 40 {
			w.leave = true
			return "", false
		}
		to, err := os.Readlink(filepath.Join(w.root, at, name))
		require.NoError(w.t, err)
		if at, ok = w.walk(at, to); !ok {
			return "", false
		}
	}
	return at, true
}
