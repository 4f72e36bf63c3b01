package evalrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/autoloop/internal/misuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write makes the files of a directory.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

func TestLoadSaysAllFaultsOfAllFiles(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"evals/evals.json":        `[{"id": 1, "prompt": "", "files": ["link"], "expectations": ["x"]}]`,
		"evals/trigger-eval.json": `[{"query": ""}]`,
		"evals/evaluation.xml":    `<evaluation>`,
	})
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	_, err := Load(dir, ".", "")
	var fault *misuse.Error
	require.ErrorAs(t, err, &fault)
	for _, want := range []string{
		"SKILL.md: ", "evals/evals.json:1: [0].prompt: is empty",
		"[0].files[0]: there is no file", "evals/trigger-eval.json:1: [0].query",
		"evals/evaluation.xml:1: is not XML",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = Load(dir, "gone", "")
	assert.ErrorAs(t, err, &fault)
}
