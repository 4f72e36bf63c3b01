package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/long"
)

const (
	refusedForWorkflow = "remote origin refused the push: autoloop/p ([remote rejected] (refusing to allow a GitHub " +
		"App to create or update workflow " +
		"`.github/workflows/ci.yml` without `workflows` permission))"
	refusedByRule = "remote origin refused the push: autoloop/p ([remote rejected] (protected branch hook declined)): " +
		"leave `autoloop/**` out of the branch's rules, or let them except the token"
)

// changingWorkflows is a repository whose program may change a workflow file.
func changingWorkflows(t *testing.T, twoJobs bool) *hub {
	t.Helper()
	body := strings.Replace(working("  echo '# more' >> .github/workflows/ci.yml\n"), "metric: m\n",
		"metric: m\ntarget: [value.txt, .github/workflows/ci.yml]\n", 1)
	return newHubIn(t, twoJobs, map[string]string{
		"value.txt": "10\n", ".github/workflows/ci.yml": "on: issues\njobs: {}\n", ".autoloop/programs/p.md": body,
	}, "9", "8", "7")
}

// TestARefusedPushIsRecorded lets the target name a workflow: nothing but the
// candidate itself is refused.
func TestARefusedPushIsRecorded(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := changingWorkflows(t, twoJobs)
		got := h.one()
		assert.Equal(t, "error", got.Outcome)
		assert.Contains(t, got.Stopped, "paused: "+refusedForWorkflow)
		assert.Contains(t, got.Stopped, "AUTOLOOP_TOKEN")
		assert.Contains(t, got.Stopped, "take `.github/workflows` out of the Target")
		assert.Empty(t, head(t, h.bare, "autoloop/p"))
		assert.Contains(t, h.remembered("p.md"), "refusing to allow a GitHub App")
		assert.Contains(t, h.ledger(), "refusing to allow a GitHub App")
		assert.Equal(t, "idle", h.one().Outcome, "no agent works for nothing")
		assert.Equal(t, 1, h.agentRuns())
	})
}
