package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// race lets every writer add its lines at the same time, and holds the ledger
// against what was added.
func race(t *testing.T, writers []*checkout, lines int) {
	t.Helper()
	var group sync.WaitGroup
	problems := make([]error, len(writers))
	var want []string
	for i, writer := range writers {
		for n := range lines {
			want = append(want, fmt.Sprintf("%d-%d", i, n))
		}
		group.Go(func() {
			for n := range lines {
				line := fmt.Sprintf("%d-%d", i, n)
				if _, err := writer.Update(t.Context(), more("x", line)); err != nil {
					problems[i] = err
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range problems {
		require.NoError(t, err)
	}
	got := writers[0].ledger("x")
	slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	assert.Equal(t, want, got, "each writer's lines are there, in order")
}

func TestRaceInOneRepository(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	race(t, []*checkout{c, c, c, c}, 5)
	assert.Equal(t, "20", c.Git("rev-list", "--count", memoryRef))
}

func TestRaceBetweenClones(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	writers := []*checkout{clone(), clone("--depth=1"), clone()}
	race(t, writers, 4)
	bare.Git("fsck", "--strict")
}
