package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
)

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

func FuzzDigest(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\nindex 0..1 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n-x\n \n+y\n"))
	f.Add([]byte("@@ -99999999999999999999,-5 +x @@\n\n+"))
	f.Fuzz(func(t *testing.T, text []byte) { assert.Contains(t, []int{0, 32}, len(decision.Digest(text))) })
}
