package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
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

func (f *fixture) open() {
	f.t.Helper()
	repo, err := git.Open(f.t.Context(), f.dir, os.Environ())
	require.NoError(f.t, err)
	f.repo = repo
}

// TestGitInTheTree: in every kind of repository an agent finds a clean tree
// with its history, and its change becomes a tree object.
func TestGitInTheTree(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.txt": "1\n", "dir/b.txt": "1\n", "crlf.txt": "1\n2\n",
		".gitattributes": "crlf.txt text eol=crlf\n*.id ident\n", "x.id": "$Id$\n", "dir/ex[cl] ude/c": "1\n",
	}
	for name, make := range map[string]func(*fixture) *fixture{
		"plain":          func(f *fixture) *fixture { return f },
		"no file modes":  func(f *fixture) *fixture { f.git("config", "core.fileMode", "false"); return f },
		"automatic crlf": func(f *fixture) *fixture { f.git("config", "core.autocrlf", "true"); return f },
		"depth 1":        func(f *fixture) *fixture { return f.cloned("--depth=1") },
		"sparse":         func(f *fixture) *fixture { return f.cloned("--sparse") },
		"without blobs":  func(f *fixture) *fixture { return f.cloned("--filter=blob:none", "--no-checkout") },
		"without trees":  func(f *fixture) *fixture { return f.cloned("--filter=tree:0", "--no-checkout") },
		"all of it": func(f *fixture) *fixture {
			return f.cloned("--depth=1", "--filter=blob:none", "--sparse")
		},
		"borrowed objects": func(f *fixture) *fixture { return f.cloned("--shared") },
		"packed":           func(f *fixture) *fixture { f.git("gc", "--quiet"); return f },
		"linked work tree": func(f *fixture) *fixture {
			linked := &fixture{t: f.t, dir: filepath.Join(f.t.TempDir(), "linked")}
			f.git("worktree", "add", "--quiet", linked.dir)
			linked.open()
			return linked
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
			changes := f.scan(built)
			assert.Equal(t, map[string]string{"a.txt": "modified"}, told(changes))
			f.agrees(built, changes)
		})
	}
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

func TestSHA256(t *testing.T) {
	t.Parallel()
	f := &fixture{t: t, dir: t.TempDir()}
	f.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main")
	f.write(f.dir, "a.txt", "1\n")
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", "start")
	f.open()
	built := f.build(tree.Options{Head: "HEAD"})
	e := edit{t, built.Dir}
	assert.Empty(t, e.shell("git status --porcelain; git diff HEAD"))
	e.put("a.txt", "2\n")
	e.link("a.txt", "l")
	id := f.candidate(built)
	assert.Len(t, id, 64)
	assert.Equal(t, "2", f.git("show", id+":a.txt"))
}

func TestOddPlaceOfTheRepository(t *testing.T) {
	t.Parallel()
	f := &fixture{t: t, dir: filepath.Join(t.TempDir(), "sp ace\n\"quote\" #x")}
	require.NoError(t, os.MkdirAll(f.dir, 0o700))
	f.git("init", "--quiet", "--initial-branch=main")
	f.write(f.dir, "a.txt", "1\n")
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", "start")
	f.open()
	built := f.build(tree.Options{Head: "HEAD"})
	edit{t, built.Dir}.put("a.txt", "2\n")
	assert.Equal(t, "2", f.git("show", f.candidate(built)+":a.txt"))
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
	require.ErrorContains(t, err, "HEAD^{tree} is no commit of the repository")
	entries, err := os.ReadDir(run)
	require.NoError(t, err)
	assert.Empty(t, entries, "what failed leaves nothing")
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	for _, name := range []string{"kept", "filled", "gone", "file", "link"} {
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
	assert.Equal(t, map[string]string{"a.txt": "modified"}, told(changes))
	f.agrees(built, changes)
	e.drop("file")
	e.put("file", "x")
	e.drop("link")
	e.link("a.txt", "link")
	const stays = "is a submodule, which stays as it is"
	assert.Equal(t, map[string]string{"a.txt": "modified", "file": stays, "link": stays}, told(f.scan(built)))
}

func TestShareStaysInTheTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{
		"a.txt": "1\n", ".gitignore": "/cache\n/out/*\n/vendor\n/store x*\n",
		"out/tracked": "1\n",
	}, "out/tracked")
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(f.dir, "vendor")))
	f.git("add", "--force", "vendor")
	f.git("commit", "--quiet", "--message", "a tracked link")
	f.write(f.dir, "out/tracked", "of the user's\n")
	f.write(f.dir, "out/sub/made", "made\n")
	f.write(f.dir, "store x*/y", "y\n")
	f.write(f.dir, ".git/info/exclude", "/venv\n")
	f.write(f.dir, "venv/x", "x\n")
	f.write(outside, "lib/x", "x\n")
	require.NoError(t, os.Symlink(filepath.Join(outside, "lib"), filepath.Join(f.dir, "cache")))
	require.NoError(t, os.Symlink("made", filepath.Join(f.dir, "out/sub/link")))
	built := f.build(tree.Options{Head: "HEAD", Share: []string{"cache", "./out/sub/", "store x*", "venv"}})
	e := edit{t, built.Dir}
	assert.Equal(t, "1\n", f.read(built.Dir, "out/tracked"))
	assert.Equal(t, "made\n", f.read(built.Dir, "out/sub/link"))
	info, err := os.Lstat(e.path("cache"))
	require.NoError(t, err)
	assert.True(t, info.IsDir(), "a copy, not a way out of the tree")
	e.put("cache/x", "changed\n")
	assert.Equal(t, "x\n", f.read(outside, "lib/x"))
	assert.Empty(t, e.shell("git status --porcelain"))
	assert.Empty(t, f.scan(built))
	_, err = (&tree.Builder{Repo: f.repo}).Build(t.Context(), "HEAD", filepath.Join(t.TempDir(), "t"),
		tree.Options{Share: []string{"vendor/lib"}})
	require.Error(t, err)
}
