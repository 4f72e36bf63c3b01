package live_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/live"
)

func TestLeftoverIsNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, "autoloop", "live", "speed")
	require.NoError(t, os.MkdirAll(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "status.json"), []byte(`{"stage":"measure"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(left, "stop"), nil, 0o600))
	board := live.New(dir)
	running, err := board.Running()
	require.NoError(t, err)
	assert.Empty(t, running)
	run, err := board.Begin("speed")
	require.NoError(t, err)
	assert.False(t, run.StopAsked(), "a new run is not stopped by what the last one was asked")
	run.Close()
}

// TestLinkForStatusIsNotFollowed: it may lead to what others may not read.
func TestLinkForStatusIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	board := live.New(dir)
	run, err := board.Begin("speed")
	require.NoError(t, err)
	defer run.Close()
	other := filepath.Join(t.TempDir(), "secret.json")
	require.NoError(t, os.WriteFile(other, []byte(`{"stage":"forged"}`), 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(dir, "autoloop", "live", "speed", "status.json")))
	running, err := board.Running()
	require.NoError(t, err)
	assert.Equal(t, []live.Status{{Program: "speed"}}, running)
}

func TestStatusSaysWhatAndForHowLong(t *testing.T) {
	t.Parallel()
	since := time.Unix(1_000, 0)
	s := live.Status{Program: "p", Iteration: 3, Stage: "measure", Since: since}
	assert.Equal(t, "p #3 measure (5 s)", s.At(since.Add(5900*time.Millisecond)))
	assert.Equal(t, "p #3 measure (0 s)", s.At(since.Add(-time.Hour)), "clocks differ")
	s.Detail = "candidate 2 of 4"
	assert.Equal(t, "p #3 measure: candidate 2 of 4", s.String())
}
