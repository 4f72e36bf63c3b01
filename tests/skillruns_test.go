package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flaky is an executor that does better in every third evaluation of two cases,
// whatever the skill says.
const flaky = `n=$(cat "$SIDE/count" 2>/dev/null || echo 0); echo $((n+1)) > "$SIDE/count"; cat "$AUTOLOOP_SKILL/SKILL.md" > outputs/out.md
	case $((n%6)) in 2|3) echo beta >> outputs/out.md;; esac`

func TestSkillRunsAutoKeepsWhatRepeats(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 && echo beta >> SKILL.md || echo nothing >> SKILL.md; echo "step $AUTOLOOP_ITERATION"`)
	end := w.skillEnd("-n", "2", "--runs", "auto")
	require.Len(t, end.Iterations, 3)
	assert.Equal(t, "kept", end.Iterations[1].Action)
	assert.Contains(t, end.Iterations[1].Changelog, "measured again on both sides with the same result")
	assert.NotContains(t, end.Iterations[1].Changelog, "unverified")
	assert.Equal(t, "reverted", end.Iterations[2].Action)
	for dir, there := range map[string]bool{"run-2": true, "incumbent-1": true, "incumbent-2": false} {
		assert.Equal(t, there, w.exists(filepath.Join(ws, "iteration-1", dir)), dir)
	}
	assert.False(t, w.exists(ws+"/iteration-2/incumbent-1"), "what is not better is not repeated")
}

func TestSkillRunsAutoRevertsWhatIsNoise(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo nothing >> SKILL.md; echo nothing`)
	run := func(more ...string) skillEnd {
		return w.skillEnd(append([]string{"-n", "1", "--jobs", "1", "--executor-command", flaky}, more...)...)
	}
	plain := run("--workspace", "plain")
	require.Len(t, plain.Iterations, 2)
	assert.Equal(t, "kept", plain.Iterations[1].Action, "one run of each keeps noise")
	assert.Contains(t, plain.Iterations[1].Changelog, "unverified")

	require.NoError(t, os.Remove(filepath.Join(w.side, "count")))
	auto := run("--runs", "auto")
	require.Len(t, auto.Iterations, 2)
	assert.Equal(t, "reverted", auto.Iterations[1].Action, auto.Iterations[1].Changelog)
	assert.True(t, w.exists(ws+"/iteration-1/incumbent-3"), "it came to pairs")
	auto = run("--runs", "auto")
	assert.Equal(t, "reverted", auto.Iterations[0].Action)
	assert.True(t, w.exists(ws+"/iteration-2/incumbent-3"), "and stays with them")
}

func TestSkillRunsInPairs(t *testing.T) {
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

// TestSkillRunsGoOnFromTheMedian has a version whose score, that of many runs,
// is not what its first run was graded.
func TestSkillRunsGoOnFromTheMedian(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `test "$AUTOLOOP_ITERATION" = 1 && echo beta >> SKILL.md || echo nothing >> SKILL.md`)
	require.Equal(t, 1, w.skillEnd("-n", "1").BestVersion)
	w.write(ws+"/results.tsv", strings.ReplaceAll(w.read(ws+"/results.tsv"), "0.666666666667", "0.6"))
	end := w.skillEnd("-n", "1")
	assert.Equal(t, "kept", end.Iterations[0].Action, "0.667 is better than 0.6: %s", end.Iterations[0].Changelog)
}
