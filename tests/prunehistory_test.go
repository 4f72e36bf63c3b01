package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// longWorld has a program with so many iterations behind it, which are made.
func longWorld(t *testing.T, iterations int) *world {
	t.Helper()
	return longerWorld(t, iterations, 0)
}

// longerWorld is longWorld with so many bytes more in each iteration's events.
func longerWorld(t *testing.T, iterations, size int) *world {
	t.Helper()
	w := valuesWorld(t, "metric_direction: lower", "5", "4", "3")
	repo, err := git.Open(t.Context(), w.dir, os.Environ())
	require.NoError(t, err)
	more := func(is history.Head, _ *history.Decided) []history.Event {
		if size == 0 {
			return nil
		}
		return []history.Event{&history.Answered{Head: is, Key: fmt.Sprintf("issue/%d", is.Iteration), Reason: strings.Repeat("said ", size/5)}}
	}
	madeHistory(t, repo, iterations, identity{"e", "d", nil}, more)
	return w
}

func TestPruneArchivesHistory(t *testing.T) {
	t.Parallel()
	w := longWorld(t, 300)
	a := w.binary("iterate", "replay", "p")
	require.Zero(t, a.code, a.stdout+a.stderr)
	before := w.git("rev-parse", "memory/autoloop")

	a = w.binary("scheduler", "prune", "--history", "p", "--keep", "100")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "p: iterations 1 to ")
	assert.Contains(t, a.stdout, "what they add up to stays")
	assert.Contains(t, a.stderr, "use --yes", "it asks")
	assert.Equal(t, before, w.git("rev-parse", "memory/autoloop"))
	assert.Contains(t, w.binary("scheduler", "prune", "--history", "p").stdout, "nothing to archive")
	assert.Contains(t, w.binary("scheduler", "prune", "--keep", "3").stderr, "--history")

	file := filepath.Join(w.side, "old.jsonl")
	a = w.binary("scheduler", "prune", "--history", "p", "--keep", "100", "--out", file, "--yes")
	require.Zero(t, a.code, a.stderr)
	a = w.binary("iterate", "replay", "p")
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout, "that are archived")
	a = w.binary("iterate", "replay", "p", "--archive", file)
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout, "p: 300 iterations")

	a = w.binary("iterate", "log", "p")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stderr, "are archived in old.jsonl")
	assert.Contains(t, a.stdout, "\n      300")
	assert.Contains(t, w.binary("iterate", "log", "p", "7").stderr, "iteration 7 of p is archived in old.jsonl")
	require.Zero(t, w.binary("iterate", "page", "--out", filepath.Join(w.side, "page.html")).code)
	page, err := os.ReadFile(filepath.Join(w.side, "page.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "are archived.")
	assert.Contains(t, string(page), "0 / 300")
	assert.Contains(t, w.binary("scheduler", "status").stdout, "300")
	assert.Equal(t, 301, w.one().Iteration, "the program goes on")
	a = w.binary("iterate", "replay", "p", "--archive", file)
	require.Zero(t, a.code, a.stdout+a.stderr)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "rejected", "accepted", 1)), 0o600))
	a = w.binary("iterate", "replay", "p", "--archive", file)
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "which is not given")
}
