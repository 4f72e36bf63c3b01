package loop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
)

// TestAnEvaluatorChangedBeforeItRuns: what another process writes to the files that
// measure, before or between the runs, is found before it measures anything.
func TestAnEvaluatorChangedBeforeItRuns(t *testing.T) {
	t.Parallel()
	for _, isolated := range []bool{false, true} {
		b := newBed(t, "evaluation-runs: 8", "1", "2", "3")
		b.service.Isolated = isolated
		require.Equal(t, history.Accepted, b.one().Outcome)
		b.evaluating = func(dir string) {
			_ = os.Chmod(filepath.Join(b.service.RunDir, "w"), 0o700) //nolint:gosec // as an agent of our user can
			trees, err := filepath.Glob(filepath.Join(b.service.RunDir, "w", "*", "t"))
			require.NoError(t, err)
			for _, tree := range trees {
				if tree != dir {
					require.NoError(t, os.WriteFile(filepath.Join(tree, "other.txt"), []byte("forged\n"), 0o600))
				}
			}
		}
		got := b.one()
		if isolated { // Nothing else reaches the trees: what happened was the candidate.
			assert.Equal(t, history.Rejected, got.Outcome)
			continue
		}
		assert.Equal(t, history.Error, got.Outcome)
		assert.Equal(t, []string{`files of the evaluation were changed before it ran: "other.txt"`}, decision.Texts(got.Reasons))
		assert.Equal(t, "2", b.kept())
	}
}
