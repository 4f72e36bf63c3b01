package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// TestAMemberWhoMayOnlyReadWritesNoProgramAndSteersNone has an organisation whose
// members may read.
func TestAMemberWhoMayOnlyReadWritesNoProgramAndSteersNone(t *testing.T) {
	t.Parallel()
	inJobs(t, func(t *testing.T, twoJobs bool) {
		t.Helper()
		h := newHubIn(t, twoJobs, map[string]string{"value.txt": "10\n"}, "9", "8")
		h.Change(func(s *githubtest.State) { s.Roles["mel"], s.Permissions["mel"] = "MEMBER", "read" })
		h.program(onIssue)
		h.site.open("mel", "Mels", onIssue, "autoloop-program")
		h.say("mel", "/autoloop pause")
		h.say("mel", "Bigger steps, please.")
		require.Equal(t, "accepted", h.scene.one().Outcome)
		assert.NotContains(t, h.told(1), "Bigger")
		assert.Empty(t, h.answers())
		plan := h.plan()
		require.Len(t, plan.Untrusted, 1)
		assert.Contains(t, plan.Untrusted[0].Reason, "mel is MEMBER in this repository and may not push to it")
		assert.NotContains(t, plan.IssuePrograms, "mels")
		h.Change(func(s *githubtest.State) { s.Permissions["mel"] = "write" })
		assert.Contains(t, h.plan().IssuePrograms, "mels")
	})
}
