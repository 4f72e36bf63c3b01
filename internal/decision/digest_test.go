package decision_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	assert.Equal(t, one, change("package a\n\n\nfunc f() {\n\tx  :=  10  \n\n\ty := 2\n}\n"),
		"blank lines and runs of spaces")
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

// hunk is a patch of one file with these lines.
func hunk(lines ...string) []byte {
	old, added := 0, 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "-"):
			old++
		case strings.HasPrefix(line, "+"):
			added++
		case !strings.HasPrefix(line, `\`):
			old, added = old+1, added+1
		}
	}
	return fmt.Appendf(nil, "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,%d +1,%d @@ func\n%s\n",
		old, added, strings.Join(lines, "\n"))
}

// TestWhichPatchesAreOne says of pairs of patches whether they do the same.
func TestWhichPatchesAreOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		one, other []byte
		same       bool
	}{
		"runs of spaces within":           {hunk("-a b", "+a  c"), hunk("-a b", "+a c"), true},
		"spaces at the end":               {hunk("-a", "+b  "), hunk("-a", "+b"), true},
		"a tab for four spaces":           {hunk("-a", "+\tb"), hunk("-a", "+    b"), true},
		"a tab for eight spaces":          {hunk("-a", "+\tb"), hunk("-a", "+        b"), false},
		"a tab within":                    {hunk("-a", "+b\tc"), hunk("-a", "+b c"), true},
		"blank lines":                     {hunk("-a", "+b", "+", "+ \t"), hunk("-a", "+b"), true},
		"carriage returns":                {hunk("-a", "+b\r"), hunk("-a", "+b"), true},
		"other lines around":              {hunk(" x", "-a", "+b", " y"), hunk("-a", "+b"), true},
		"an empty line around, unspaced":  {hunk("", "-a", "+b"), hunk("-a", "+b"), true},
		"no line break at the end":        {hunk("-a", "+b", `\ No newline at end of file`), hunk("-a", "+b"), true},
		"added, not taken away":           {hunk("-a", "+b"), hunk("-b", "+a"), false},
		"another order":                   {hunk("+a", "+b"), hunk("+b", "+a"), false},
		"one line, not two":               {hunk("+a b"), hunk("+a", "+b"), false},
		"a space is not left out":         {hunk("+a b"), hunk("+ab"), false},
		"another case":                    {hunk("+a"), hunk("+A"), false},
		"a line that looks like a header": {hunk("+a", "+diff --git a/x b/x"), hunk("+a"), false},
		"a line that looks like a hunk":   {hunk("-@@ -1,9 +1,9 @@", "+a"), hunk("+a"), false},
		"two files for one": {
			slices.Concat(hunk("+a"), []byte("diff --git a/b b/b\nindex 1..2 100644\n@@ -0,0 +1 @@\n+b\n")),
			hunk("+a", "+b"), false,
		},
		"the same mode": {
			[]byte("diff --git a/a b/a\nold mode 1\nnew mode 2\n"),
			[]byte("diff --git a/a b/a\nold mode 1\nnew mode 2\n"), true,
		},
		"another mode": {
			[]byte("diff --git a/a b/a\nold mode 1\nnew mode 2\n"),
			[]byte("diff --git a/a b/a\nold mode 2\nnew mode 1\n"), false,
		},
		"the old content of a binary": {
			[]byte("diff --git a/a b/a\nindex 1..2 100644\nGIT binary patch\nliteral 1\nx\n"),
			[]byte("diff --git a/a b/a\nindex 3..2\nGIT binary patch\ndelta 2\ny\n"), true,
		},
		"the new content of a binary": {
			[]byte("diff --git a/a b/a\nindex 1..2\nGIT binary patch\nx\n"),
			[]byte("diff --git a/a b/a\nindex 1..3\nGIT binary patch\nx\n"), false,
		},
		"the object ids of a text": {
			[]byte("diff --git a/a b/a\nindex 1..2 100644\n@@ -0,0 +1 @@\n+a\n"),
			[]byte("diff --git a/a b/a\nindex 3..4 100644\n@@ -7,0 +8 @@\n+a\n"), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.same, decision.Digest(c.one) == decision.Digest(c.other))
			assert.Len(t, decision.Digest(c.one), 32)
		})
	}
	assert.Empty(t, decision.PatchLines([]byte("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n")),
		"no lines, but a change")
	assert.Equal(t, []string{"-a", "+b", "+diff --git a/x b/x"},
		decision.PatchLines([]byte("diff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/b b/b\n@@ -0,0 +1 @@\n"+
			"+diff --git a/x b/x\n")), "a count that is missing is 1")
	assert.Equal(t, []string{"-a", "+-- b", "+++ c"}, decision.PatchLines(hunk("-a", "+-- b", "+++ c", " d")))
}

func TestDigestSeesWhereALineIsNot(t *testing.T) {
	t.Parallel()
	change := func(before, after string) string {
		return decision.Digest(patch(t, map[string]string{"a": before}, map[string]string{"a": after}))
	}
	assert.Equal(t, change("a\nb\nc\n", "a\nB\nc\n"), change("x\ny\nz\nb\n", "x\ny\nz\nB\n"),
		"the same change of another incumbent")
	assert.NotEqual(t, change("-- old\nb\n", "b\n"), change("b\n-- old\n", "-- old\n"),
		"lines that look like a header are lines")
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
	lines := decision.PatchLines(patch(t, map[string]string{"a.go": original},
		map[string]string{"a.go": "package a\n\nfunc f() {\n\tx  := 10\n\n\ty := 2\n}\n"}))
	assert.Equal(t, []string{"-    x := 1", "+    x := 10"}, lines)
}

func FuzzDigest(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\nindex 0..1 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n \n+y\n"))
	f.Add([]byte("@@ -99999999999999999999,-5 +x @@\n\n+"))
	f.Fuzz(func(t *testing.T, text []byte) { assert.Contains(t, []int{0, 32}, len(decision.Digest(text))) })
}
