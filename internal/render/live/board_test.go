package live_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/render/live"
)

// TestTwoPrograms: each run says what it is at itself, and what ends leaves the other alone.
func TestTwoPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	board := live.New(dir)
	speed, err := board.Begin("speed")
	require.NoError(t, err)
	size, err := board.Begin("a.size")
	require.NoError(t, err)
	second, err := board.Begin("speed")
	require.NoError(t, err)
	assert.Nil(t, second, "of several runs of a program the first is on the board")
	second.Tell(live.Status{Iteration: 9})
	second.Close()
	speed.Tell(live.Status{Program: "another", Iteration: 1, Stage: "propose"})
	speed.Tell(live.Status{Program: "another", Iteration: 2, Stage: "measure"})
	running, err := board.Running()
	require.NoError(t, err)
	assert.Equal(t, []live.Status{{Program: "a.size"}, {Program: "speed", Iteration: 2, Stage: "measure"}}, running,
		"the last word of each, under the name of its program")

	size.Close()
	speed.Close()
	files, err := filepath.Glob(filepath.Join(dir, "autoloop", "live", "*", "st*"))
	require.NoError(t, err)
	assert.Empty(t, files, "what a run said is gone with it")
}

// TestFilesThatAreNoStatus: a run whose status cannot be read goes on all the same, and what
// else lies on the board is no run.
func TestFilesThatAreNoStatus(t *testing.T) {
	t.Parallel()
	exact := `{"stage":"measure","detail":"` + strings.Repeat("x", 16<<10-len(`{"stage":"measure","detail":""}`)) + `"}`
	for name, c := range map[string]struct {
		text  string
		stage string
	}{
		"another type":         {`{"stage":"measure","iteration":"3"}`, ""},
		"one byte more":        {exact + " ", ""},
		"of the wrong program": {`{"program":"../../x","stage":"measure"}`, "measure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			board := live.New(dir)
			run, err := board.Begin("speed")
			require.NoError(t, err)
			defer run.Close()
			place := filepath.Join(dir, "autoloop", "live")
			require.NoError(t, os.WriteFile(filepath.Join(place, "speed", "status.json"), []byte(c.text), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(place, "a-file"), nil, 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(place, "empty"), 0o700))
			running, err := board.Running()
			require.NoError(t, err)
			require.Len(t, running, 1)
			assert.Equal(t, "speed", running[0].Program)
			assert.Equal(t, c.stage, running[0].Stage)
		})
	}
}

// TestBoardCannotBeMade is the error of who wants to be on it.
func TestBoardCannotBeMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "autoloop"), nil, 0o600))
	board := live.New(dir)
	_, err := board.Begin("speed")
	require.Error(t, err)
	_, err = board.Running()
	require.Error(t, err)
}

// TestStatusReadsBack: what is written is JSON with the names that others read.
func TestStatusReadsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, err := live.New(dir).Begin("speed")
	require.NoError(t, err)
	defer run.Close()
	run.Tell(live.Status{Program: "speed", Iteration: 3, Stage: "propose"})
	text, err := os.ReadFile(filepath.Join(dir, "autoloop", "live", "speed", "status.json"))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	assert.Equal(t, map[string]any{
		"program": "speed", "iteration": 3.0, "stage": "propose",
		"since": "0001-01-01T00:00:00Z",
	}, fields)
	info, err := os.Stat(filepath.Join(dir, "autoloop", "live", "speed", "status.json"))
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "it is the user's alone")
}

func TestLeftoverIsNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, "autoloop", "live", "speed")
	require.NoError(t, os.MkdirAll(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "status.json"), []byte(`{"stage":"measure"}`), 0o600))
	board := live.New(dir)
	running, err := board.Running()
	require.NoError(t, err)
	assert.Empty(t, running)
	run, err := board.Begin("speed")
	require.NoError(t, err)
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
