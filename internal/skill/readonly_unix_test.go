//go:build unix

package skill_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/tests/scratch"
)

// TestReadOnlyWorkspaceIsRead, one of ours and one of another program.
func TestReadOnlyWorkspaceIsRead(t *testing.T) {
	if !scratch.Unprivileged(t) {
		return
	}
	for _, foreign := range []bool{false, true} {
		k := improved(t)
		dir := k.Workspace.Dir
		if foreign {
			for _, name := range []string{"manifest.json", "v0.manifest.json", "v1.manifest.json"} {
				require.NoError(t, os.Remove(filepath.Join(dir, name)))
			}
		}
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			return os.Chmod(path, 0o555)
		}))
		v := k.versions()
		var err error
		v.Workspace, err = skill.Read(t.Context(), dir, v.Err)
		require.NoError(t, err)
		found, err := v.Score(t.Context(), 1)
		require.NoError(t, err)
		assert.Equal(t, "0.75", found.Score.String())
		r, patch, err := v.Report(t.Context(), skill.BestVersion)
		require.NoError(t, err)
		assert.Equal(t, 1, r.BestVersion)
		assert.Contains(t, string(patch), "-original\n")
	}
}
