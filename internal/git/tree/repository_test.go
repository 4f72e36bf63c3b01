package tree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/golden"
)

// cloned is a clone of f made with the given options.
func (f *fixture) cloned(options ...string) *fixture {
	f.t.Helper()
	clone := &fixture{t: f.t, dir: filepath.Join(f.t.TempDir(), "clone")}
	f.git("config", "uploadpack.allowFilter", "true")
	f.git("config", "uploadpack.allowAnySHA1InWant", "true")
	f.git(append(append([]string{"clone", "--quiet"}, options...), "file://"+f.dir, clone.dir)...)
	clone.open()
	return clone
}

// TestTreesThatAreComparedHaveOneVersion: what git says of a candidate's tree is what it
// says of the incumbent's, but for the files.
func TestTreesThatAreComparedHaveOneVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	f.git("tag", "--annotate", "--message", "one", "v1")
	f.git("commit", "--quiet", "--allow-empty", "--message", "later")
	incumbent := f.build(tree.Options{Head: "HEAD"})
	e := edit{t, incumbent.Dir}
	e.put("a.txt", "2\n")
	e.put("b.txt", "new\n")
	id := f.candidate(incumbent)
	candidate, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), id, filepath.Join(t.TempDir(), "tree"),
		tree.Options{Head: "HEAD"})
	require.NoError(t, err)
	const version = "git describe --dirty; git rev-parse HEAD; git log --format='%H %ct %an %s'; git status --porcelain"
	first, second := f.build(tree.Options{Head: "HEAD"}), edit{t, candidate.Dir}
	assert.Equal(t, edit{t, first.Dir}.shell(version), second.shell(version))
	assert.Regexp(t, "^v1-1-g[0-9a-f]+\n", second.shell(version))
	assert.Equal(t, "a.txt\nb.txt\n", second.shell("git ls-files; git diff HEAD"))
	assert.Equal(t, "refs/tags/v1", f.git("for-each-ref", "--format=%(refname)", "refs/tags", "refs/replace"),
		"the repository has nothing of it")
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	b := &tree.Builder{Repo: f.repo}
	run := t.TempDir()
	_, err := b.Build(t.Context(), "HEAD", run, tree.Options{})
	require.ErrorIs(t, err, os.ErrExist)
	assert.DirExists(t, run)
	_, err = b.Build(t.Context(), "no-such-commit", filepath.Join(run, "t"), tree.Options{})
	require.ErrorContains(t, err, "no-such-commit")
	_, err = b.Build(t.Context(), "HEAD", filepath.Join(run, "t"), tree.Options{Head: "HEAD^{tree}"})
	require.ErrorContains(t, err, "HEAD^{tree} is no commit of the")
	entries := must(os.ReadDir(run))
	assert.Empty(t, entries, "what failed leaves nothing")
}

// TestGitInTheTree: in every kind of repository an agent finds a clean tree
// with its history, and its change becomes a tree object.
func TestGitInTheTree(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "1\n", "dir/b.txt": "1\n", "crlf.txt": "1\n2\n",
		".gitattributes": "crlf.txt text eol=crlf\n*.id ident\n", "x.id": "$Id$\n", "dir/ex[cl] ude/c": "1\n",
	}
	configured := func(args ...string) func(*fixture) *fixture {
		return func(f *fixture) *fixture { f.git(args...); return f }
	}
	cloned := func(options ...string) func(*fixture) *fixture {
		return func(f *fixture) *fixture { return f.cloned(options...) }
	}
	for name, make := range map[string]func(*fixture) *fixture{
		"no file modes":    configured("config", "core.fileMode", "false"),
		"automatic crlf":   configured("config", "core.autocrlf", "true"),
		"packed":           configured("gc", "--quiet"),
		"depth 1":          cloned("--depth=1"),
		"sparse":           cloned("--sparse"),
		"without blobs":    cloned("--filter=blob:none", "--no-checkout"),
		"without trees":    cloned("--filter=tree:0", "--no-checkout"),
		"all of it":        cloned("--depth=1", "--filter=blob:none", "--sparse"),
		"borrowed objects": cloned("--shared"),
		"linked work tree": func(f *fixture) *fixture {
			linked := &fixture{t: f.t, dir: filepath.Join(f.t.TempDir(), "linked")}
			f.git("worktree", "add", "--quiet", linked.dir)
			linked.open()
			return linked
		},
		"in an odd place, with SHA-256": func(f *fixture) *fixture {
			odd := &fixture{t: f.t, dir: filepath.Join(f.t.TempDir(), "sp ace \"quote\" #x")}
			require.NoError(f.t, os.MkdirAll(odd.dir, 0o700))
			odd.start(files, "--object-format=sha256")
			odd.git("commit", "--quiet", "--allow-empty", "--message", "second")
			return odd
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := newFixture(t, files)
			base.git("commit", "--quiet", "--allow-empty", "--message", "second")
			f := make(base)
			built := f.build(tree.Options{Head: "HEAD"})
			e := edit{t, built.Dir}
			assert.Empty(t, e.shell("git status --porcelain"))
			assert.Contains(t, e.shell("git log --oneline"), "second")
			assert.Empty(t, e.shell("git diff; git branch --list '[a-z]*'; git remote; git tag"))
			assert.Empty(t, f.scan(built))
			e.put("a.txt", "2\n")
			assert.Equal(t, " M a.txt\n", e.shell("git status --porcelain"))
			assert.Contains(t, e.shell("git diff"), "+2")
			e.shell("git add -A; git commit -q -m mine; git stash list")
			assert.Equal(t, "a.txt modified", told(f.scan(built)))
			assert.Equal(t, "2", f.git("show", f.candidate(built)+":a.txt"))
		})
	}
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	for _, name := range []string{"filled", "gone", "file"} {
		f.git("update-index", "--add", "--cacheinfo", "160000,"+f.git("rev-parse", "HEAD")+","+name)
	}
	f.git("commit", "--quiet", "--message", "modules")
	built := f.build(tree.Options{Head: "HEAD"})
	e := edit{t, built.Dir}
	e.put("filled/.git", "gitdir: /")
	e.put("filled/x", "x")
	e.drop("gone")
	e.put("a.txt", "2\n")
	changes := f.scan(built)
	assert.Equal(t, "a.txt modified", told(changes))
	f.agrees(built, changes)
	e.drop("file")
	e.put("file", "x")
	golden.Row(t, "a.txt modified, file is", told(f.scan(built)))
}

// TestShare: what the user ignores is copied, never linked, and what is tracked is as in the commit.
func TestShare(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{
		"a.txt": "1\n", ".gitignore": "/cache\n/out/*\n/vendor\n/store x*\n", "store x*/tracked": "1\n",
	}, "store x*/tracked")
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(f.dir, "vendor")))
	f.git("add", "--force", "vendor")
	f.git("rm", "--quiet", "--cached", "store x*/tracked")
	f.git("commit", "--quiet", "--message", "a tracked link, and a file that no longer is")
	for name, text := range map[string]string{
		"store x*/tracked": "of the user's\n", "out/sub/made": "made\n", "store x*/y": "y\n",
		".git/info/exclude": "/venv\n", "venv/x": "x\n",
	} {
		f.write(f.dir, name, text)
	}
	f.write(outside, "lib/x", "x\n")
	require.NoError(t, os.Symlink(filepath.Join(outside, "lib"), filepath.Join(f.dir, "cache")))
	require.NoError(t, os.Symlink("made", filepath.Join(f.dir, "out/sub/link")))
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(f.dir, "out/pipe")).Run())
	before, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD~1", filepath.Join(t.TempDir(), "t"),
		tree.Options{Share: []string{"store x*"}})
	require.NoError(t, err)
	assert.Equal(t, "1\n", f.read(before.Dir, "store x*/tracked"))
	assert.Equal(t, "y\n", f.read(before.Dir, "store x*/y"))
	built := f.build(tree.Options{Head: "HEAD", Share: []string{"cache", "./out/sub/", "out/pipe", "store x*", "venv"}})
	e := edit{t, built.Dir}
	assert.Equal(t, "made\n", f.read(built.Dir, "out/sub/link"))
	e.put("cache/x", "changed\n")
	assert.Equal(t, "x\n", f.read(outside, "lib/x"))
	assert.Empty(t, e.shell("git status --porcelain"))
	assert.Empty(t, f.scan(built))
	for _, path := range []string{"vendor/lib", "a.txt", "../x", "build"} {
		_, err := (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD", filepath.Join(t.TempDir(), "t"),
			tree.Options{Share: []string{path}})
		require.Error(t, err, path)
	}
}
