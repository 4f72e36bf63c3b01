package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
)

// TestRecordsAreDocumented holds docs/reference/state.md against a state and a table of
// results as they are written: every row and column, and the words that stand there.
func TestRecordsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(referenceDir, "state.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n| row | value |\n|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for line := range strings.Lines(table) {
		documented = append(documented, strings.Split(strings.Trim(strings.Split(line, "|")[1], " "), ", ")...)
	}
	var written []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z][\w ]+) \|`).FindAllStringSubmatch(
		string(state.New("p").Bytes()), -1) {
		if row[1] != "Field" {
			written = append(written, row[1])
		}
	}
	require.Greater(t, len(written), 10)
	assert.ElementsMatch(t, append(written, "Not Before"), documented, "Not Before is only written after a rate limit")
	for _, status := range []state.Status{
		state.Accepted, state.Rejected, state.Inconclusive, state.Failed,
		state.PendingCI, state.CIFixExhausted,
	} {
		assert.Contains(t, table, "`"+string(status)+"`")
	}
	assert.Contains(t, string(text), "\n"+results.Header+"\n")
	for _, action := range []results.Action{results.Baseline, results.Kept, results.Reverted} {
		assert.Contains(t, string(text), "`"+string(action)+"`")
	}
}
