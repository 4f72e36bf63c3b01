package git_test

import (
	"bytes"
	"cmp"
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

func TestTemporaryFilesAreWhereTheyShall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	files := map[string]*git.File{
		"b b": {Data: []byte("1")},
		"c c": {Data: []byte("2")},
	} // Such names are git's own index's.
	f.repo.Temp = filepath.Join(t.TempDir(), "none")
	_, err := f.repo.WriteFiles(t.Context(), "HEAD", files)
	require.ErrorIs(t, err, fs.ErrNotExist)
	dir := t.TempDir()
	f.repo.Temp = dir
	_, err = f.repo.WriteFiles(t.Context(), "HEAD", files)
	require.NoError(t, err)
	left := must(os.ReadDir(dir))
	assert.Empty(t, left)
}

// TestFilesComeBackWhateverTheirName, size and mode, whatever the repository makes of files.
func TestFilesComeBackWhateverTheirName(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		assert.Equal(t, format, f.repo.ObjectFormat)
		f.Git("config", "core.autocrlf", "true")
		f.Git("config", "core.bigFileThreshold", "100k")
		f.write(".gitattributes", "* text eol=crlf ident\n")
		large := bytes.Repeat([]byte("a\r\nb $Id$\n"), 30_000) // larger ones are written one by one
		files := map[string]*git.File{
			"a": nil, "not/there": nil, "script": {Mode: git.ModeExecutable, Data: []byte("#!/bin/sh\n")},
			"link": {Mode: git.ModeSymlink, Data: []byte("script")}, "nothing": {},
			"small": {Data: large[:1000]}, "edge": {Data: large[:256<<10]}, "d/above": {Data: large[:256<<10+1]},
			"d/large": {Data: large, Mode: git.ModeExecutable},
		}
		for i, path := range []string{
			"with space", "dir/new\nline", `quo"te`, "back\\slash", "tab\tbed", "latin-\xe9", "ünï/cödé", "-dash",
			":(glob)*", "a:b", " lead", "#hash", "~", "nul missing\n",
		} {
			files[path] = &git.File{Data: []byte(strings.Repeat(path+"\r\n\x00", i))}
		}
		var tree string
		for range 2 { // the second time they are there
			again := must(f.repo.WriteFiles(t.Context(), "HEAD", files))
			assert.Contains(t, again, tree)
			tree = again
		}
		entries := must(f.repo.LsTree(t.Context(), tree))
		require.Len(t, entries, len(files)-2)
		for _, e := range entries {
			want := files[e.Path]
			assert.Equal(t, cmp.Or(want.Mode, git.ModeFile), e.Mode, "%q", e.Path)
			objects := must(f.repo.Cat(t.Context(), tree+":"+e.Path))
			require.True(t, bytes.Equal(want.Data, objects[0].Data), "%q", e.Path)
			assert.Equal(t, e.ID, objects[0].ID)
			found := must(f.repo.LsFiles(t.Context(), tree, e.Path, "none"))
			require.Len(t, found, 1)
			assert.Len(t, want.Data, int(found[0].Size))
		}
		many := slices.Repeat([]string{strings.Repeat("long/", 45)}, 10_000) // more than one command line takes
		require.Len(t, must(f.repo.LsFiles(t.Context(), tree, append(many, entries[0].Path)...)), 1)
		f.Git("fsck", "--strict", "--no-dangling")
		assert.Equal(t, "?? .gitattributes", f.Git("status", "--porcelain"), "the index was not used")
	}
}

func TestWriteFilesReplacesFileAndDirectory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	x := &git.File{Data: []byte("x")}
	tree := must(f.repo.WriteFiles(t.Context(), "HEAD", map[string]*git.File{"a/b": x, "c/d": x}))
	tree = must(f.repo.WriteFiles(t.Context(), tree, map[string]*git.File{"c": x}))
	assert.Equal(t, "a/b\nc", f.Git("ls-tree", "-r", "--name-only", tree))
	for _, path := range []string{
		".git/hooks/x", "../x", "a/../../x", "/etc/passwd", "", "x\x00y", "sub/.GIT/config",
		"./x", "x//y", ".g\u200cit/config",
	} {
		_, err := f.repo.WriteFiles(t.Context(), "HEAD", map[string]*git.File{path: x})
		assert.Error(t, err, "%q", path)
	}
}

func TestCat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	names := []string{"HEAD:none", "HEAD:a", "HEAD:new\nline", strings.Repeat("0", 40), "HEAD", "HEAD:"}
	objects := must(f.repo.Cat(t.Context(), names...))
	var types []string
	for _, o := range objects {
		types = append(types, o.Type)
	}
	assert.Equal(t, []string{"", "blob", "", "", "commit", "tree"}, types)
	assert.True(t, objects[0].Missing())
	for _, name := range []string{"", "a\x00b"} {
		_, err := f.repo.Cat(t.Context(), name)
		require.Error(t, err)
	}
	none := must(f.repo.Cat(t.Context()))
	assert.Empty(t, none)

	three := must(f.repo.HashObjects(t.Context(), nil, []byte("x"), []byte("xx")))
	var ids []string
	for i := range 1500 {
		ids = append(ids, three[i%3])
	}
	ids[700] = names[3]
	for i, o := range must(f.repo.Cat(t.Context(), ids...)) {
		require.Equal(t, i == 700, o.Missing())
		require.True(t, i == 700 || string(o.Data) == strings.Repeat("x", i%3))
	}
}
