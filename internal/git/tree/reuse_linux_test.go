package tree_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/org/autoloop/internal/git/tree"
)

// seen is all that can be read of a tree: names, modes, links and contents, but for the
// repository in it, which is asked through git.
func (f *fixture) seen(dir string) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	require.NoError(f.t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(f.t, err)
		name := must(filepath.Rel(dir, path))
		info := must(entry.Info())
		attributes := make([]byte, 100)
		n, _ := unix.Llistxattr(path, attributes)
		text := info.Mode().String() + " " + string(attributes[:max(n, 0)])
		switch {
		case name == ".git":
			return fs.SkipDir
		case info.Mode()&fs.ModeSymlink != 0:
			link := must(os.Readlink(path))
			text += " " + link
		case info.Mode().IsRegular():
			text += " " + f.read(dir, name)
		}
		all[name] = text
		return nil
	}))
	all["git status"] = f.git("-C", dir, "status", "--porcelain", "--ignored")
	all["git describe"] = f.git("-C", dir, "log", "--format=%H %D")
	return all
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info := must(os.Lstat(path))
	stat, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	return stat.Ino
}

// TestReuse: whatever was done to a tree, the next one that is made of it is like a new one,
// of the same commit or of another.
func TestReuse(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "one\n", "b.txt": "two\n", "dir/c.txt": "three\n", "dir/sub/d.txt": "four\n", "other/e.txt": "five\n",
		".gitignore": "cache\n*.o\n", "crlf.txt": "x\n", ".gitattributes": "crlf.txt eol=crlf\n",
	}
	made := newFixture(t, files)
	require.NoError(t, os.Chmod(filepath.Join(made.dir, "b.txt"), 0o755))
	made.drop("dir/c.txt", "other/e.txt")
	made.write(made.dir, "dir", "")
	made.git("add", "--all")
	made.git("commit", "--quiet", "--message", "second")
	made.git("tag", "v2")
	anew := map[string]map[string]string{}
	for _, next := range []string{"HEAD~1", "HEAD"} {
		built, err := (&tree.Builder{Repo: made.repo}).Build(t.Context(), next, filepath.Join(t.TempDir(), "t"),
			tree.Options{Head: next})
		require.NoError(t, err)
		anew[next] = made.seen(built.Dir)
	}
	for name, use := range map[string]func(e edit){
		"nothing":        func(edit) {},
		"a changed file": func(e edit) { e.put("a.txt", "changed\n") },
		"its time put back": func(e edit) {
			info, err := os.Stat(e.path("a.txt"))
			require.NoError(e, err)
			e.put("a.txt", "ONE\n")
			require.NoError(e, os.Chtimes(e.path("a.txt"), info.ModTime(), info.ModTime()))
		},
		"a second name outside": func(e edit) {
			require.NoError(e, os.Link(e.path("a.txt"), filepath.Join(e.TempDir(), "a")))
		},
		"a mode":                   func(e edit) { require.NoError(e, os.Chmod(e.path("a.txt"), 0o755)) },
		"a link in its place":      func(e edit) { e.drop("a.txt"); e.link("b.txt", "a.txt") },
		"a directory in its place": func(e edit) { e.drop("a.txt"); e.put("a.txt/x", "x") },
		"a pipe in its place": func(e edit) {
			e.drop("a.txt")
			require.NoError(e, unix.Mkfifo(e.path("a.txt"), 0o600))
		},
		"what is not tracked": func(e edit) {
			e.put("cache/x/y", "x")
			e.put("fresh/x", "x")
			e.link("/etc", "away")
		},
		"empty directories":     func(e edit) { require.NoError(e, os.MkdirAll(e.path("dir/empty/er"), 0o700)) },
		"exchanged directories": func(e edit) { e.move("dir", "x"); e.move("other", "dir"); e.move("x", "other") },
		"closed directories": func(e edit) {
			require.NoError(e, os.Chmod(e.path("dir/sub"), 0))
			require.NoError(e, os.Chmod(e.path("dir"), 0o500))
		},
		"attributes of a directory": func(e edit) { _ = unix.Setxattr(e.path("dir"), "user.note", []byte("x"), 0) },
		"attributes of a file":      func(e edit) { _ = unix.Setxattr(e.path("a.txt"), "user.note", []byte("x"), 0) },
		"its repository": func(e edit) {
			e.put(".git/config", "[core]\n\tfsmonitor = /bin/false\n")
			e.put(".git/hooks/post-checkout", "exit 1")
			e.drop(".git/index")
		},
		"a broken index":  func(e edit) { e.put(".git/index", "DIRC") },
		"everything gone": func(e edit) { e.drop("."); require.NoError(e, os.MkdirAll(e.dir, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{t: t, dir: made.dir, repo: made.repo}
			for next := range anew {
				builder := &tree.Builder{Repo: f.repo}
				used := must(builder.Build(t.Context(), "HEAD~1", filepath.Join(t.TempDir(), "p", "t"),
					tree.Options{Head: "HEAD~1"}))
				use(edit{t, used.Dir})
				used.Release()
				dir := filepath.Join(t.TempDir(), "q", "t")
				again := must(builder.Build(t.Context(), next, dir, tree.Options{Head: next, Measured: true}))
				assert.Equal(t, anew[next], f.seen(again.Dir))
				assert.Empty(t, f.scan(again))
				assert.NoDirExists(t, used.Dir)
				again.Release()
				again.Release()
				builder.Close()
				assert.NoDirExists(t, filepath.Dir(dir))
			}
		})
	}
}

// drop takes files of the repository away.
func (f *fixture) drop(names ...string) {
	f.t.Helper()
	for _, name := range names {
		require.NoError(f.t, os.RemoveAll(filepath.Join(f.dir, name)))
	}
	for _, name := range names {
		require.NoError(f.t, os.RemoveAll(filepath.Join(f.dir, strings.SplitN(name, "/", 2)[0])))
	}
}

// TestReuseKeeps what was not touched, reads what is measured although nobody says that it
// was touched, and puts nothing of a tree into one that shares files.
func TestReuseKeeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n", ".gitignore": "lib\n"})
	f.write(f.dir, "lib/x", "x")
	builder := &tree.Builder{Repo: f.repo}
	build := func(o tree.Options) *tree.Tree {
		built := must(builder.Build(t.Context(), "HEAD", filepath.Join(t.TempDir(), "t"), o))
		return built
	}
	used := build(tree.Options{})
	first := inode(t, filepath.Join(used.Dir, "b.txt"))
	used.Release()
	used = build(tree.Options{})
	assert.Equal(t, first, inode(t, filepath.Join(used.Dir, "b.txt")))
	edit{t, used.Dir}.put("a.txt", "ONE\n")
	require.NoError(t, tree.Lie(used, "a.txt"))
	used.Release()
	used = build(tree.Options{Measured: true})
	assert.Equal(t, "one\n", f.read(used.Dir, "a.txt"))
	assert.Equal(t, first, inode(t, filepath.Join(used.Dir, "b.txt")))
	used.Release()
	shared := build(tree.Options{Share: []string{"lib"}})
	assert.NotEqual(t, first, inode(t, filepath.Join(shared.Dir, "b.txt")))
	shared.Release()
	assert.NoDirExists(t, shared.Dir)
	builder.Close()
}
