package skill_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// snapshots are the names of all snapshots of a workspace by their digests, each of
// which must be as it was taken.
func (b *appliedSkill) snapshots() map[string]string {
	b.t.Helper()
	entries, err := os.ReadDir(b.Workspace.Dir)
	require.NoError(b.t, err)
	found := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "v") && !strings.HasPrefix(e.Name(), "before-") {
			continue
		}
		tree, err := workspace.Verify(b.t.Context(), filepath.Join(b.Workspace.Dir, e.Name()))
		require.NoError(b.t, err)
		found[tree.Digest()] = e.Name()
	}
	return found
}

// TestPersonsFilesAreNeverLost applies, merges, undoes and edits in any order: what
// the skill was before is a snapshot then, or the merge of two, and an error changes
// nothing.
func TestPersonsFilesAreNeverLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 19))
			b := newAppliedSkill(t)
			merges := map[string]bool{} // digests
			history, undone := "", false
			for step := range 12 {
				before, kept := b.state(), b.snapshots()
				var done *skill.Changed
				var err error
				change := skill.ChangeOptions{
					Version: []int{0, 1, skill.BestVersion}[random.IntN(3)], Yes: true,
					Merge: random.IntN(2) == 0, Force: random.IntN(2) == 0,
				}
				kind := random.IntN(3)
				history += fmt.Sprintf("\n%d: %d %+v", step, kind, change)
				switch kind {
				case 0:
					lines := strings.Split(b.text(), "\n")
					lines[2*random.IntN(3)] = fmt.Sprint("step ", step)
					b.edit(strings.Join(lines, "\n"))
					undone = false
					continue
				case 1:
					done, err = b.Apply(t.Context(), change)
				default:
					done, err = b.Undo(t.Context(), change)
				}
				after, now := b.state(), b.snapshots()
				for digest, name := range kept {
					require.Contains(t, now, digest, "%s is not there any more:%s", name, history)
				}
				if err != nil {
					require.Equal(t, before, after, history)
					continue
				}
				require.True(t, done.Done, history)
				require.False(t, kind == 2 && undone && done.Changed, "undoing twice undoes once:%s", history)
				undone = kind == 2
				require.Equal(t, before != after, done.Changed, history)
				if before != after && !merges[before] {
					require.Contains(t, now, before, "what it was is lost:%s", history)
				}
				if applied := b.Workspace.Applied; done.Changed {
					require.Equal(t, after, applied.Digest, "what was noted is what is there:%s", history)
					if applied.Before != "" {
						merges[after] = true
					}
				}
				saved, err := workspace.OpenWorkspace(b.Workspace.Dir)
				require.NoError(t, err)
				assert.Equal(t, b.Workspace.Applied, saved.Applied, history)
			}
		})
	}
}

// state is the digest of the skill.
func (b *appliedSkill) state() string {
	b.t.Helper()
	tree, err := workspace.Scan(b.t.Context(), b.dir)
	require.NoError(b.t, err)
	return tree.Digest()
}
