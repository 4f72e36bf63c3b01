package memory_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/long"
)

// contend lets so many writers, each in a clone and with a program of its own, push an
// update at the same moment. It returns how often they tried, and how long each took.
func contend(t testing.TB, writers int) (attempts int64, took []time.Duration) {
	t.Helper()
	bare, clone := newShared(t)
	clones := make([]*checkout, writers)
	for i := range clones {
		clones[i] = clone()
	}
	clones[0].add("first", "0")
	var tried atomic.Int64
	var group sync.WaitGroup
	begin := make(chan struct{})
	took, problems := make([]time.Duration, writers), make([]error, writers)
	for i, c := range clones {
		group.Go(func() {
			<-begin
			at := time.Now()
			_, problems[i] = c.Update(t.Context(),
				memory.Update{
					Program: fmt.Sprintf("p%d", i), Message: "m",
					Apply: func(current memory.Files) (memory.Files, error) {
						tried.Add(1)
						return adding("landed")(current)
					},
				})
			took[i] = time.Since(at)
		})
	}
	close(begin)
	group.Wait()
	for i, err := range problems {
		require.NoError(t, err, "p%d", i)
	}
	last := clones[0]
	states, err := last.States(t.Context())
	require.NoError(t, err)
	assert.Len(t, states, writers+1, "all of them landed")
	last.user("--git-dir="+bare, "fsck", "--strict")
	slices.Sort(took)
	return tried.Load(), took
}

// TestWritersOfManyProgramsAllLand: those who lose a race try again, until each has had
// its turn.
func TestWritersOfManyProgramsAllLand(t *testing.T) {
	long.Only(t, long.Simulations)
	const writers = 8
	attempts, _ := contend(t, writers)
	assert.GreaterOrEqual(t, attempts, int64(writers))
	assert.Less(t, attempts, int64(writers*writers), "they do not all meet again and again")
}
