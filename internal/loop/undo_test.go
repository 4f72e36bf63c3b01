package loop

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/golden"
)

// ofIteration is the message of a commit of an iteration, as it is recorded.
func ofIteration(n int) string {
	return fmt.Sprintf("[Autoloop: p] Iteration %d: try\n\nAutoloop-Iteration: %d\nAutoloop-Metric: 1\n"+
		"Autoloop-Run: earlier\n", n, n)
}

// files are all files of a commit with their texts.
func (g *commitRepo) files(t *testing.T, commit string) map[string]string {
	t.Helper()
	entries, err := g.LsTree(t.Context(), commit)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		objects, err := g.Cat(t.Context(), e.ID)
		require.NoError(t, err)
		files[e.Path] = string(objects[0].Data)
	}
	return files
}

// commitName is the name of a commit in a text, short or long.
var commitName = regexp.MustCompile(`[0-9a-f]{12,}`)

// TestUndo: what an iteration changed is taken back by a commit on top of the branch, all of
// it, or the branch stays and the answer says why.
func TestUndo(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := g.commit(
		t,
		commitSpec{name: "root", files: map[string]string{"value.txt": "1\n", "a.txt": "1\n", "b.txt": "1\n"}},
		commitSpec{
			name:    "first",
			parents: "root",
			message: ofIteration(1),
			files:   map[string]string{"value.txt": "2\n"},
		},
		commitSpec{
			name: "second", parents: "first", message: ofIteration(2),
			files: map[string]string{"a.txt": "2\n", "new.txt": "2\n"},
		},
		commitSpec{
			name: "third", parents: "second", message: ofIteration(3),
			files: map[string]string{"b.txt": "broken\n"},
		},
		commitSpec{
			name: "fix", parents: "third", message: ofIteration(3),
			files: map[string]string{"b.txt": "3\n", "extra.txt": "3\n"},
		},
		commitSpec{
			name: "fourth", branch: "autoloop/undo-last autoloop/undo-earlier autoloop/undo-fixed " +
				"autoloop/undo-two autoloop/undo-twice autoloop/undo-conflict autoloop/undo-both " +
				"autoloop/undo-rejected autoloop/undo-elsewhere " +
				"autoloop/undo-unknown autoloop/undo-stray", parents: "fix", message: ofIteration(4),
			files: map[string]string{"value.txt": "4\n"},
		},
		commitSpec{
			name: "undone", branch: "autoloop/undo-again", parents: "fourth",
			files: map[string]string{"value.txt": "2\n"},
		},
		commitSpec{name: "stray", parents: "root", message: ofIteration(6), files: map[string]string{"a.txt": "6\n"}},
	)
	kept := []history.Event{
		wasMeasured("1"), wasDecided(1, history.Accepted, "2", ids["first"]),
		wasDecided(2, history.Accepted, "3", ids["second"]),
		wasDecided(3, history.PendingCI, "4", ids["third"]), wasDecided(3, history.PendingCI, "4", ids["fix"]),
		wasDecided(3, history.Accepted, "4", ids["fix"]),
		wasDecided(4, history.Accepted, "5", ids["fourth"]), wasDecided(5, history.Rejected, "5", ""),
		wasDecided(6, history.Accepted, "6", ids["stray"]),
		wasDecided(7, history.Accepted, "7", strings.Repeat("4e", 20)), // in another clone
	}
	parents := map[string]string{
		ids["first"]: ids["root"], ids["second"]: ids["first"], ids["third"]: ids["second"], ids["fix"]: ids["second"],
		ids["fourth"]: ids["fix"], ids["stray"]: ids["root"],
	}
	for _, e := range history.Of[*history.Decided](kept) {
		e.Parent = parents[e.Commit]
	}
	undo := func(n int) commands.Command { return commands.Command{Kind: commands.Undo, Iteration: n} }
	last := map[string]string{"value.txt": "4\n", "a.txt": "2\n", "b.txt": "3\n", "new.txt": "2\n", "extra.txt": "3\n"}
	for _, c := range []struct {
		name    string
		say     []commands.Command
		changes map[string]string // of the files of the last commit, "-" for one that goes
	}{
		{
			name: "undo-last", say: []commands.Command{undo(4)},
			changes: map[string]string{"value.txt": "2\n"},
		},
		{
			name: "undo-fixed", say: []commands.Command{undo(3)},
			changes: map[string]string{"b.txt": "1\n", "extra.txt": "-"},
		},
		{
			name: "undo-again", say: []commands.Command{undo(4)},
		},
		{
			name: "undo-conflict", say: []commands.Command{undo(1)},
		},
		{
			name: "undo-rejected", say: []commands.Command{undo(5)},
		},
		{name: "undo-unknown", say: []commands.Command{undo(77)}},
		{
			name: "undo-stray", say: []commands.Command{undo(6)},
		},
		{
			name: "undo-elsewhere", say: []commands.Command{undo(7)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRunIn(t, g.Repo, c.name, "", kept...)
			d.heard(comment(4, c.say...))
			d.mayWrite = free
			require.NoError(t, d.applyCommands(t.Context()))
			_, to := answersOf(d.written())
			golden.Line(t, fmt.Sprint(to[0].Good, commitName.ReplaceAllString(fmt.Sprint(d.hub.answers), "COMMIT")))
			require.NoError(t, d.applyCommands(t.Context()))
			require.Len(t, d.stored.moves, 2)
			assert.Nil(t, d.stored.moves[1], "a command is done once")
			move := d.stored.moves[0]
			if c.changes == nil {
				assert.Nil(t, move)
				return
			}
			require.NotNil(t, move)
			assert.Equal(t, &git.RefUpdate{Ref: d.ref(), New: move.New, Old: ids["fourth"]}, move)
			assert.Equal(t, ids["fourth"], g.git(t, "log", "--format=%P", ids["fourth"]+".."+move.New))
			message := g.git(t, "log", "-1", "--format=%B", move.New)
			want := maps.Clone(last)
			maps.Copy(want, c.changes)
			maps.DeleteFunc(want, func(_, text string) bool { return text == "-" })
			assert.Equal(t, want, g.files(t, move.New))
			assert.Contains(t, message,
				fmt.Sprintf("[Autoloop: %s] Undo iteration %d\n\nThis reverts ", c.name, c.say[len(c.say)-1].Iteration))
			assert.Equal(t, c.name == "undo-fixed",
				strings.Contains(message, "This reverts the commits "+ids["third"]+" to "+ids["fix"]+"."))
			assert.Contains(t, message, "Autoloop-Run: now")
		})
	}
}

// TestRefusedUndo moves nothing, pauses the program, and says so to who
// asked; what else was asked for is done.
func TestRefusedUndo(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	const name = "undo-refused"
	ids := g.commit(t, commitSpec{name: "root", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{
			name: "first", branch: BranchPrefix + name, parents: "root", message: ofIteration(1),
			files: map[string]string{"value.txt": "2\n"},
		})
	first := wasDecided(1, history.Accepted, "2", ids["first"])
	first.Parent = ids["root"]
	for _, c := range []struct {
		name  string
		err   error
		again bool
	}{
		{"by a rule", refusedPush("refs/heads/autoloop/"+name,
			"[remote rejected] (protected branch hook declined)"), true},
		{"because somebody was faster", refusedPush("refs/heads/autoloop/"+name, "stale info"), false},
		{
			"for the memory branch",
			refusedPush("refs/heads/"+memory.MemoryBranch, "[remote rejected] (protected branch hook declined)"), false,
		},
	} {
		d := newMemoryRunIn(t, g.Repo, name, "", wasMeasured("1"), first)
		d.heard(comment(4, commands.Command{Kind: commands.Undo, Iteration: 1},
			commands.Command{Kind: commands.Undo, Iteration: 9}),
			comment(5, commands.Command{Kind: commands.Note, Text: "x"}))
		d.stored.failures = []error{c.err}
		d.mayWrite = free
		err := d.applyCommands(t.Context())
		if !c.again {
			require.ErrorIs(t, err, c.err, c.name)
			assert.Empty(t, d.stored.messages)
			assert.Empty(t, d.hub.answers, "an answer never speaks of what is not recorded")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []*git.RefUpdate{nil}, d.stored.moves)
		after := d.written()
		assert.Contains(t, decision.Text(after.Paused),
			"refused the push: autoloop/undo-refused")
		assert.Contains(t, decision.Text(after.Paused), "leave `autoloop/**` out of the branch's")
		assert.Contains(t, decision.Text(after.Paused), "; then ask for the undo again")
		assert.Contains(t, d.stopped, "paused: "+decision.Text(after.Paused)+"; go on with ")
		assert.Equal(t, "x", after.Note)
		require.Len(t, d.hub.answers, 2)
		refused, unknown, _ := strings.Cut(d.hub.answers[0], "\n\n")
		assert.Contains(t, refused, "1 is not undone: remote origin refused")
		assert.LessOrEqual(t, len(refused), maxRefusal+100)
		assert.Equal(t, "There is no iteration 9: 1 is the last.", unknown, "that answer stays")
	}
	d := newMemoryRun(t, "", wasMeasured("1"))
	d.heard(comment(4, commands.Command{Kind: commands.Note, Text: "x"}))
	d.stored.failures = []error{refusedPush("refs/heads/autoloop/p",
		"[remote rejected] (protected branch hook declined)")}
	d.mayWrite = free
	require.ErrorIs(t, d.applyCommands(t.Context()), git.ErrRejected,
		"without an undo there is nothing to leave out")
}

// refusedPush is a push that was refused for one ref, and with it for the others.
func refusedPush(ref, words string) error {
	return &git.RejectedError{
		Remote: "origin",
		Refs:   []git.Rejection{{Ref: ref, Reason: words}, {Ref: "refs/heads/other", Reason: "atomic push failed"}},
	}
}
