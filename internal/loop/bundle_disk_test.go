package loop

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWrittenBundleIsReadWhole: nothing of a bundle is lost on its way, and it is known by
// what is in it.
func TestWrittenBundleIsReadWhole(t *testing.T) {
	t.Parallel()
	dir, p := written(t)
	back, err := ReadBundle(dir)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, dir)))), back.ID)
	p.ID = back.ID
	assert.Equal(t, p, back)
}

// TestDirectoryIsNoBundle: what is there must be a regular file.
func TestDirectoryIsNoBundle(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(dir string) error{
		"nothing there": os.RemoveAll,
		"a link to a device": func(dir string) error {
			file := filepath.Join(dir, "bundle.json")
			return errors.Join(os.Remove(file), os.Symlink("/dev/zero", file))
		},
		"half a terabyte": func(dir string) error { return os.Truncate(filepath.Join(dir, "bundle.json"), 1<<39) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := written(t)
			require.NoError(t, do(dir))
			_, err := ReadBundle(dir)
			require.ErrorContains(t, err, "bundle "+dir+" cannot be read: ")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// TestValuesOfAManifest: each has a form, which nothing but a value of it has. What may be
// missing depends on the kind.
func TestValuesOfAManifest(t *testing.T) {
	t.Parallel()
	id, digest := strings.Repeat("a1", 20), strings.Repeat("b2", 32)
	whole := Proposal{
		Manifest: Manifest{
			Kind: forIteration, Repository: "org/name", Run: "r1", Program: "p", Iteration: 3, BaseBranch: "main",
			Base: id, Branch: id, Records: digest, Incumbent: id, Candidate: id, Heard: "1 2 3",
		},
		Files: []File{{Path: "a"}},
	}
	parent, count := t.TempDir(), 0
	write := func(b Proposal) error {
		count++
		return WriteBundle(filepath.Join(parent, fmt.Sprint(count)), &b)
	}
	set := func(b *Proposal, field, value string) {
		text, err := json.Marshal(map[string]string{field: value})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &b.Manifest))
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	objects := []string{id[:39], id + "a", digest + "a", strings.ToUpper(id), "HEAD", "--all"}
	for field, c := range map[string]struct{ good, bad []string }{
		"repository": {
			[]string{"", "A-1/b.c_d-e", long(100) + "/" + long(100)},
			[]string{"a", "a/", "a/b/c", "a.b/c", long(101) + "/b", "a/" + long(101), "https://x/y"},
		},
		"program": {[]string{"p", "a.b_c-d", long(64)}, []string{"", "P", ".p", "a/b", long(65), "ä"}},
		"run":     {[]string{"2026.1-A_b", long(100)}, []string{"", "a b", "a/b", long(101), "::x"}},
		"base_branch": {[]string{"a/b", "ä", "@{x}", long(250)}, []string{
			"", "a b", "a~1", "a:b", "a\x7f",
			long(251),
		}},
		"base":           {[]string{id, digest}, append(objects, "")},
		"branch":         {[]string{"", digest}, objects},
		"books":          {[]string{digest}, []string{"", id, digest[:63], strings.ToUpper(digest)}},
		"incumbent_tree": {[]string{digest}, append(objects, "")},
		"candidate_tree": {[]string{digest}, objects},
		"heard": {[]string{"", "9 1 " + strings.Repeat("9", 18)}, []string{
			"1 2", "1  2 3", "-1 2 3",
			long(1) + " 2 3",
		}},
	} {
		for _, value := range c.good {
			b := whole
			set(&b, field, value)
			require.NoError(t, write(b), "%s %q", field, value)
		}
		for _, value := range append(c.bad, c.good[len(c.good)-1]+"\n", c.good[len(c.good)-1]+"\x00") {
			b := whole
			set(&b, field, value)
			require.ErrorContains(t, write(b),
				fmt.Sprintf("whose %q is %.80q, which", field, value), "%s %q", field, value)
		}
	}

	for _, c := range []struct {
		change func(b *Proposal)
		says   string
	}{
		{func(b *Proposal) { b.Iteration = 0 }, ""},
		{func(b *Proposal) { b.Iteration = 1e9 }, ""},
		{func(b *Proposal) { b.Iteration = 1e9 + 1 }, `"iteration" is "1000000001"`},
		{func(b *Proposal) { b.Iteration = -1 }, `"iteration" is "-1"`},
		{func(b *Proposal) { b.Kind = "Iteration" }, `"kind" is "Iteration"`},
		{func(b *Proposal) { b.Kind, b.Branch = forFix, "" }, "a fix of no commit"},
		{func(b *Proposal) { b.Files = nil }, "a candidate without changed files"},
		{func(b *Proposal) { b.Candidate = "" }, "changed files without a candidate"},
		{func(b *Proposal) { b.Files[0].Data = make([]byte, 60<<20) }, "it has 83886554 bytes, more than 83886080"},
	} {
		b := whole
		c.change(&b)
		if err := write(b); c.says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.says)
			assert.NoDirExists(t, filepath.Join(parent, fmt.Sprint(count)))
		}
	}
}

// TestWriteWhereNothingCanBe says what is in the way, and leaves it as it is.
func TestWriteWhereNothingCanBe(t *testing.T) {
	t.Parallel()
	_, b := written(t)
	parent := t.TempDir()
	file := filepath.Join(parent, "file")
	require.NoError(t, os.WriteFile(file, []byte("a person's"), 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(parent, "link")))
	for _, name := range []string{"file", "link"} {
		require.ErrorContains(t, WriteBundle(filepath.Join(parent, name), b),
			name+" exists already; name a new directory")
	}
	require.ErrorContains(t, WriteBundle(filepath.Join(file, "bundle"), b), "write the bundle: ")
	require.ErrorContains(t, WriteBundle(filepath.Join(file, "deep", "bundle"), b), "write the bundle: ")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "a person's", string(text))
	there, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, there, 2)
}
