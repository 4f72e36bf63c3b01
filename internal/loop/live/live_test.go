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

func TestARunIsOnTheBoardUntilItEnds(t *testing.T) {
	t.Parallel()
	board := live.New(t.TempDir())
	none, err := board.Running()
	require.NoError(t, err)
	assert.Empty(t, none)

	run, err := board.Begin("speed")
	require.NoError(t, err)
	want := live.Status{Program: "speed", Iteration: 3, Stage: "measure", Detail: "pair 2 of 8", Since: time.Unix(1000, 0).UTC()}
	run.Tell(want)
	running, err := board.Running()
	require.NoError(t, err)
	assert.Equal(t, []live.Status{want}, running)

	second, err := board.Begin("speed")
	require.NoError(t, err)
	assert.Nil(t, second, "one run of a program is on the board")
	second.Tell(live.Status{Stage: "lost"})
	second.Close()
	assert.False(t, second.StopAsked())

	assert.False(t, run.StopAsked())
	asked, err := board.AskToStop()
	require.NoError(t, err)
	assert.Equal(t, []string{"speed"}, asked)
	assert.True(t, run.StopAsked())
	run.Close()
	running, err = board.Running()
	require.NoError(t, err)
	assert.Empty(t, running)
}

func TestWhatARunLeftIsNotTakenForARun(t *testing.T) {
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

// TestAForgedStatusIsNotShown: what lies in the place of a status and is too large,
// or a link, is not read.
func TestAForgedStatusIsNotShown(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(t *testing.T, file string){
		"a large one": func(t *testing.T, file string) {
			text := append([]byte(`{"stage":"forged"`), []byte(`}`)...)
			for len(text) < 17<<10 {
				text = append(text, ' ')
			}
			require.NoError(t, os.WriteFile(file, text, 0o600))
		},
		"a link": func(t *testing.T, file string) {
			other := filepath.Join(t.TempDir(), "secret.json")
			require.NoError(t, os.WriteFile(other, []byte(`{"stage":"forged"}`), 0o600))
			require.NoError(t, os.Symlink(other, file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			board := live.New(dir)
			run, err := board.Begin("speed")
			require.NoError(t, err)
			defer run.Close()
			forge(t, filepath.Join(dir, "autoloop", "live", "speed", "status.json"))
			running, err := board.Running()
			require.NoError(t, err)
			assert.Equal(t, []live.Status{{Program: "speed"}}, running)
		})
	}
}
