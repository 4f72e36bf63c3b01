package loop

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// TestPullRequestMergedMeanwhile: a bundle that was made before keeps its gain, on top
// of what was merged.
func TestPullRequestMergedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, merge := range map[string]func(b *fixture, head string){
		"as a squash": func(b *fixture, head string) {
			b.git("update-ref", "refs/heads/main", b.git("commit-tree", head+"^{tree}", "-p", "main", "-m", "squashed"))
		},
		"by a merge, with more": func(b *fixture, head string) {
			tree := b.treeWith(head, map[string]string{"other.txt": "a person's\n"})
			b.git("update-ref", "refs/heads/main", b.git("commit-tree", tree, "-p", "main", "-p", head, "-m", "merged"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\nci-gate: off", "1", "3", "5")
			f := onGitHub(t, b)
			require.Equal(t, history.Accepted, b.one().Outcome)
			made, head := b.made(), b.git("rev-parse", "autoloop/p")
			merge(b, head)
			f.pull = &commands.Pull{Number: 8, Merged: true, Head: head}
			result, err := b.service.Publish(t.Context(), made)
			require.NoError(t, err)
			assert.Equal(t, history.Accepted, result.Outcome, "%v", result.Reasons)
			assert.Equal(t, "5", b.kept())
			assert.Equal(t, head, b.git("rev-parse", "autoloop/p~1"), "the next run replays it")
			assert.Equal(t, "value.txt", b.git("diff", "--name-only", "autoloop/p~1", "autoloop/p"))
			assert.Empty(t, auditOf(b.records().log.Events))
		})
	}
}

// TestBundleOfMissingBranch: while nothing is kept there is no branch, and one that
// somebody makes meanwhile makes the bundle stale.
func TestBundleOfMissingBranch(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3")
	made := b.made()
	assert.Empty(t, made.Branch)
	b.git("update-ref", "refs/heads/autoloop/p", b.git("commit-tree", "main^{tree}", "-p", "main", "-m", "a person's"))
	_, err := b.service.Publish(t.Context(), made)
	require.ErrorContains(t, err, "is stale: branch autoloop/p has moved")
	b.git("update-ref", "-d", "refs/heads/autoloop/p")
	b.commit(map[string]string{"value.txt": "2\n"})
	_, err = b.service.Publish(t.Context(), made)
	require.NoError(t, err, "the default branch may move on: the gain is one over what it was")
	assert.Equal(t, "3", b.kept())
	assert.Equal(t, b.git("rev-parse", "main~1"), b.git("rev-parse", "autoloop/p~1"))
}

// TestRefusedMergeOfDefaultBranch pauses too, in one job and in two: its baseline is of
// a commit that the remote does not have.
func TestRefusedMergeOfDefaultBranch(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2} {
		b := newFixture(t, "evaluation-runs: 1", "1", "3", "5")
		b.one()
		b.commit(map[string]string{"other.txt": "a person's\n"})
		old := b.git("rev-parse", "autoloop/p")
		remote := func(git.RefUpdate) error { return refusal(protected) }
		result, err := b.in(jobs, remote)
		require.NoError(t, err)
		assert.Equal(t, history.Error, result.Outcome)
		reason := result.Reasons[0]
		assert.Contains(t, reason.String(),
			"refused the push: autoloop/p (protected")
		assert.Equal(t, jobs == 2, strings.HasPrefix(reason.String(), "the gain was not kept: "), reason)
		assert.Contains(t, result.Stopped, "paused: remote origin refused the push")
		assert.Equal(t, old, b.git("rev-parse", "autoloop/p"))
		records := b.records()
		assert.Equal(t, old, records.sum.Incumbent, "no baseline of the merge is on record")
		assert.Equal(t, "3", records.sum.Best.String())
		assert.Nil(t, records.sum.Open)
		assert.Empty(t, auditOf(records.log.Events))
	}
}
