package loop

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// TestRefsMovedByAgent: of the differences of a repository all count but what was fetched, and
// a memory branch that went on without this program.
func TestRefsMovedByAgent(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	d := newMemoryRun(t, "", wasMeasured("1"))
	own := iterationText(t, d.stored.files.Ledger)
	ids := g.commit(t,
		commitSpec{name: "m0", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
		commitSpec{name: "root", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{name: "kept", parents: "root"},
		commitSpec{name: "m1", parents: "m0", files: map[string]string{iterationPath("other"): own}},
		commitSpec{name: "forged", parents: "m0", files: map[string]string{iterationPath("p"): own + "\n"}},
		commitSpec{name: "rewritten", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
	)
	const memoryRef = "ref refs/heads/memory/autoloop"
	for name, c := range map[string]struct {
		key, was, now string // what differs, by the names of commits
		counts        string // "" for a difference that does not count
	}{
		"the default branch": {
			key: "ref refs/heads/main", was: "root", now: "kept",
			counts: "ref refs/heads/main moved from " + ids["root"][:12] + " to " + ids["kept"][:12],
		},
		"another program's branch": {
			key: "ref refs/heads/autoloop/other", was: "root", now: "kept", counts: "ref refs/heads/autoloop/other moved",
		},
		"what was obtained":    {key: "ref " + git.ObtainedRefs + "x", was: "root", now: "kept"},
		"records that are new": {key: memoryRef, now: "m0", counts: memoryRef + " was added"},
		"other records":        {key: memoryRef, was: "m0", now: "m1"},
		"its own ledger": {
			key: memoryRef, was: "m0", now: "forged",
			counts: memoryRef + " moved",
		},
		"records that do not go on from there": {
			key: memoryRef, was: "m0", now: "rewritten",
			counts: memoryRef + " moved",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := git.Fingerprint{"file x": "same"}, git.Fingerprint{"file x": "same"}
			for side, value := range map[*git.Fingerprint]string{&before: c.was, &after: c.now} {
				if delete(*side, c.key); value != "" {
					(*side)[c.key] = value
					if id := ids[value]; id != "" {
						(*side)[c.key] = id
					}
				}
			}
			wasBefore, wasAfter := maps.Clone(before), maps.Clone(after)
			d := newMemoryRunIn(t, g.Repo, "p", "")
			lines, err := d.team.changesOf(t.Context(), before, after)
			require.NoError(t, err)
			if c.counts == "" {
				assert.Empty(t, lines)
			} else {
				require.Len(t, lines, 1)
				assert.Contains(t, lines[0], c.counts)
			}
			assert.Equal(t, []git.Fingerprint{wasBefore, wasAfter}, []git.Fingerprint{before, after},
				"the fingerprints stay as they are")
		})
	}
}
