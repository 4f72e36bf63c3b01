package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/stretchr/testify/assert"
)

// landing simulates writers that push at the same moment, and returns when the last of
// them landed. An attempt reads the branch, works, and pushes; it loses when somebody else
// landed in between.
func landing(writers int, work time.Duration, pace func() backoff.BackOff) time.Duration {
	type writer struct {
		begun time.Duration // its attempt
		pace  backoff.BackOff
	}
	waiting := make([]*writer, writers)
	for i := range waiting {
		waiting[i] = &writer{pace: pace()}
	}
	landed := -time.Second // the last time that somebody did
	for len(waiting) > 0 {
		next := slices.MinFunc(waiting, func(a, b *writer) int { return int(a.begun - b.begun) })
		pushed := next.begun + work
		if landed <= next.begun {
			landed = pushed
			waiting = slices.DeleteFunc(waiting, func(w *writer) bool { return w == next })
			continue
		}
		next.begun = pushed + next.pace.NextBackOff()
	}
	return landed
}

// TestManyWritersGetTheirTurn: 64 writers that met all land within the time for which an
// update tries again, however fast their machines are; without chance in the pauses they
// would meet again and again.
func TestManyWritersGetTheirTurn(t *testing.T) {
	t.Parallel()
	m := &Memory{Remote: "origin"}
	steady := func() backoff.BackOff {
		pace := m.pace().(*backoff.ExponentialBackOff) //nolint:forcetypeassert,errcheck // it is one
		pace.RandomizationFactor = 0
		return pace
	}
	for _, work := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond} {
		for range 20 {
			assert.Less(t, landing(64, work, m.pace), retryRemote, work)
		}
		assert.Greater(t, landing(64, work, steady), retryRemote,
			"the simulation notices writers that meet again, %s", work)
	}
}
