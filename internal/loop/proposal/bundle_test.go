package proposal_test

import (
	"crypto/sha256"
	"fmt"
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
			Kind: proposal.Iteration, Run: "r1", Program: "p", Iteration: 3, BaseBranch: "main", Base: id, Branch: id,
			Records: strings.Repeat("b", 64), Incumbent: id, Candidate: id,
		},
		Change: []byte("the change\n"), Events: []byte("{}\n"),
	}
	dir := filepath.Join(t.TempDir(), "deep", "bundle")
	require.NoError(t, proposal.Write(dir, b))
	return dir, b
}

// TestManifestsThatCannotBeRead are refused, whatever their digests say.
func TestManifestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, replacement, says string }{
		"no JSON":             {"{", "", "cannot be read"},
		"deep JSON":           {"{", strings.Repeat(`{"a":`, 11_000), "cannot be read"},
		"another schema":      {`"schema": 1`, `"schema": 2`, "same version"},
		"a path for a name":   {`"program": "p"`, `"program": "../p"`, `"program"`},
		"a command for a run": {`"run": "r1"`, `"run": "::set-output name=x::y"`, `"run"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := written(t)
			text := read(t, dir, "manifest.json")
			require.Contains(t, text, c.old)
			forged := strings.Replace(text, c.old, c.replacement, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(forged), 0o600))
			seal(t, dir)
			_, err := proposal.Read(dir)
			require.ErrorContains(t, err, c.says)
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
		sums += fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, dir, name)))) + "  " + name + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o600))
}

func TestDigestKeepsPartsApart(t *testing.T) {
	t.Parallel()
	assert.NotEqual(t, proposal.Digest([]byte("ab"), []byte("c")), proposal.Digest([]byte("a"), []byte("bc")))
}
