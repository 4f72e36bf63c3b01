package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T) (string, *Proposal) {
	t.Helper()
	id := strings.Repeat("a", 40)
	p := &Proposal{
		Manifest: Manifest{
			Kind: forIteration, Run: "r1", Program: "p", Iteration: 3, BaseBranch: "main", Base: id, Branch: id,
			Records: strings.Repeat("b", 64), Incumbent: id, Candidate: id,
		},
		Files: []File{{Path: "a", Mode: "100644", Data: []byte("x\n\x00\xff")}, {Path: "gone"}},
	}
	dir := filepath.Join(t.TempDir(), "deep", "bundle")
	require.NoError(t, WriteBundle(dir, p))
	return dir, p
}

func read(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "bundle.json"))
	require.NoError(t, err)
	return string(text)
}

// TestBundlesThatCannotBeRead are refused in one line.
func TestBundlesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, replacement, says string }{
		"no JSON":             {"{", "", "cannot be read"},
		"cut off":             {"}]}\n", "", "cannot be read"},
		"deep JSON":           {"{", strings.Repeat(`{"a":`, 11_000), "cannot be read"},
		"another schema":      {`"schema":1`, `"schema":2`, "same version"},
		"a path for a name":   {`"program":"p"`, `"program":"../p"`, `"program"`},
		"a command for a run": {`"run":"r1"`, `"run":"::set-output name=x::y"`, `"run"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := written(t)
			text := read(t, dir)
			require.Contains(t, text, c.old)
			forged := strings.Replace(text, c.old, c.replacement, 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bundle.json"), []byte(forged), 0o600))
			_, err := ReadBundle(dir)
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}
