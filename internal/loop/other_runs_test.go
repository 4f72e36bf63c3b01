package loop

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// TestBranchOfRef: what a ref is, or what is known of a remote's.
func TestBranchOfRef(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"refs/heads/main": "main", "refs/heads/autoloop/p": "autoloop/p",
		"refs/remotes/origin/autoloop/p":            "autoloop/p",
		"refs/autoloop/seen/origin/memory/autoloop": "memory/autoloop",
		"refs/tags/v1": "", "refs/remotes/origin": "", "refs/heads": "", "HEAD": "", "refs/pull/8/head": "",
		"refs/autoloop/other/origin/main": "",
	} {
		assert.Equal(t, want, branchOf(ref), ref)
	}
}

// TestRefsMovedByAgent: of the differences of a repository those count that no run of
// another program explains by its records.
func TestRefsMovedByAgent(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	committed := g.commit(t, commitSpec{name: "root", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{name: "kept", parents: "root"}, commitSpec{name: "pending", parents: "kept"},
		commitSpec{name: "failed", parents: "kept"}, commitSpec{name: "stray", parents: "kept"})
	ledger := func(list ...history.Event) string {
		d := newMemoryRun(t, "", list...)
		return iterationText(t, d.stored.files.Ledger)
	}
	others := []history.Event{wasMeasured("1"), wasDecided(1, history.Accepted, "2", committed["kept"])}
	own := ledger(others...) // nothing that it says explains a move of its own branch
	turnedDown := append(others[:2:2], wasDecided(2, history.PendingCI, "3", committed["failed"]),
		wasDecided(2, history.CIFixExhausted, "3", ""))
	turnedDown = append(turnedDown, wasDecided(3, history.PendingCI, "3", committed["pending"]))
	ids := g.commit(t,
		commitSpec{name: "m0", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
		commitSpec{
			name: "m1", parents: "m0",
			files: map[string]string{
				iterationPath("other"): ledger(turnedDown...),
				iterationPath("bad"):   "no ledger\n",
			},
		},
		commitSpec{name: "forged", parents: "m0", files: map[string]string{iterationPath("p"): own + "\n"}},
		commitSpec{name: "state", parents: "m0", files: map[string]string{"p.md": "# q\n"}},
		commitSpec{name: "table", parents: "m0", files: map[string]string{"p.results.tsv": "x\n"}},
		commitSpec{name: "gone", parents: "m0", files: map[string]string{iterationPath("p"): "-"}},
		commitSpec{name: "rewritten", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
	)
	maps.Copy(ids, committed)
	const memoryRef = "ref refs/heads/memory/autoloop"
	for name, c := range map[string]struct {
		key, was, now string // what differs, by the names of commits
		memory        string // where the memory branch is, "m1" unless given
		counts        string // "" for a difference that does not count
	}{
		"the default branch": {
			key: "ref refs/heads/main", was: "root", now: "kept",
			counts: "ref refs/heads/main moved from " + ids["root"][:12] + " to " + ids["kept"][:12],
		},
		"another's branch to what waits": {key: "ref refs/heads/autoloop/other", was: "kept", now: "pending"},
		"one whose ledger cannot be read": {
			key: "ref refs/heads/autoloop/bad", was: "root", now: "kept",
			counts: "ref refs/heads/autoloop/bad moved",
		},
		"a failed attempt":     {key: "ref refs/heads/autoloop-failed/other/2", now: "failed"},
		"what was obtained":    {key: "ref " + git.ObtainedRefs + "x", was: "root", now: "stray"},
		"records that are new": {key: memoryRef, now: "m0", memory: "m0", counts: memoryRef + " was added"},
		"before anything is on record": {
			key: "ref refs/heads/autoloop/other", was: "root", now: "kept", memory: "-", counts: "moved",
		},
		"other records": {key: memoryRef, was: "m0", now: "m1"},
		"its own ledger": {
			key: memoryRef, was: "m0", now: "forged", memory: "forged",
			counts: memoryRef + " moved",
		},
		"records that do not go on from there": {
			key: memoryRef, was: "m0", now: "rewritten", memory: "rewritten",
			counts: memoryRef + " moved",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := git.Fingerprint{"file x": "same"}, git.Fingerprint{"file x": "same"}
			if c.memory == "" {
				c.memory = "m1"
			}
			if c.memory != "-" {
				before[memoryRef], after[memoryRef] = ids[c.memory], ids[c.memory]
			}
			for side, value := range map[*git.Fingerprint]string{&before: c.was, &after: c.now} {
				if c.key == "" {
					continue
				}
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
