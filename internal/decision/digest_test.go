package decision_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/tests/long"
)

// patch is what git prints for two versions of some files.
func patch(t *testing.T, before, after map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return out
	}
	tree := func(files map[string]string) string {
		run("rm", "-rfq", "--ignore-unmatch", ".")
		for name, text := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		run("add", "--all")
		return string(run("write-tree")[:40])
	}
	run("init", "-q")
	run("config", "core.autocrlf", "false")
	a := tree(before)
	b := tree(after)
	return run("diff-tree", "-p", "--binary", "--full-index", "--no-renames", a, b)
}

const original = "package a\n\nfunc f() {\n\tx := 1\n\ty := 2\n}\n"

func TestDigestOfNearDuplicates(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	before := map[string]string{"a.go": original}
	change := func(text string) string { return decision.Digest(patch(t, before, map[string]string{"a.go": text})) }
	one := change("package a\n\nfunc f() {\n\tx := 10\n\ty := 2\n}\n")
	assert.Len(t, one, 32)
	assert.Equal(t, one, change("package a\n\n\nfunc f() {\n\tx  :=  10  \n\n\ty := 2\n}\n"), "blank lines and runs of spaces")
	assert.Equal(t, one, change("package a\n\nfunc f() {\n    x := 10\r\n\ty := 2\n}\n"), "tabs, and a carriage return")
	for name, text := range map[string]string{
		"another number":   "package a\n\nfunc f() {\n\tx := 11\n\ty := 2\n}\n",
		"another place":    "package a\n\nfunc f() {\n\tx := 1\n\ty := 10\n}\n",
		"another depth":    "package a\n\nfunc f() {\n\t\tx := 10\n\ty := 2\n}\n",
		"something more":   "package a\n\nfunc f() {\n\tx := 10\n\ty := 2\n\tz := 3\n}\n",
		"nothing but less": "package a\n\nfunc f() {\n\ty := 2\n}\n",
	} {
		assert.NotEqual(t, one, change(text), name)
	}
}

func TestDigestSeesWhereALineIsNot(t *testing.T) {
	t.Parallel()
	change := func(before, after string) string {
		return decision.Digest(patch(t, map[string]string{"a": before}, map[string]string{"a": after}))
	}
	assert.Equal(t, change("a\nb\nc\n", "a\nB\nc\n"), change("x\ny\nz\nb\n", "x\ny\nz\nB\n"), "the same change of another incumbent")
	assert.NotEqual(t, change("-- old\nb\n", "b\n"), change("b\n-- old\n", "-- old\n"), "lines that look like a header are lines")
}

func TestDigestOfFiles(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": "one\n", "b": "one\n", "bin": "\x00\x01"}
	digests := map[string]string{}
	for name, after := range map[string]map[string]string{
		"a changed":        {"a": "two\n", "b": "one\n", "bin": "\x00\x01"},
		"b changed":        {"a": "one\n", "b": "two\n", "bin": "\x00\x01"},
		"a deleted":        {"b": "one\n", "bin": "\x00\x01"},
		"c added":          {"a": "one\n", "b": "one\n", "bin": "\x00\x01", "c": "x\n"},
		"an empty file":    {"a": "one\n", "b": "one\n", "bin": "\x00\x01", "c": ""},
		"a binary":         {"a": "one\n", "b": "one\n", "bin": "\x00\x02"},
		"another binary":   {"a": "one\n", "b": "one\n", "bin": "\x00\x03"},
		"blank lines only": {"a": "one\n\n\n", "b": "one\n", "bin": "\x00\x01"},
	} {
		digest := decision.Digest(patch(t, before, after))
		assert.Empty(t, digests[digest], name)
		digests[digest] = name
	}
	assert.Empty(t, decision.Digest(nil))
	assert.Empty(t, decision.Digest(patch(t, before, before)))
}

func TestPatchLines(t *testing.T) {
	t.Parallel()
	lines := decision.PatchLines(patch(t, map[string]string{"a.go": original}, map[string]string{"a.go": "package a\n\nfunc f() {\n\tx  := 10\n\n\ty := 2\n}\n"}))
	assert.Equal(t, []string{"-    x := 1", "+    x := 10"}, lines)
}

func FuzzDigest(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\nindex 0..1 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n \n+y\n"))
	f.Add([]byte("@@ -99999999999999999999,-5 +x @@\n\n+"))
	f.Fuzz(func(t *testing.T, text []byte) { assert.Contains(t, []int{0, 32}, len(decision.Digest(text))) })
}
