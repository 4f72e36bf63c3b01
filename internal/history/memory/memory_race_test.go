package memory_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
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
				update := memory.Update{Program: "x", Message: line, Apply: adding(line)}
				if _, err := writer.Update(t.Context(), update); err != nil {
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
	for i := range writers {
		own := slices.DeleteFunc(slices.Clone(got), func(line string) bool {
			var writer, n int
			_, err := fmt.Sscanf(line, "%d-%d", &writer, &n)
			return err != nil || writer != i
		})
		assert.True(t, slices.IsSorted(own), "each writer's lines are in order: %v", own)
	}
	slices.Sort(got)
	slices.Sort(want)
	assert.Equal(t, want, got)
}

func TestRaceInOneRepository(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	race(t, []*checkout{c, c, c, c}, 5)
	assert.Equal(t, "20", c.user("rev-list", "--count", memoryRef))
}

func TestRaceBetweenClones(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	writers := []*checkout{clone(), clone("--depth=1"), clone()}
	race(t, writers, 4)
	writers[0].user("--git-dir="+bare, "fsck", "--strict")
}
