package tree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git/tree"
)

func TestRacedFileIsReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	built := f.build(tree.Options{})
	f.write(built.Dir, "a.txt", "1\n")
	changes := f.scan(built)
	f.write(built.Dir, "a.txt", "evil\n")
	id := must(built.Candidate(t.Context(), changes))
	assert.Equal(t, "1", f.git("show", id+":a.txt"), "what was scanned is what counts")
}

func TestClockThatStandsStill(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "0\n"})
	built := f.build(tree.Options{})
	f.write(built.Dir, "a.txt", "1\n")
	require.NoError(t, tree.SlowClock(built, "a.txt"))
	assert.Len(t, f.scan(built), 1)
}
