package tests

import (
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestManualIsInTheRelease runs what the release runs before it builds, and holds
// that every file of it is packed, and that Git ignores them: a file that it sees would
// stamp the binaries as modified.
func TestManualIsInTheRelease(t *testing.T) {
	t.Parallel()
	data := readText(t, "../.goreleaser.yml")
	var release struct {
		Before   struct{ Hooks []string }
		Archives []struct{ Files []struct{ Src string } }
	}
	require.NoError(t, yaml.Unmarshal([]byte(data), &release))
	require.Len(t, release.Before.Hooks, 1)
	hook := strings.NewReplacer("{{ .Version }}", "1.2.3", "{{ .CommitDate }}",
		"2026-01-02T15:04:05+02:00").Replace(release.Before.Hooks[0])
	words := strings.Fields(hook)
	require.Equal(t, []string{"go", "run", "./internal/cli/manual", "."}, words[:4])

	dir := manual(t, words[4:]...)
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		require.NoError(t, err)
		times := 0
		for _, one := range release.Archives[0].Files {
			if matches, err := path.Match(one.Src, filepath.ToSlash(name)); err == nil && matches {
				times++
			}
		}
		assert.Equal(t, 1, times, "%s is packed", name)
		return nil
	}))
	ignored := readText(t, "../.gitignore")
	assert.Contains(t, strings.Split(ignored, "\n"), "/share/")
	page := readText(t, filepath.Join(dir, "share", "man", "man1", "scheduler.1"))
	assert.Contains(t, page, `"SCHEDULER" "1" "Jan 2026" "autoloop`)
}

// manual writes pages and completions below a new directory.
func manual(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./internal/cli/manual", dir}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}
