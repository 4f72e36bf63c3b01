package loop

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// TestAnIterationThatCouldNotBeRun is on record as an error, with what its time and its
// agents were; the third in a row pauses the program.
func TestAnIterationThatCouldNotBeRun(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "2")
	for i := 1; i <= maxErrors; i++ {
		r := b.start()
		result, err := r.fail(t.Context(), position{}, decision.Say("the disk\nis full"))
		require.NoError(t, err)
		assert.Equal(t, []any{i, history.Error, []string{"the disk\nis full"}},
			[]any{result.Iteration, result.Outcome, decision.Texts(result.Reasons)})
		assert.Equal(t, i == maxErrors, result.Stopped != "", result.Stopped)
		sum := b.records().sum
		assert.Equal(t, i, sum.Iteration)
		assert.Equal(t, i, sum.ConsecutiveErrors())
		assert.Nil(t, sum.Open, "the lease is given back")
	}
	assert.Contains(t, decision.Text(b.records().sum.Paused), "3 errors in a row, the last: the disk is full;")
	assert.NotContains(t, b.refs(), "refs/heads/autoloop/", "nothing was kept")
}

// TestWhatOnlyAPersonCanResolve pauses at once, and once.
func TestWhatOnlyAPersonCanResolve(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "2")
	for range maxErrors - 1 {
		_, err := b.start().fail(t.Context(), position{}, decision.Say("the disk is full"))
		require.NoError(t, err)
	}
	result, err := b.start().failForPerson(t.Context(), decision.Say("main does not merge"))
	require.NoError(t, err)
	assert.Equal(t, history.Error, result.Outcome)
	pauses := slices.Collect(history.Of[*history.Paused](slices.All(b.records().log.Events)))
	require.Len(t, pauses, 1, "the third error in a row pauses it too")
	assert.Contains(t, pauses[0].Reason.String(), "3 errors in a row")
	assert.Contains(t, result.Stopped, "paused: "+pauses[0].Reason.String()+"; go on with ")

	other := newBed(t, "", "1", "2")
	result, err = other.start().failForPerson(t.Context(), decision.Say("main does not merge"))
	require.NoError(t, err)
	assert.Contains(t, result.Stopped, "paused: main does not merge; go on with ")
	assert.True(t, other.records().machine.Paused)
}

// TestARunWithNothingLeftToDo gives its lease back, and no iteration is on record.
func TestARunWithNothingLeftToDo(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "2")
	r := b.start()
	r.stopped = "budget: all of it"
	result, err := r.finish(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []any{history.Idle, "budget: all of it", 0},
		[]any{result.Outcome, result.Stopped, result.Iteration})
	sum := b.records().sum
	assert.Nil(t, sum.Open)
	assert.Empty(t, sum.Attempts)
	assert.Zero(t, sum.Interrupted)
}
