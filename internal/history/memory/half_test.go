package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/long"
)

// interrupted is a shared program x whose records have the incumbent a and a run r of
// iteration 2 that never came back, and the commit of that run; other is one of a person's.
func interrupted(t *testing.T) (c *checkout, bare string, ledger []byte, commits map[string]string) {
	t.Helper()
	bare, clone := newShared(t)
	c = clone()
	commits = c.lines()
	of := func(name, parent string, paragraphs ...string) {
		args := []string{"commit-tree", "HEAD^{tree}", "-p", commits[parent]}
		for _, paragraph := range paragraphs {
			args = append(args, "-m", paragraph)
		}
		commits[name] = c.user(args...)
	}
	trailers := "Autoloop-Iteration: 2\nAutoloop-Metric: 1\nAutoloop-Run: r"
	of("run's", "a", "[Autoloop: x] Iteration 2: faster", trailers)
	of("run's elsewhere", "other", "[Autoloop: x] Iteration 2: faster", trailers)
	of("person's", "a", "Make it faster", "Autoloop-Iteration: 2")
	var refs []string
	for name, commit := range commits {
		if name != "" {
			refs = append(refs, commit+":refs/heads/keep/"+strings.NewReplacer("'", "", " ", "").Replace(name))
		}
	}
	c.user(append([]string{"push", "-q", "origin"}, refs...)...)
	log, err := history.Parse(nil)
	require.NoError(t, err)
	require.NoError(t, log.Append(
		&history.Decided{Head: history.Head{Run: "q", Time: c.Now(), Iteration: 1}, Outcome: history.Accepted, Commit: commits["a"]},
		&history.Started{Head: history.Head{Run: "r", Time: c.Now(), Iteration: 2}, Lease: &history.Lease{Host: "h"}},
	))
	return c, bare, log.Bytes(), commits
}

// TestBranchesThatAreNotTakenBack: on a remote of this machine only what an interrupted
// run pushed there is taken back to where the records say that the branch is.
func TestBranchesThatAreNotTakenBack(t *testing.T) {
	t.Parallel()
	c, bare, ledger, commits := interrupted(t)
	event := func(e history.Event) []byte {
		line, err := history.Line(e)
		require.NoError(t, err)
		return append([]byte(string(ledger)), line...)
	}
	run := history.Head{Run: "r", Time: c.Now(), Iteration: 2}
	for name, test := range map[string]struct {
		remote string
		there  string
		ledger []byte
	}{
		"it is at the incumbent":       {"origin", "a", ledger},
		"it is not there":              {"origin", "", ledger},
		"nothing was kept yet":         {"origin", "run's", []byte(strings.Replace(string(ledger), "accepted", "rejected", 1))},
		"no records":                   {"origin", "run's", nil},
		"records nobody can read":      {"origin", "run's", []byte("{\n")},
		"a person pushed":              {"origin", "person's", ledger},
		"it begins elsewhere":          {"origin", "run's elsewhere", ledger},
		"the run decided":              {"origin", "run's", event(&history.Decided{Head: run, Outcome: history.Rejected})},
		"it waits for CI":              {"origin", "run's", event(&history.Decided{Head: run, Outcome: history.PendingCI, Commit: commits["run's"]})},
		"it was measured":              {"origin", "run's", event(&history.Measured{Head: history.Head{Run: "s", Iteration: 3}, Role: history.Baseline, Commit: commits["run's"]})},
		"the remote is not ours":       {"https://git.example.com/x.git", "run's", ledger},
		"there is no remote":           {"", "run's", ledger},
		"the remote is gone meanwhile": {filepath.Join(c.dir, "gone.git"), "run's", ledger},
	} {
		c.at(bare, map[string]string{branchRef: commits[test.there]})
		c.openMemory(test.remote)
		back, err := memory.HalfMoved(c.Memory, t.Context(), "x", branchRef, commits[test.there], memory.Files{Ledger: test.ledger})
		require.NoError(t, err, name)
		assert.Nil(t, back, name)
	}
}

// TestBranchesOfInterruptedRunsAreTakenBack when they stay as they are for a while.
func TestBranchesOfInterruptedRunsAreTakenBack(t *testing.T) {
	t.Parallel()
	c, bare, ledger, commits := interrupted(t)
	records := c.begin(map[string]string{"x.md": "state\n", "x.jsonl": string(ledger)})
	c.user("push", "-q", "origin", records+":"+memoryRef, commits["run's"]+":"+branchRef)
	c.at(c.dir, map[string]string{branchRef: commits["run's"]})
	calls := 0
	_, err := c.Update(t.Context(), memory.Update{
		Program: "x", Message: "m", Branch: &git.RefUpdate{Ref: branchRef, Old: commits["a"], New: commits["b"]},
		Apply: func(files memory.Files) (memory.Files, error) {
			calls++
			files.State = []byte("after\n")
			return files, nil
		},
	})
	require.NoError(t, err)
	assert.Equal(t, 1, calls)
	assert.Equal(t, commits["b"], c.there(bare, branchRef))
	assert.Equal(t, commits["b"], c.has(branchRef))
	assert.Equal(t, c.has(memoryRef), c.there(bare, memoryRef))
}

// TestFixesOfInterruptedRunsAreTakenBack to the commit that waits for CI, not to the
// incumbent before it.
func TestFixesOfInterruptedRunsAreTakenBack(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	c, _, ledger, commits := interrupted(t)
	waiting := c.user("commit-tree", "HEAD^{tree}", "-p", commits["a"], "-m", "[Autoloop: x] Iteration 2: faster")
	fix := c.user("commit-tree", "HEAD^{tree}", "-p", waiting, "-m", "[Autoloop: x] Iteration 2: fix CI (1)", "-m", "Autoloop-Iteration: 2\nAutoloop-Run: r")
	c.user("push", "-q", "origin", fix+":"+branchRef)
	decided, err := history.Line(&history.Decided{Head: history.Head{Run: "q", Time: c.Now(), Iteration: 2}, Outcome: history.PendingCI, Commit: waiting})
	require.NoError(t, err)
	accepted, started, _ := strings.Cut(string(ledger), "\n")
	back, err := memory.HalfMoved(c.Memory, t.Context(), "x", branchRef, fix, memory.Files{Ledger: []byte(accepted + "\n" + string(decided) + started)})
	require.NoError(t, err)
	assert.Equal(t, &git.RefUpdate{Ref: branchRef, Old: fix, New: waiting}, back)
}

// TestHalfMovedRemotesAreFinished when they stay as they are for a while: the branch here
// follows where it was at the same commit.
func TestHalfMovedRemotesAreFinished(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, here, after string }{
		"the branch here follows":     {"a", "a", "b"},
		"one that is elsewhere stays": {"a", "x", "x"},
		"it is made":                  {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, bare, ledger, commits := interrupted(t)
			old := commits[test.old]
			if old == "" {
				old = "none"
			}
			tree := c.user("rev-parse", c.begin(map[string]string{"x.md": "state\n", "x.jsonl": string(ledger)})+"^{tree}")
			records := c.user("commit-tree", tree, "-m", "m", "-m", fmt.Sprintf("Autoloop-Moves: %s %s %s", branchRef, old, commits["b"]))
			c.at(c.dir, map[string]string{memoryRef: records})
			c.user("push", "-q", "origin", records+":"+memoryRef)
			c.at(bare, map[string]string{branchRef: commits[test.old]})
			c.at(c.dir, map[string]string{branchRef: commits[test.here]})
			c.add("another", "1")
			assert.Equal(t, commits["b"], c.there(bare, branchRef))
			assert.Equal(t, commits[test.after], c.has(branchRef))
			for _, known := range []string{"refs/remotes/origin/autoloop/x", "refs/autoloop/seen/origin/autoloop/x"} {
				assert.Equal(t, commits["b"], c.has(known), "it is known that it was there")
			}
			assert.Equal(t, []string{"1"}, c.ledger("another"))
		})
	}
}

// TestWhatTheRemoteHasAfterAPush is asked, also where it took the push.
func TestWhatTheRemoteHasAfterAPush(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ then, says string }{
		"somebody went on from it": {"new=$(echo more | git commit-tree -p memory/autoloop 'memory/autoloop^{tree}') && git update-ref refs/heads/memory/autoloop $new", ""},
		"it is gone":               {"git update-ref -d refs/heads/memory/autoloop", "for memory/autoloop and now has no commit"},
		"it is another":            {"git update-ref refs/heads/memory/autoloop main", "for memory/autoloop and now has "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, bare := hooked(t, "post-receive", "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; "+test.then+"\n")
			commit, err := c.Update(t.Context(), memory.Update{Program: "x", Message: "m", Apply: adding("1")})
			if test.says == "" {
				require.NoError(t, err)
				assert.Equal(t, commit, c.there(bare, memoryRef+"^"))
				assert.Equal(t, commit, c.has(memoryRef))
				return
			}
			require.ErrorContains(t, err, "remote origin took ")
			require.ErrorContains(t, err, test.says)
			assert.Empty(t, c.has(memoryRef))
		})
	}
}

// TestPackingIsLeftToOneProcess: what another holds is not packed, and is counted on; what
// was packed before and is gone by now keeps nothing back.
func TestPackingIsLeftToOneProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories cannot be locked there")
	}
	t.Parallel()
	c := newCheckout(t)
	first := c.add("x", "1")
	dir := filepath.Join(c.dir, ".git", "autoloop")
	packs := func() []string {
		found, err := filepath.Glob(filepath.Join(c.dir, ".git/objects/pack/autoloop-*.pack"))
		require.NoError(t, err)
		return found
	}
	text, err := os.ReadFile(filepath.Join(dir, "updates"))
	require.NoError(t, err)
	assert.Regexp(t, `^[1-9][0-9]*\n$`, string(text), "an update was counted")
	require.Empty(t, packs())

	c.due()
	unlock, err := files.Lock(dir) // as another process does
	require.NoError(t, err)
	c.add("x", "2")
	assert.Empty(t, packs())
	text, err = os.ReadFile(filepath.Join(dir, "updates"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(text), "\n"))
	assert.NoFileExists(t, filepath.Join(dir, "packed"))
	unlock()

	require.NoError(t, os.WriteFile(filepath.Join(dir, "packed"), []byte("1111111111111111111111111111111111111111\nno id\n\n"), 0o600))
	mine := filepath.Join(c.dir, ".git", "objects", first[:2], first[2:])
	require.FileExists(t, mine)
	users := c.commit("the user's")
	c.user("branch", "mine", users)
	third := c.add("x", "3")
	require.Len(t, packs(), 1)
	assert.NoFileExists(t, mine)
	assert.NoFileExists(t, filepath.Join(dir, "updates"))
	assert.FileExists(t, filepath.Join(c.dir, ".git", "objects", users[:2], users[2:]), "what is the user's is not packed")
	packed, err := os.ReadFile(filepath.Join(dir, "packed"))
	require.NoError(t, err)
	assert.Equal(t, third+"\n", string(packed))
	c.user("fsck", "--strict")

	c.due()
	c.add("x", "4")
	assert.Len(t, packs(), 2)
	c.user("fsck", "--strict")
	assert.Equal(t, []string{"1", "2", "3", "4"}, c.ledger("x"))

	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	c.add("x", "5")
	assert.Equal(t, []string{"1", "2", "3", "4", "5"}, c.ledger("x"), "where nothing can be counted, records are still written")
}

// TestWhoseObjectsArePacked: those of the records and of program branches, and what is known
// of them on a remote; never what only other branches have.
func TestWhoseObjectsArePacked(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	refs, want := map[string]string{}, map[string]string{}
	for ref, is := range map[string]string{
		memoryRef: "ours", branchRef: "ours", "refs/heads/autoloop/a/b": "ours", "refs/autoloop/seen/origin/memory/autoloop": "ours", "refs/autoloop/tracking/url-0123/autoloop/x": "ours",
		"refs/autoloop/obtained/origin/heads/memory/autoloop": "ours", "refs/autoloop/obtained/origin/heads/autoloop/x": "ours",
		"refs/autoloop/obtained/origin/heads/main": "others", "refs/autoloop/obtained/url-0123/tags/v1": "others", "refs/autoloop/obtained/origin/heads/autoloop-x": "others",
		"refs/heads/main": "others", "refs/heads/autoloop-x": "others", "refs/heads/memory/autoloop2": "others", "refs/tags/v1": "others", "refs/remotes/origin/main": "others", "refs/stash": "others",
		"refs/remotes/origin/memory/autoloop": "", "refs/remotes/origin/autoloop/x": "", "refs/remotes/up/stream/autoloop/x": "",
	} {
		refs[ref] = c.commit(ref)
		if is != "" {
			want[refs[ref]] = is
		}
	}
	c.at(c.dir, refs)
	ours, others, err := memory.Tips(c.Memory, t.Context())
	require.NoError(t, err)
	got := map[string]string{}
	for _, id := range ours {
		got[id] = "ours"
	}
	for _, id := range others {
		require.Empty(t, got[id])
		got[id] = "others"
	}
	for ref, id := range refs {
		assert.Equal(t, want[id], got[id], ref)
	}
}
