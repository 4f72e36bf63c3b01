package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

// lines are commits whose names say what leads to them: b goes on from a, c from b, and x
// from a another way.
func (c *checkout) lines() map[string]string {
	c.t.Helper()
	commits := map[string]string{"": ""}
	for _, one := range []struct{ name, parent string }{{"a", ""}, {"b", "a"}, {"c", "b"}, {"x", "a"}, {"other", ""}} {
		var parents []string
		if one.parent != "" {
			parents = []string{commits[one.parent]}
		}
		tree, err := c.Repo.WriteFiles(c.t.Context(), "", map[string]*git.File{"p.jsonl": {Data: []byte(one.name)}})
		require.NoError(c.t, err)
		commits[one.name], err = c.Repo.CommitTree(c.t.Context(), tree, parents, one.name+"\n", c.Now())
		require.NoError(c.t, err)
	}
	return commits
}

// at puts refs to these commits, and removes those of "".
func (c *checkout) at(dir string, refs map[string]string) {
	c.t.Helper()
	var in strings.Builder
	for ref, commit := range refs {
		if commit == "" {
			fmt.Fprintf(&in, "delete %s\n", ref)
		} else {
			fmt.Fprintf(&in, "update %s %s\n", ref, commit)
		}
	}
	_, err := c.say(dir, in.String(), "update-ref", "--stdin")
	require.NoError(c.t, err)
}

// TestWithoutARemoteWhatWasFetchedCounts when nothing here would be lost by it.
func TestWithoutARemoteWhatWasFetchedCounts(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	commits := c.lines()
	for _, ref := range []string{memoryRef, branchRef} {
		for _, test := range []struct{ here, fetched, want string }{
			{"", "", ""},
			{"a", "", "a"},
			{"", "a", "a"},
			{"a", "a", "a"},
			{"a", "b", "b"},
			{"a", "c", "c"},
			{"b", "a", "b"},
			{"b", "x", "b"},
			{"x", "b", "x"},
			{"a", "other", "a"},
			{"other", "c", "other"},
		} {
			fetched := "refs/remotes/origin/" + strings.TrimPrefix(ref, "refs/heads/")
			c.at(c.dir, map[string]string{ref: commits[test.here], fetched: commits[test.fetched]})
			head, err := c.HeadOf(t.Context(), ref)
			require.NoError(t, err)
			assert.Equal(t, commits[test.want], head, "%s: %+v", ref, test)
			if ref == memoryRef {
				files, at, err := c.Read(t.Context(), "p")
				require.NoError(t, err)
				assert.Equal(t, head, at)
				assert.Equal(t, test.want, string(files.Ledger))
			}
			assert.Equal(t, commits[test.here], c.has(ref), "reading moves nothing")
		}
		c.at(c.dir, map[string]string{ref: ""})
	}
}

// TestWithARemoteItsBranchCounts unless the one here goes on from it with what the remote
// never had. What the remote had and took back is not pushed again; records are never given
// up because a branch was deleted.
func TestWithARemoteItsBranchCounts(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	commits := c.lines()
	for _, commit := range []string{"c", "x", "other"} {
		c.user("push", "-q", "origin", commits[commit]+":refs/heads/keep-"+commit)
	}
	// Seen is what we last saw there, fetched what git did.
	for _, test := range []struct{ here, there, seen, fetched, records, branch string }{
		{"", "", "", "", "", ""},
		{"", "b", "", "", "b", "b"},
		{"b", "b", "", "", "b", "b"},
		{"a", "b", "", "", "b", "b"},
		{"b", "", "", "", "b", "b"},
		{"b", "a", "", "", "b", "b"},
		{"c", "a", "a", "a", "c", "c"},
		{"b", "a", "b", "", "a", "a"},
		{"b", "a", "", "b", "a", "a"},
		{"b", "a", "c", "", "a", "a"},
		{"b", "x", "b", "", "x", "x"},
		{"b", "", "b", "", "b", ""},
		{"b", "", "", "c", "b", ""},
		{"c", "", "b", "a", "c", "c"},
		{"b", "x", "", "", "!", "!"},
		{"b", "x", "a", "x", "!", "!"},
		{"other", "b", "", "", "!", "!"},
		{"b", "other", "a", "", "!", "!"},
	} {
		here, there := map[string]string{}, map[string]string{}
		for _, ref := range []string{memoryRef, branchRef} {
			name := strings.TrimPrefix(ref, "refs/heads/")
			here[ref], there[ref] = commits[test.here], commits[test.there]
			here["refs/autoloop/seen/origin/"+name], here["refs/remotes/origin/"+name] = commits[test.seen], commits[test.fetched]
		}
		c.at(c.dir, here)
		c.at(bare, there)
		head, err := c.Head(t.Context())
		if test.records == "!" {
			var diverged *memory.DivergedError
			require.ErrorAs(t, err, &diverged, "%+v", test)
			assert.Equal(t, memory.DivergedError{Ref: memoryRef, Here: commits[test.here], There: commits[test.there], Remote: "origin"}, *diverged)
			continue
		}
		require.NoError(t, err, "%+v", test)
		assert.Equal(t, commits[test.records], head, "%+v", test)
		head, err = c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err, "%+v", test)
		assert.Equal(t, commits[test.branch], head, "%+v", test)
		for ref, commit := range here {
			assert.Equal(t, commit, c.has(ref), "reading moves nothing")
		}
	}
}

// TestRecordsThatTheRemoteLostAreSaid: what it was known to have and has no more, by what
// was seen there or fetched from there.
func TestRecordsThatTheRemoteLostAreSaid(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	commits := c.lines()
	for _, commit := range []string{"c", "x", "other"} {
		c.user("push", "-q", "origin", commits[commit]+":refs/heads/keep-"+commit)
	}
	const seen, fetched = "refs/autoloop/seen/origin/memory/autoloop", "refs/remotes/origin/memory/autoloop"
	for _, test := range []struct{ there, seen, fetched, lost string }{
		{"", "", "", ""},
		{"b", "", "", ""},
		{"b", "b", "b", ""},
		{"b", "a", "a", ""},
		{"b", "c", "b", "c"},
		{"b", "x", "", "x"},
		{"b", "", "x", "x"},
		{"b", "a", "x", ""}, // what we saw counts: the user fetches when they like
		{"other", "b", "b", "b"},
	} {
		c.at(c.dir, map[string]string{memoryRef: "", seen: commits[test.seen], fetched: commits[test.fetched]})
		c.at(bare, map[string]string{memoryRef: commits[test.there]})
		found, err := memory.Dropped(c.Memory, t.Context(), commits[test.there])
		require.NoError(t, err)
		if test.lost == "" {
			assert.Empty(t, found, "%+v", test)
			continue
		}
		assert.Equal(t, []string{"memory/autoloop was at " + commits[test.lost][:12] + " on origin, which is not in its history any more"}, found, "%+v", test)
	}
	c.openMemory("")
	found, err := memory.Dropped(c.Memory, t.Context(), commits["b"])
	require.NoError(t, err)
	assert.Empty(t, found, "without a remote nobody can lose them")
}

// TestMovesThatAreFinished: the newest commit of the records says which branch moves with
// it. The move is finished when the branch is where it was and never was there.
func TestMovesThatAreFinished(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	commits := c.lines()
	const gone = "1111111111111111111111111111111111111111"
	announce := func(trailer string) {
		c.at(c.dir, map[string]string{memoryRef: c.user("commit-tree", "HEAD^{tree}", "-m", "m", "-m", "Autoloop-Moves: "+trailer)})
	}
	id := func(name string) string {
		if name == "" {
			return "none"
		}
		return commits[name]
	}
	for _, test := range []struct {
		old, next, at string
		log           []string // where the branch was before
		want          string
	}{
		{"a", "b", "a", nil, "b"},
		{"", "b", "", nil, "b"},
		{"a", "", "a", nil, ""},
		{"a", "b", "b", nil, "b"},
		{"a", "b", "x", nil, "x"},
		{"a", "b", "", nil, ""},
		{"", "b", "a", nil, "a"},
		{"a", "a", "a", nil, "a"},
		{"a", "b", "a", []string{"b"}, "a"},
		{"a", "b", "a", []string{"b", "x"}, "a"},
		{"a", "b", "a", []string{"x", "c"}, "b"},
	} {
		c.user("update-ref", "-d", branchRef)
		for _, before := range test.log {
			c.user("update-ref", "--create-reflog", branchRef, commits[before])
		}
		if test.at != "" {
			c.user("update-ref", "--create-reflog", branchRef, commits[test.at])
		}
		announce(branchRef + " " + id(test.old) + " " + id(test.next))
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err)
		assert.Equal(t, commits[test.want], head, "%+v", test)
		assert.Equal(t, commits[test.at], c.has(branchRef), "reading moves nothing: %+v", test)
		_, err = c.Update(t.Context(), memory.Update{Program: "q", Message: "q", Apply: adding("q")})
		require.NoError(t, err)
		assert.Equal(t, commits[test.want], c.has(branchRef), "%+v", test)
		c.user("update-ref", "-d", branchRef)
	}
	c.at(c.dir, map[string]string{branchRef: commits["a"]})
	announce(branchRef + " " + commits["a"] + " " + gone)
	head, err := c.HeadOf(t.Context(), branchRef)
	require.NoError(t, err)
	assert.Equal(t, commits["a"], head, "a commit that is nowhere")
	announce("refs/heads/autoloop/y " + commits["a"] + " " + commits["b"])
	head, err = c.HeadOf(t.Context(), branchRef)
	require.NoError(t, err)
	assert.Equal(t, commits["a"], head, "another branch moves")
}

// TestHalfMovedRemotesThatAreLeftAlone: the move is not finished, nor taken for one that
// another process makes at this moment, where the remote or what is known of it says that
// it happened or never can.
func TestHalfMovedRemotesThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	bare, clone := newShared(t)
	c := clone()
	commits := c.lines()
	c.user("push", "-q", "origin", commits["c"]+":refs/heads/keep-c", commits["x"]+":refs/heads/keep-x")
	const seen, fetched = "refs/autoloop/seen/origin/autoloop/x", "refs/remotes/origin/autoloop/x"
	for name, test := range map[string]struct {
		old, next string
		there     string
		known     map[string]string
	}{
		"it moved":                  {"a", "b", "b", nil},
		"it moved on":               {"a", "b", "c", nil},
		"somebody moved it":         {"a", "b", "x", nil},
		"somebody removed it":       {"a", "b", "", nil},
		"we saw that it moved":      {"a", "b", "a", map[string]string{seen: "b"}},
		"git saw that it moved":     {"a", "b", "a", map[string]string{fetched: "b"}},
		"it was to be removed":      {"a", "", "a", nil},
		"it was not to move":        {"a", "a", "a", nil},
		"another branch was to":     {"", "", "a", nil},
		"it was to begin, and does": {"", "b", "c", nil},
	} {
		moves := "refs/heads/autoloop/x"
		for _, commit := range []string{test.old, test.next} {
			if moves += " "; commit == "" {
				moves += "none"
			} else {
				moves += commits[commit]
			}
		}
		records := c.user("commit-tree", "HEAD^{tree}", "-m", name, "-m", "Autoloop-Moves: "+moves)
		c.user("push", "-q", "-f", "origin", records+":"+memoryRef)
		c.at(bare, map[string]string{branchRef: commits[test.there]})
		c.at(c.dir, map[string]string{memoryRef: "", branchRef: "", seen: commits[test.known[seen]], fetched: commits[test.known[fetched]]})
		head, err := c.HeadOf(t.Context(), branchRef)
		require.NoError(t, err, name)
		assert.Equal(t, commits[test.there], head, name)
	}
}
