package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// A machine that goes away in the middle of a run of Actions leaves the lease.
func TestTheLeaseOfAnEndedRunIsFree(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7")
	h.program(strings.Replace(onIssue, "  value=",
		`  [ -e "$SIDE/begun" ] || { touch "$SIDE/begun"; sleep 600; }`+"\n  value=", 1))
	h.env = append(h.env, "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=1")
	begun := filepath.Join(h.side, "begun")
	leave := func() {
		_ = os.Remove(begun)
		cmd := h.command("iterate", "--program", "p")
		require.NoError(t, cmd.Start())
		assert.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 5*time.Minute,
			20*time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	leave()
	h.env = append(h.env, "GITHUB_RUN_ID=78")
	for _, c := range []struct{ status, outcome string }{
		{"", "busy"},
		{"in_progress", "busy"},
		{"completed", "accepted"},
	} {
		h.Change(func(s *githubtest.State) {
			if s.Runs = map[int64]string{}; c.status != "" {
				s.Runs[77] = c.status
			}
		})
		assert.Equal(t, c.outcome, h.one().Outcome, c.status)
	}
	leave()
	h.env = append(h.env, "GITHUB_RUN_ATTEMPT=2")
	assert.Equal(t, "accepted", h.one().Outcome, "a run that is started again")
}
