package bundle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/bundle"
)

func written(t *testing.T) (string, bundle.Bundle) {
	t.Helper()
	id := strings.Repeat("a", 40)
	b := bundle.Bundle{
		Manifest: bundle.Manifest{
			Program: "p", Iteration: 3, BaseBranch: "main", Base: id, Branch: id, Memory: id,
			Books: strings.Repeat("b", 64), Incumbent: id, Candidate: id,
		},
		Patch: []byte("the change\n"), Events: []byte("{}\n"),
	}
	dir := filepath.Join(t.TempDir(), "deep", "bundle")
	require.NoError(t, bundle.Write(dir, b))
	return dir, b
}

func TestComesBack(t *testing.T) {
	t.Parallel()
	dir, b := written(t)
	back, err := bundle.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, b.Patch, back.Patch)
	assert.Equal(t, b.Events, back.Events)
	assert.Equal(t, b.Base, back.Base)
	assert.Equal(t, 3, back.Iteration)
	assert.Len(t, back.ID, 64)
	require.ErrorContains(t, bundle.Write(dir, b), "exists already")
	left, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	replace := func(old, replacement string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			file := filepath.Join(dir, "manifest.json")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), old)
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600))
		}
	}
	put := func(name, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	for name, test := range map[string]struct {
		do   func(t *testing.T, dir string)
		says string
	}{
		"another patch": {put("change.patch", "the chance\n"), "change.patch is not what"},
		"other events":  {put("events.jsonl", "{ }\n"), "events.jsonl is not what"},
		"a file more":   {put("extra", ""), "no file of a bundle"},
		"no patch": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "change.patch")))
		}, "incomplete"},
		"a larger manifest": {put("manifest.json", strings.Repeat(" ", 65<<10)), "too large"},
		"a larger patch": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Truncate(filepath.Join(dir, "change.patch"), 65<<20))
		}, "too large"},
		"no JSON":              {put("manifest.json", "{"), "cannot be read"},
		"a later schema":       {replace(`"schema": 1`, `"schema": 2`), "same version"},
		"a base that is none":  {replace(`"base": "a`, `"base": "-`), `"base"`},
		"a tree that is none":  {replace(`"candidate_tree": "a`, `"candidate_tree": "x`), `"candidate_tree"`},
		"books that are none":  {replace(`"books": "b`, `"books": "x`), `"books"`},
		"a program of no name": {replace(`"program": "p"`, `"program": ""`), "no program"},
		"a link": {func(t *testing.T, dir string) {
			t.Helper()
			file := filepath.Join(dir, "change.patch")
			require.NoError(t, os.Rename(file, dir+".patch"))
			require.NoError(t, os.Symlink(dir+".patch", file))
		}, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := written(t)
			test.do(t, dir)
			_, err := bundle.Read(dir)
			require.ErrorContains(t, err, test.says)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestDigestKeepsPartsApart(t *testing.T) {
	t.Parallel()
	assert.NotEqual(t, bundle.Digest([]byte("ab"), []byte("c")), bundle.Digest([]byte("a"), []byte("bc")))
	assert.NotEqual(t, bundle.Digest(nil, []byte("")), bundle.Digest([]byte(""), []byte("")))
}
