package proposal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/proposal"
)

func written(t *testing.T) (string, proposal.Bundle) {
	t.Helper()
	id := strings.Repeat("a", 40)
	b := proposal.Bundle{
		Manifest: proposal.Manifest{
			Kind: proposal.Iteration, Run: "r1", Program: "p", Iteration: 3, BaseBranch: "main", Base: id, Branch: id, Memory: id,
			Records: strings.Repeat("b", 64), Incumbent: id, Candidate: id,
		},
		Change: []byte("the change\n"), Events: []byte("{}\n"),
	}
	dir := filepath.Join(t.TempDir(), "deep", "bundle")
	require.NoError(t, proposal.Write(dir, b))
	return dir, b
}

func TestComesBack(t *testing.T) {
	t.Parallel()
	dir, b := written(t)
	back, err := proposal.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, b.Change, back.Change)
	assert.Equal(t, b.Events, back.Events)
	assert.Equal(t, b.Base, back.Base)
	assert.Equal(t, 3, back.Iteration)
	assert.Len(t, back.ID, 64)
	require.ErrorContains(t, proposal.Write(dir, b), "exists already")
	left, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	// forge edits the manifest and makes the digests right.
	forge := func(old, replacement string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			text := read(t, dir, "manifest.json")
			require.Contains(t, text, old)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(strings.Replace(text, old, replacement, 1)), 0o600))
			seal(t, dir)
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
		"another change":   {put("change.json", "the chance\n"), "its files are not what"},
		"other events":     {put("events.jsonl", "{ }\n"), "its files are not what"},
		"another manifest": {put("manifest.json", "{}"), "its files are not what"},
		"other digests":    {put("SHA256SUMS", ""), "its files are not what"},
		"a file more":      {put("extra", ""), "no file of a bundle"},
		"no change": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(dir, "change.json")))
		}, "incomplete"},
		"a larger manifest": {put("manifest.json", strings.Repeat(" ", 65<<10)), "too large"},
		"a larger change": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Truncate(filepath.Join(dir, "change.json"), 65<<20))
		}, "too large"},
		"a change without a candidate": {forge(`"candidate_tree": "`+strings.Repeat("a", 40), `"candidate_tree": "`), "without a candidate"},
		"no events": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Truncate(filepath.Join(dir, "events.jsonl"), 0))
			seal(t, dir)
		}, "no events"},
		"no JSON":                  {forge("{", ""), "cannot be read"},
		"deep JSON":                {forge("{", strings.Repeat(`{"a":`, 11_000)), "cannot be read"},
		"another schema":           {forge(`"schema": 1`, `"schema": 2`), "same version"},
		"no kind":                  {forge(`"kind": "iteration"`, `"kind": "gift"`), `kind "gift"`},
		"a kind with less":         {forge(`"kind": "iteration"`, `"kind": "chores"`), "more in it"},
		"no iteration":             {forge(`"iteration": 3`, `"iteration": -3`), "iteration -3"},
		"no number":                {forge(`"iteration": 3`, `"iteration": NaN`), "cannot be read"},
		"no repository":            {forge(`"repository": ""`, `"repository": "../x"`), `"repository"`},
		"no program":               {forge(`"program": "p"`, `"program": ""`), `"program"`},
		"a program that is a path": {forge(`"program": "p"`, `"program": "../p"`), `"program"`},
		"no run":                   {forge(`"run": "r1"`, `"run": "::set-output name=x::y"`), `"run"`},
		"no branch":                {forge(`"base_branch": "main"`, `"base_branch": "a b"`), `"base_branch"`},
		"an invalid base":          {forge(`"base": "a`, `"base": "-`), `"base"`},
		"an invalid head":          {forge(`"branch": "a`, `"branch": "-`), `"branch"`},
		"an invalid memory":        {forge(`"memory": "a`, `"memory": "-`), `"memory"`},
		"an invalid tree":          {forge(`"candidate_tree": "a`, `"candidate_tree": "x`), `"candidate_tree"`},
		"invalid files":            {forge(`"incumbent_tree": "a`, `"incumbent_tree": "x`), `"incumbent_tree"`},
		"an invalid ledger":        {forge(`"books": "b`, `"books": "x`), `"books"`},
		"an invalid mark":          {forge(`"heard": ""`, `"heard": "1"`), `"heard"`},
		"no boolean":               {forge(`"told": false`, `"told": "yes"`), "cannot be read"},
		"a link": {func(t *testing.T, dir string) {
			t.Helper()
			file := filepath.Join(dir, "change.json")
			require.NoError(t, os.Rename(file, dir+".change"))
			require.NoError(t, os.Symlink(dir+".change", file))
		}, "no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := written(t)
			test.do(t, dir)
			_, err := proposal.Read(dir)
			require.ErrorContains(t, err, test.says)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

// seal makes the digests right, as somebody does who forges a bundle.
func seal(t *testing.T, dir string) {
	t.Helper()
	sums := ""
	for _, name := range []string{"manifest.json", "change.json", "events.jsonl"} {
		sums += proposal.Digest([]byte(read(t, dir, name))) + "  " + name + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o600))
}

func TestDigestKeepsPartsApart(t *testing.T) {
	t.Parallel()
	assert.NotEqual(t, proposal.Digest([]byte("ab"), []byte("c")), proposal.Digest([]byte("a"), []byte("bc")))
	assert.NotEqual(t, proposal.Digest(nil, []byte("")), proposal.Digest([]byte(""), []byte("")))
}
