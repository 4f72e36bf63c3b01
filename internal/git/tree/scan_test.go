//go:build unix

package tree_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
)

func TestScan(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "a\n", "dir/b.txt": "b\n", "dir/deep/c.txt": "c\n", "empty": "", "out/forced.o": "f\n",
		".gitignore":     "out/\n*.log\n/cache/*\n!/cache/keep\n",
		"dir/.gitignore": "local\n!kept.log\n", "cache/keep": "k\n",
	}
	for name, c := range map[string]struct {
		change func(edit)
		want   map[string]string
	}{
		"deleted":           {func(e edit) { e.drop("a.txt") }, map[string]string{"a.txt": "deleted"}},
		"deleted directory": {func(e edit) { e.drop("dir/deep") }, map[string]string{"dir/deep/c.txt": "deleted"}},
		"emptied":           {func(e edit) { e.put("a.txt", "") }, map[string]string{"a.txt": "modified"}},
		"new empty file":    {func(e edit) { e.put("new", "") }, map[string]string{"new": "added"}},
		"new empty directory": {
			func(e edit) { require.NoError(e, os.Mkdir(e.path("new"), 0o755)) },
			map[string]string{},
		},
		"renamed": {
			func(e edit) { e.move("a.txt", "z.txt") },
			map[string]string{"a.txt": "deleted", "z.txt": "added"},
		},
		"renamed in case only": {
			func(e edit) { e.move("a.txt", "A.txt") },
			map[string]string{"a.txt": "deleted", "A.txt": "added"},
		},
		"executable": {
			func(e edit) { require.NoError(e, os.Chmod(e.path("a.txt"), 0o700)) },
			map[string]string{"a.txt": "mode changed"},
		},
		"other bits of the mode": {
			func(e edit) { require.NoError(e, os.Chmod(e.path("a.txt"), 0o664)) },
			map[string]string{},
		},
		"file becomes directory": {
			func(e edit) { e.drop("a.txt"); e.put("a.txt/x", "x\n") },
			map[string]string{"a.txt": "deleted", "a.txt/x": "added"},
		},
		"directory becomes file": {
			func(e edit) { e.drop("dir/deep"); e.put("dir/deep", "x\n") },
			map[string]string{"dir/deep": "added", "dir/deep/c.txt": "deleted"},
		},
		"directory becomes link": {
			func(e edit) { e.move("dir/deep", "deep"); e.link("../deep", "dir/deep") },
			map[string]string{"dir/deep": "added", "dir/deep/c.txt": "deleted", "deep/c.txt": "added"},
		},
		"file becomes link": {
			func(e edit) { e.drop("a.txt"); e.link("empty", "a.txt") },
			map[string]string{"a.txt": "type changed"},
		},
		"written by another name": {func(e edit) {
			require.NoError(e, os.Link(e.path("a.txt"), e.path("same")))
		}, map[string]string{"same": "added"}},
		"ignored files": {func(e edit) {
			e.put("x.log", "")
			e.put("dir/local", "")
			e.put("new/x.log", "")
			e.put("cache/x", "")
		}, map[string]string{}},
		"ignored directory": {
			func(e edit) { e.put("out/new.o", ""); e.put("cache/sub/x", "") },
			map[string]string{},
		},
		"tracked where all is": {
			func(e edit) { e.put("out/forced.o", "2\n") },
			map[string]string{"out/forced.o": "modified"},
		},
		"not ignored after all": {func(e edit) {
			e.put("dir/kept.log", "k\n")
			e.drop("cache/keep")
			e.put("cache/keep", "2\n")
		}, map[string]string{"dir/kept.log": "added", "cache/keep": "modified"}},
		"kept name of a directory": {
			func(e edit) { e.drop("cache"); e.put("cache/keep/x", "k\n") },
			map[string]string{"cache/keep": "deleted", "cache/keep/x": "added"},
		},
		"rules of the agent's own": {func(e edit) {
			e.put(".gitignore", "*\n")
			e.put("dir/deep/.gitignore", "*\n")
			e.put("new", "")
		}, map[string]string{".gitignore": "modified", "dir/deep/.gitignore": "added", "new": "added"}},
		"rules taken away": {
			func(e edit) { e.drop(".gitignore"); e.put("x.log", "") },
			map[string]string{".gitignore": "deleted"},
		},
		"repository in an ignored": {
			func(e edit) { e.put("out/lib/.git/HEAD", "x"); e.put("out/lib/a", "") },
			map[string]string{},
		},
		"new repository": {
			func(e edit) { e.put("lib/.git/HEAD", "x"); e.put("lib/a", "") },
			map[string]string{"lib": "is a repository inside the repository"},
		},
		"new repository by a file": {
			func(e edit) { e.put("lib/.git", "gitdir: /x"); e.put("lib/a", "") },
			map[string]string{"lib": "is a repository inside the repository"},
		},
		"repository around the old": {
			func(e edit) { e.put("dir/.git/HEAD", "x"); e.put("dir/b.txt", "2\n") },
			map[string]string{"dir": "is a repository inside the repository", "dir/b.txt": "modified"},
		},
		"git by another name": {
			func(e edit) { e.put(".GIT/config", ""); e.put("git~1", "") },
			map[string]string{
				".GIT":  "has a name that some systems take for .git",
				"git~1": "has a name that some systems take for .git",
			},
		},
		"named pipe": {
			func(e edit) { e.pipe("p") },
			map[string]string{"p": "is no regular file but a named pipe"},
		},
		"pipe in a file's place": {
			func(e edit) { e.drop("a.txt"); e.pipe("a.txt") },
			map[string]string{"a.txt": "is no regular file but a named pipe"},
		},
		"ignored pipe": {func(e edit) { e.pipe("p.log") }, map[string]string{}},
		"large and hollow": {func(e edit) {
			e.put("big", "")
			require.NoError(e, os.Truncate(e.path("big"), 1<<40))
		}, map[string]string{"big": "has 1099511627776 bytes, more than 10485760"}},
		"as large as may be": {func(e edit) {
			e.put("big", "")
			require.NoError(e, os.Truncate(e.path("big"), 10<<20))
		}, map[string]string{"big": "added"}},
		"the attribute file a link": {
			func(e edit) { e.link("a.txt", ".gitattributes") },
			map[string]string{".gitattributes": "added"},
		},
		"the module file a link": {
			func(e edit) { e.link("a.txt", ".gitmodules") },
			map[string]string{".gitmodules": "cannot be stored: git does not take it"},
		},
		"git's own copy, made new": {
			func(e edit) { e.drop(".git"); e.put(".git", "gitdir: /") },
			map[string]string{},
		},
		"git's own copy, taken away": {func(e edit) { e.drop(".git") }, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, files, "out/forced.o")
			built := f.build(tree.Options{Head: "HEAD"})
			c.change(edit{t, built.Dir})
			changes := f.scan(built)
			assert.Equal(t, c.want, told(changes))
			f.agrees(built, changes)
		})
	}
}

func TestNamesOfAllKinds(t *testing.T) {
	t.Parallel()
	names := []string{
		"new\nline", `quo"te`, `back\slash`, "latin\xe9", ":(exclude)x", "-dash", " space ", "glob*[a]?",
		"#hash", "!bang", "tab\t", "emoji🤖", "dir\n/\xff\xfe", "a:b",
	}
	files := map[string]string{}
	for _, name := range names {
		files["old/"+name] = "1\n"
		files["gone/"+name] = "1\n"
	}
	f := newFixture(t, files)
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Empty(t, f.scan(built))
	want := map[string]string{}
	e := edit{t, built.Dir}
	for _, name := range names {
		e.put("old/"+name, "2\n")
		e.put(name, "3\n")
		e.drop("gone/" + name)
		want["old/"+name], want[name], want["gone/"+name] = "modified", "added", "deleted"
	}
	changes := f.scan(built)
	assert.Equal(t, want, told(changes))
	f.agrees(built, changes)
}

func (e edit) pipe(name string) {
	require.NoError(e, exec.CommandContext(e.Context(), "mkfifo", e.path(name)).Run())
}

func TestSocketsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n"})
	built := f.build(tree.Options{})
	// The name of a socket is short; the way there need not be.
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // the test's own directory has too long a name
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	require.NoError(t, err)
	defer func() { _ = socket.Close() }()
	require.NoError(t, os.Rename(filepath.Join(dir, "s"), filepath.Join(built.Dir, "s")))
	assert.Equal(t, map[string]string{"s": "is no regular file but a socket"}, told(f.scan(built)))
}

func TestAllFilesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	for i := range 11 {
		e.put(fmt.Sprint(i), "")
		require.NoError(t, os.Truncate(e.path(fmt.Sprint(i)), 10<<20))
	}
	refused := 0
	for _, c := range f.scan(built) {
		if c.Refused != "" {
			refused++
			assert.Contains(t, c.Refused, "brings the changed files over")
		}
	}
	assert.Equal(t, 1, refused)
}

func TestDeepDirectoriesAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", ".gitignore": "ignored\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	deep := strings.Repeat("d/", 300)
	e.put(deep+"x", "x")
	e.put("ignored/"+deep+"x", "x")
	changes := f.scan(built)
	require.Len(t, changes, 1)
	assert.Contains(t, changes[0].Refused, "is nested deeper than 200 directories")
	require.NoError(t, built.Remove())
}

func TestScanAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.txt", "2\n")
	first := f.scan(built)
	e.put("b.txt", "2\n")
	second := f.scan(built)
	assert.Len(t, first, 1)
	assert.Len(t, second, 2)
	id, err := built.Candidate(t.Context(), second)
	require.NoError(t, err)
	assert.Equal(t, "2", f.git("show", id+":b.txt"), "what the last scan found")
	_, err = built.Candidate(t.Context(), second)
	require.ErrorContains(t, err, "not scanned")
}
