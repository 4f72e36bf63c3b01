package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestSkillRunsInPairs(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	end := w.skillEnd("-n", "1", "--runs", "4")
	require.Len(t, end.Iterations, 2)
	assert.Equal(t, "kept", end.Iterations[1].Action, end.Iterations[1].Changelog)
	assert.Contains(t, end.Iterations[1].Changelog, "this confirms, in new trees")
	assert.InDelta(t, 0.6667, *end.Iterations[1].Score, 0.001)
	assert.True(t, w.exists(ws+"/iteration-1/eval-2/grading.json"), "the first run")
	for _, runs := range []string{"0", "2", "3", "-1", "x", "1001"} {
		a := w.skill("--runs", runs)
		assert.Equal(t, 2, a.code, runs)
		assert.Contains(t, a.stderr, "a number from 4 to 1000")
	}
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}
