package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
)

func TestLineEndsAreTheIncumbents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{
		".gitattributes": "* text=auto eol=crlf\n", "a.txt": "1\n2\n",
		"b.txt": "1\n2\n",
	})
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Equal(t, "1\r\n2\r\n", f.read(built.Dir, "a.txt"))
	e := edit{t, built.Dir}
	e.put("b.txt", "1\n2\n")
	assert.Empty(t, f.scan(built), "other line ends, and the same file in git")
	e.put("a.txt", "1\r\n3\r\n")
	e.put("new.txt", "x\r\ny\n")
	e.put(".gitattributes", "* -text\r\n")
	id := f.candidate(built)
	assert.Equal(t, "1\n3", f.git("show", id+":a.txt"))
	assert.Equal(t, "x\ny", f.git("show", id+":new.txt"))
	assert.Equal(t, "* -text", f.git("show", id+":.gitattributes"))
}

func TestLineEndsThatWereStoredStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\r\n2\r\n"})
	f.write(f.dir, ".gitattributes", "* text=auto\n")
	f.git("add", ".gitattributes")
	f.git("commit", "--quiet", "--message", "attributes, without renormalising")
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.txt", "1\r\n2\r\n")
	assert.Empty(t, f.scan(built), "as git add has it")
	e.put("a.txt", "1\r\n3\r\n")
	assert.Equal(t, "1\r\n3\r", f.git("show", f.candidate(built)+":a.txt"))
}

func TestUsersConfigurationHasNoPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n", "b.txt": "1\n"})
	f.git("config", "core.autocrlf", "true")
	f.git("config", "core.eol", "crlf")
	f.git("config", "core.fileMode", "false")
	f.write(f.dir, ".git/info/attributes", "* text eol=crlf\n")
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Equal(t, "1\n", f.read(built.Dir, "a.txt"))
	e := edit{t, built.Dir}
	e.put("a.txt", "2\r\n")
	require.NoError(t, os.Chmod(e.path("b.txt"), 0o755))
	changes := f.scan(built)
	assert.Equal(t, map[string]string{"a.txt": "modified", "b.txt": "mode changed"}, told(changes))
	id, err := built.Candidate(t.Context(), changes)
	require.NoError(t, err)
	assert.Equal(t, "2\r", f.git("show", id+":a.txt"))
}

func TestUsersIgnoreRulesCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n"})
	f.write(f.dir, ".git/info/exclude", "*.swp\n")
	built := f.build(tree.Options{})
	edit{t, built.Dir}.put("a.txt.swp", "x")
	assert.Empty(t, f.scan(built))
}

func TestFilters(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 1\n"
	f := newFixture(t, map[string]string{".gitattributes": "*.bin filter=lfs -text\nplain.bin -filter\nset.txt filter\n", "a.bin": pointer, "b.bin": pointer, "c.bin": pointer, "plain.bin": "1\n", "set.txt": "1\n"})
	marker := filepath.Join(t.TempDir(), "ran")
	f.git("config", "filter.lfs.required", "true")
	for _, how := range []string{"clean", "smudge", "process"} {
		f.git("config", "filter.lfs."+how, "touch "+marker)
	}
	built := f.build(tree.Options{Head: "HEAD"})
	assert.Equal(t, pointer, f.read(built.Dir, "a.bin"))
	e := edit{t, built.Dir}
	e.put("a.bin", pointer)
	assert.Empty(t, f.scan(built), "touched only")
	e.put("a.bin", "content\n")
	e.put("new.bin", "content\n")
	e.put("set.txt", "2\n")
	e.put("plain.bin", "2\n")
	e.put(".gitattributes", "")
	e.drop("b.bin")
	require.NoError(t, os.Chmod(e.path("c.bin"), 0o755))
	const lfs = "is under the filter lfs, which does not run here"
	assert.Equal(t, map[string]string{
		".gitattributes": "modified", "a.bin": lfs, "new.bin": lfs, "c.bin": lfs, "b.bin": "deleted",
		"plain.bin": "modified",
		"set.txt":   "is under the filter set, which does not run here",
	}, told(f.scan(built)))
	assert.NoFileExists(t, marker)
}

func TestContentThatGitCannotStoreIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{".gitattributes": "*.u16 working-tree-encoding=UTF-16LE\n", "b.txt": "b\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.u16", "x\x00\x00\xd8")
	e.put("b.txt", "2\n")
	e.put("good.u16", "x\x00\n\x00")
	got := told(f.scan(built))
	assert.Contains(t, got["a.u16"], "cannot be stored")
	assert.Equal(t, "modified", got["b.txt"])
	assert.Equal(t, "added", got["good.u16"])
}
