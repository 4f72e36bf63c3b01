package git_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

func TestCatMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	objects, err := f.repo.Cat(t.Context(), "HEAD:none", "HEAD:a", "HEAD:new\nline", strings.Repeat("0", 40),
		"HEAD", "HEAD:")
	require.NoError(t, err)
	var types []string
	for _, o := range objects {
		types = append(types, o.Type)
	}
	assert.Equal(t, []string{"", "blob", "", "", "commit", "tree"}, types)
	assert.True(t, objects[0].Missing())
	_, err = f.repo.Cat(t.Context(), "")
	require.Error(t, err)
	_, err = f.repo.Cat(t.Context(), "a\x00b")
	require.Error(t, err)
	none, err := f.repo.Cat(t.Context())
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestCatEach(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	three, err := f.repo.HashObjects(t.Context(), nil, []byte("x"), []byte("xx"))
	require.NoError(t, err)
	for i := range 1500 { // more than are asked for at once
		ids = append(ids, three[i%3])
	}
	ids[700] = strings.Repeat("0", 40)
	seen := 0
	require.NoError(t, f.repo.CatEach(t.Context(), ids, func(i int, o git.Object) error {
		assert.Equal(t, seen, i)
		seen++
		assert.Equal(t, i == 700, o.Missing())
		if i != 700 {
			assert.Equal(t, strings.Repeat("x", i%3), string(o.Data))
		}
		return nil
	}))
	assert.Len(t, ids, seen)

	enough := errors.New("enough")
	require.ErrorIs(t, f.repo.CatEach(t.Context(), ids, func(i int, _ git.Object) error {
		if i == 5 {
			return enough
		}
		return nil
	}), enough)
	var names []string
	require.NoError(t, f.repo.CatEach(t.Context(), []string{"HEAD"}, func(_ int, o git.Object) error {
		names = append(names, o.Type)
		return nil
	}))
	assert.Equal(t, []string{"commit"}, names)
}

func TestWriteFilesRefusesHostilePaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, path := range []string{
		".git/hooks/x", "../x", "a/../../x", "/etc/passwd", "", "x\x00y", "sub/.GIT/config",
		"./x", "x//y", ".g\u200cit/config",
	} {
		_, err := f.repo.WriteFiles(t.Context(), "HEAD", map[string]*git.File{path: {Data: []byte("x")}})
		assert.Error(t, err, "%q", path)
	}
}

func TestWriteFilesReplacesFileAndDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree, err := f.repo.WriteFiles(t.Context(), "HEAD",
		map[string]*git.File{"a/b": {Data: []byte("x")}, "c/d": {Data: []byte("y")}})
	require.NoError(t, err)
	tree, err = f.repo.WriteFiles(t.Context(), tree, map[string]*git.File{"c": {Data: []byte("z")}})
	require.NoError(t, err)
	entries, err := f.repo.LsTree(t.Context(), tree)
	require.NoError(t, err)
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	assert.Equal(t, []string{"a/b", "c"}, paths)
}

func TestLsFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	commit := f.commit("dir/x", "12345", f.commit("b*", "12", f.head()))
	entries, err := f.repo.LsFiles(t.Context(), commit, "b*", "dir", "none", "dir/x")
	require.NoError(t, err)
	sizes := map[string]int64{}
	for _, e := range entries {
		sizes[e.Path+" "+e.Type] = e.Size
	}
	assert.Equal(t, int64(2), sizes["b* blob"])
	assert.Equal(t, int64(5), sizes["dir/x blob"])
	root, err := f.repo.LsRoot(t.Context(), commit)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(root,
		func(e git.TreeEntry) bool { return e.Path == "dir" && e.Mode == git.ModeDirectory }))
}

func TestHashObjectsKeepsBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.user("config", "core.autocrlf", "true")
	f.write(".gitattributes", "* text=auto eol=crlf\n")
	contents := [][]byte{[]byte("a\r\nb\r\n"), nil, []byte("\x00\xff"), []byte("a\r\nb\r\n")}
	ids, err := f.repo.HashObjects(t.Context(), contents...)
	require.NoError(t, err)
	objects, err := f.repo.Cat(t.Context(), ids...)
	require.NoError(t, err)
	for i, o := range objects {
		assert.Equal(t, string(contents[i]), string(o.Data))
	}
	single, err := f.repo.HashObjects(t.Context(), contents[0])
	require.NoError(t, err)
	assert.Equal(t, ids[:1], single)
}

func TestTemporaryFilesAreWhereTheyShall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	files := map[string]*git.File{
		"b b": {Data: []byte("1")},
		"c c": {Data: []byte("2")},
	} // Such names are git's own index's.
	_, err := f.repo.WithTemp(filepath.Join(t.TempDir(), "none")).WriteFiles(t.Context(), "HEAD", files)
	require.ErrorIs(t, err, fs.ErrNotExist)
	dir := t.TempDir()
	_, err = f.repo.WithTemp(dir).WriteFiles(t.Context(), "HEAD", files)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestLargeFilesAreWrittenAsTheyAre: files of a size at which each is written by itself are
// in the tree that git's own index makes of them, whatever the repository makes of files.
func TestLargeFilesAreWrittenAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--object-format=sha256"}} {
		f := newFixture(t, flags...)
		f.user("config", "core.autocrlf", "true")
		f.user("config", "core.bigFileThreshold", "100k")
		f.write(".gitattributes", "* text eol=crlf ident\n")
		large := bytes.Repeat([]byte("a\r\nb $Id$\n"), 30_000)
		files := map[string]*git.File{
			"small": {Data: large[:1000]}, "edge": {Data: large[:256<<10]}, "d/above": {Data: large[:256<<10+1]},
			"d/large": {Data: large, Mode: git.ModeExecutable},
		}
		for range 2 { // the second time they are there
			tree, err := f.repo.WriteFiles(t.Context(), "", files)
			require.NoError(t, err)
			for path, file := range files {
				found, err := f.repo.Cat(t.Context(), tree+":"+path)
				require.NoError(t, err)
				require.True(t, bytes.Equal(file.Data, found[0].Data), path)
			}
		}
		f.user("fsck", "--strict", "--no-dangling")
	}
}
