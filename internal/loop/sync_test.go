package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// TestPositionOfBranch: against a default branch that is ahead, behind, both or
// neither, and after its pull request was merged.
func TestPositionOfBranch(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	root := commitSpec{name: "root", files: map[string]string{"value.txt": "1\n", "other.txt": "a\n"}}
	moved := commitSpec{
		name: "moved", branch: "stands/moved", parents: "root",
		files: map[string]string{"other.txt": "b\n"},
	}
	own := commitSpec{name: "own", parents: "root", files: map[string]string{"value.txt": "2\n"}}
	same := commitSpec{
		name:    "same",
		branch:  "stands/same",
		parents: "root",
		files:   map[string]string{"value.txt": "3\n"},
	}
	squashed := commitSpec{
		name: "squashed", branch: "stands/squashed", parents: "moved",
		files: map[string]string{"value.txt": "2\n"},
	}
	after := commitSpec{name: "after", parents: "own", files: map[string]string{"value.txt": "2\n4\n"}}
	at := func(s commitSpec, name string) commitSpec {
		s.name, s.branch = s.name+" of "+name, BranchPrefix+name
		return s
	}
	root.branch = "stands/root autoloop/stands-behind"
	ids := g.commit(t, root, moved, own, same, squashed, after,
		at(own, "stands-ahead"), at(own, "stands-both"), at(own, "stands-conflict"),
		at(own, "stands-merged"), at(own, "stands-workflows"),
		at(after, "stands-after"))
	merged := &commands.Pull{Number: 8, Merged: true}
	for _, c := range []struct {
		name   string
		base   string
		pull   *commands.Pull
		pullAt string
		events []history.Event
		old    string
		head   string // "" for a commit that is made
		files  string // of the head: value, other
		moves  bool
		tip    string
	}{
		{name: "stands-none", base: "moved", head: "moved", files: "1 b"},
		{
			name: "stands-behind", base: "moved", old: "root", head: "moved", files: "1 b", moves: true,
		},
		{name: "stands-ahead", base: "root", old: "own of stands-ahead", head: "own of stands-ahead", files: "2 a"},
		{
			name: "stands-both", base: "moved", old: "own of stands-both", files: "2 b", moves: true,
		},
		{name: "stands-conflict", base: "same", old: "own of stands-conflict"},
		{
			name: "stands-workflows", base: "moved", old: "own of stands-workflows",
			events: []history.Event{wasSet(history.WorkflowsRefused, "moved")}, files: "2 b",
			tip: "own of stands-workflows",
		},
		{
			name: "stands-merged", base: "squashed", pull: merged, pullAt: "own of stands-merged",
			old:  "own of stands-merged",
			head: "squashed", files: "2 b", moves: true,
		},
		{
			name: "stands-after", base: "squashed", pull: merged, pullAt: "own", old: "after of stands-after",
			files: "2\n4 b",
			moves: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var events []history.Event
			for _, e := range c.events {
				if set, is := e.(*history.Set); is {
					set.Value = ids[set.Value]
				}
				events = append(events, e)
			}
			d := newMemoryRunIn(t, g.Repo, c.name, "", events...)
			d.Base = "stands/" + c.base
			if c.pull != nil {
				pull := *c.pull
				pull.Head = ids[c.pullAt]
				d.heard().Pull = &pull
			}
			at, err := d.sync(t.Context())
			if err != nil {
				var conflict *endedError
				require.ErrorAs(t, err, &conflict)
				golden.Line(t, conflict)
				return
			}
			golden.Line(t, at.Note)
			tip := at.PushOnto
			if tip == at.Head {
				tip = ""
			}
			assert.Equal(t, []string{ids[c.old], ids[c.base], "stands/" + c.base, ids[c.tip]},
				[]string{at.Branch, at.Base, at.BaseBranch, tip})
			assert.Equal(t, c.moves, at.moves())
			if c.head != "" {
				assert.Equal(t, ids[c.head], at.Head)
			}
			files := g.files(t, at.Head)
			assert.Equal(t, c.files, strings.TrimSpace(files["value.txt"])+" "+strings.TrimSpace(files["other.txt"]))
			if strings.HasPrefix(at.Note, "merged ") {
				commit, err := g.ReadCommit(t.Context(), at.Head)
				require.NoError(t, err)
				assert.Equal(t, []string{at.Branch, at.Base}, commit.Parents, "nothing of either is lost")
				assert.Equal(t, fmt.Sprintf("[Autoloop: %s] Merge stands/%s\n\nAutoloop-Run: now\n", c.name, c.base),
					commit.Message)
				again, err := d.sync(t.Context())
				require.NoError(t, err)
				assert.Equal(t, at, again, "the same position at the same time")
			}
		})
	}
}

// TestConflictNamesFiles: ten of them, as one line that a terminal shows.
func TestConflictNamesFiles(t *testing.T) {
	t.Parallel()
	files := func(count int) []string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf("f%d", i))
		}
		return list
	}
	s := newMemoryRun(t, "")
	for _, c := range []struct {
		files []string
		want  string
	}{
		{files(10), "f8, f9: merge"},
		{files(11), "f8, f9 and 1 more: merge"},
	} {
		text := s.conflicts("main", c.files).Error()
		assert.Contains(t, text, c.want)
		assert.True(t, strings.HasPrefix(text, "main does not merge into autoloop/p, both changed f0"), text)
		assert.True(t, strings.HasSuffix(text, ": merge it by hand, then resume"), text)
	}
	hostile := s.conflicts("main", []string{"a\nb\x1b[31m"}).Error()
	assert.NotContains(t, hostile, "\n")
	assert.NotContains(t, hostile, "\x1b")
}

// TestTheDefaultBranch is the one asked for, else the recorded one, else the one that is
// checked out, unless that is none to improve.
func TestTheDefaultBranch(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := g.commit(t, commitSpec{name: "a", branch: "default/a"})
	dir := t.TempDir()
	tiny := &commitRepo{env: g.env}
	var err error
	command(t, dir, g.env, "init", "--quiet", "--initial-branch=main")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"),
		[]byte(filepath.Join(g.Root, ".git", "objects")+"\n"), 0o600))
	tiny.Repo, err = git.Open(t.Context(), dir, tiny.env)
	require.NoError(t, err)
	head := filepath.Join(dir, ".git", "HEAD")
	for _, c := range []struct {
		name         string
		asked, known string
		head         string
	}{
		{
			name: "asked for", asked: "release", known: "trunk", head: "ref: refs/heads/main\n",
		},
		{
			name: "known", known: "trunk", head: "ref: refs/heads/main\n",
		},
		{
			name: "checked out", head: "ref: refs/heads/main\n",
		},
		{
			name: "detached", head: ids["a"] + "\n",
		},
		{
			name: "one of a program", head: "ref: refs/heads/autoloop/p\n",
		},
	} {
		require.NoError(t, os.WriteFile(head, []byte(c.head), 0o600))
		var events []history.Event
		if c.known != "" {
			measured := wasMeasured("1")
			measured.BaseBranch = c.known
			events = append(events, measured)
		}
		d := newMemoryRunIn(t, tiny.Repo, "p", "", events...)
		d.Base = c.asked
		got, err := d.defaultBranch(t.Context())
		if err == nil {
			_, err = d.baseCommit(t.Context(), got)
		}
		golden.Row(t, c.name, []any{got, err})
	}

	d := newMemoryRunIn(t, g.Repo, "p", "")
	commit, err := d.baseCommit(t.Context(), "default/a")
	require.NoError(t, err)
	assert.Equal(t, ids["a"], commit)
	d.Memory.Remote = g.Root // the remote is the truth, not what is checked out
	_, err = d.defaultBranch(t.Context())
	require.ErrorContains(t, err, "its default branch; name it with --base")
	commit, err = d.baseCommit(t.Context(), "default/a")
	require.NoError(t, err)
	assert.Equal(t, ids["a"], commit)
	_, err = d.baseCommit(t.Context(), "default/b")
	require.ErrorContains(t, err, "default/b: push it to "+g.Root+", or name")

	d = newMemoryRunIn(t, tiny.Repo, "p", "")
	require.NoError(t, d.deepen(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "shallow"), []byte(ids["a"]+"\n"), 0o600))
	require.ErrorContains(t, d.deepen(t.Context()),
		"have in common cannot be told; run `git")
}

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
		assert.Equal(t, old, records.Incumbent, "no baseline of the merge is on record")
		assert.Equal(t, "3", records.Best.String())
		assert.Nil(t, records.Open)
		assert.Empty(t, auditOf(records.log.Events))
	}
}
