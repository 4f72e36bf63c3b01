package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/golden"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 1\n"
	f := newFixture(t, map[string]string{
		".gitattributes": "*.bin filter=lfs -text\nplain.bin -filter\nset.txt filter\n",
		"a.bin":          pointer, "b.bin": pointer, "c.bin": pointer, "plain.bin": "1\n", "set.txt": "1\n",
	})
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
	golden.Line(t, told(f.scan(built)))
	assert.NoFileExists(t, marker)
}

// TestStoredContent follows the attributes of the incumbent, whatever the agent makes of them
// and the user has configured.
func TestStoredContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attributes, committed string
		later                 bool // the attributes come in a later commit, without renormalising
		same, changed, stored string
	}{
		"made CRLF":           {"* text=auto eol=crlf\n", "1\n2\n", false, "1\n2\n", "1\r\n3\r\n", "1\n3"},
		"CRLF that was there": {"* text=auto\n", "1\r\n2\r\n", true, "1\r\n2\r\n", "1\r\n3\r\n", "1\r\n3\r"},
		"no attributes":       {"", "1\n", false, "1\n", "2\r\n", "2\r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a.txt": c.committed, "b.txt": "1\n", ".gitattributes": c.attributes}
			if c.later {
				delete(files, ".gitattributes")
			}
			f := newFixture(t, files)
			if c.later {
				f.write(f.dir, ".gitattributes", c.attributes)
				f.git("add", ".gitattributes")
				f.git("commit", "--quiet", "--message", "attributes")
			}
			f.git("config", "core.autocrlf", "true")
			f.git("config", "core.eol", "crlf")
			f.git("config", "core.fileMode", "false")
			f.write(f.dir, ".git/info/attributes", "*.txt text eol=crlf\n")
			f.write(f.dir, ".git/info/exclude", "*.swp\n")
			built := f.build(tree.Options{Head: "HEAD"})
			e := edit{t, built.Dir}
			e.put("a.txt", c.same)
			e.put("a.txt.swp", "the user's ignore rules count")
			assert.Empty(t, f.scan(built))
			e.put("a.txt", c.changed)
			e.put(".gitattributes", "* -text\n")
			require.NoError(t, os.Chmod(e.path("b.txt"), 0o755))
			golden.Row(t, ".gitattributes modified, a.txt modified,", told(f.scan(built)))
			assert.Equal(t, c.stored, f.git("show", f.candidate(built)+":a.txt"))
		})
	}
}

func TestContentThatGitCannotStoreIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{".gitattributes": "*.u16 working-tree-encoding=UTF-16LE\n"})
	built := f.build(tree.Options{})
	e := edit{t, built.Dir}
	e.put("a.u16", "x\x00\x00\xd8")
	e.put("good.u16", "x\x00\n\x00")
	assert.Regexp(t, `^\. has a change that cannot be stored.*'a\.u16'`, told(f.scan(built)))
}
