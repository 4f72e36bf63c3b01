package schedule_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

func TestOnlyIssueProgramsAreRemoved(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	dir := filepath.Join(output, "issue-programs")
	require.NoError(t, schedule.WriteIssuePrograms(output, []*program.Program{{Name: "old", Source: "text"}}))
	for _, name := range []string{"Thesis.md", "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, schedule.WriteIssuePrograms(output, nil))
	assert.NoFileExists(t, filepath.Join(dir, "old.md"))
	assert.FileExists(t, filepath.Join(dir, "Thesis.md"))
	assert.FileExists(t, filepath.Join(dir, "notes.txt"))

	for _, name := range []string{"Thesis.md", "notes.txt"} {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	require.NoError(t, schedule.WriteIssuePrograms(output, nil))
	assert.NoDirExists(t, dir)
}
