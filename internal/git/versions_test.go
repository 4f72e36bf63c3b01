package git_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// TestVersionsAreWhatCommitsChanged: along first parents, as if the file of every commit
// were held against that of the one before.
func TestVersionsAreWhatCommitsChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	chance := rand.New(rand.NewPCG(3, 14))
	const path = "p-ä [x]*.jsonl"
	commit := func(parents []string, state int) string {
		files := map[string]*git.File{
			path: nil, "other": {Data: fmt.Append(nil, chance.Uint64())},
			"p-ä x.jsonl": {Data: fmt.Append(nil, chance.IntN(3))},
		}
		switch {
		case state > 0:
			files[path] = &git.File{
				Data: fmt.Append(nil, "content ", state),
				Mode: []string{git.ModeFile, git.ModeExecutable}[chance.IntN(2)],
			}
		case chance.IntN(2) == 0: // what it had is moved elsewhere
			files["moved"] = &git.File{Data: fmt.Append(nil, "content ", chance.IntN(4))}
		}
		base := ""
		if len(parents) > 0 {
			base = parents[0]
		}
		tree, err := f.repo.WriteFiles(t.Context(), base, files)
		require.NoError(t, err)
		id, err := f.repo.CommitTree(t.Context(), tree, parents, "m\n", fixed)
		require.NoError(t, err)
		return id
	}
	var line []string
	side := commit(nil, 7)
	for range 30 {
		var parents []string
		if len(line) > 0 {
			parents = line[len(line)-1:]
		}
		if len(line) > 0 && chance.IntN(4) == 0 {
			parents = []string{parents[0], side}
		}
		line = append(line, commit(parents, chance.IntN(4)))
	}
	var names []string
	for _, id := range line {
		names = append(names, id+":"+path)
	}
	objects, err := f.repo.Cat(t.Context(), names...)
	require.NoError(t, err)
	modes := make([]string, len(line))
	for i, id := range line {
		if found, err := f.repo.LsFiles(t.Context(), id, path); assert.NoError(t, err) && len(found) > 0 {
			modes[i] = found[0].Mode
		}
	}
	var want []git.DiffEntry
	for i := len(line) - 1; i >= 0; i-- {
		before, mode := "", ""
		if i > 0 {
			before, mode = objects[i-1].ID, modes[i-1]
		}
		if objects[i].ID != before || modes[i] != mode {
			want = append(want, git.DiffEntry{
				Commit: line[i], Path: path, OldMode: mode, NewMode: modes[i], OldID: before, NewID: objects[i].ID,
			})
		}
	}
	require.Greater(t, len(want), 10)
	got, err := f.repo.Versions(t.Context(), path, line[len(line)-1])
	require.NoError(t, err)
	assert.Equal(t, want, got)

	none, err := f.repo.Versions(t.Context(), "gone", line[len(line)-1])
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = f.repo.Versions(t.Context(), path, "none")
	require.Error(t, err)
	_, err = f.repo.Versions(t.Context(), path, "--all")
	require.Error(t, err, "a revision is no flag")
}

// TestWhyAPushWasRefused: it is tried again when nothing but the movement of refs is in its
// way, and a lock that a killed process left is named.
func TestWhyAPushWasRefused(t *testing.T) {
	t.Parallel()
	moved, hook, atomic := "[rejected] (stale info)", "[remote rejected] (pre-receive hook declined)",
		"[rejected] (atomic push failed)"
	for name, test := range map[string]struct {
		reasons []string
		stale   bool
		says    string
	}{
		"it moved": {
			[]string{moved},
			true,
			"remote origin refused the push: a ([rejected] (stale info))",
		},
		"one of two moved": {
			[]string{moved, atomic},
			true,
			"remote origin refused the push: a ([rejected] (stale info))",
		},
		"the second moved": {
			[]string{atomic, moved},
			true,
			"remote origin refused the push: b ([rejected] (stale info))",
		},
		"both moved": {
			[]string{moved, "[rejected] (fetch first)"},
			true,
			"remote origin refused the push: a ([rejected] (stale info)), b ([rejected] (fetch first))",
		},
		"a hook":                {[]string{hook}, false, "remote origin refused the push: a (" + hook + ")"},
		"a hook, and one moved": {[]string{moved, hook}, false, "a ([rejected] (stale info)), b (" + hook + ")"},
		"a hook for one": {
			[]string{hook, atomic},
			false,
			"remote origin refused the push: a (" + hook + ")",
		},
		"each for the other's sake": {[]string{atomic, atomic}, true, "remote origin refused the push: "},
		"for the sake of itself": {
			[]string{atomic},
			true,
			"remote origin refused the push: a ([rejected] (atomic push failed))",
		},
		"two pushes at once": {
			[]string{"[remote rejected] (cannot lock ref 'refs/heads/a': is at 1 but expected 2)"},
			true, "cannot lock ref",
		},
		"two that make it": {
			[]string{"[remote rejected] (reference already exists)"},
			true,
			"reference already exists",
		},
		"checked out there meantime": {
			[]string{"[remote rejected] (remote ref updated since checkout)"},
			true,
			"since checkout",
		},
		"checked out there": {
			[]string{"[remote rejected] (branch is currently checked out)"},
			false,
			"currently checked out",
		},
		"protected": {
			[]string{"[remote rejected] (protected branch hook declined)"},
			false,
			"protected branch",
		},
	} {
		refused := &git.RejectedError{Remote: "origin"}
		for i, reason := range test.reasons {
			refused.Refs = append(refused.Refs, git.Rejection{Ref: "refs/heads/" + string("ab"[i]), Reason: reason})
		}
		require.ErrorIs(t, refused, git.ErrRejected, name)
		assert.Equal(t, test.stale, errors.Is(refused, git.ErrStale), name)
		assert.Contains(t, refused.Error(), test.says, name)
		assert.NotContains(t, refused.Error(), "\n", name)
	}
}

// TestALockThatIsInTheWayOfAPush is waited for as long as a push takes.
func TestALockThatIsInTheWayOfAPush(t *testing.T) {
	t.Parallel()
	for age, stale := range map[time.Duration]bool{
		0: true, time.Second: true, time.Minute: true,
		time.Minute + 1: false, 26 * time.Hour: false,
	} {
		refused := &git.RejectedError{
			Remote: "origin", Refs: []git.Rejection{{
				Ref:    "refs/heads/a",
				Reason: "[remote rejected] (failed to update ref)",
			}},
			Lock: &git.RemoteLock{Path: "/srv/it's/a.lock", Age: age},
		}
		assert.Equal(t, stale, errors.Is(refused, git.ErrStale), age)
		assert.Contains(t, refused.Error(),
			"the lock /srv/it's/a.lock is in the way, for "+age.Round(time.Second).String())
		assert.Contains(t, refused.Error(), `remove it with: rm '/srv/it'\''s/a.lock'`)
	}
}
