package loop

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// branches are those of a program p in the commitRepo, whose pull request stands like this.
func (g *commitRepo) branches(pull *commands.Pull) *run {
	service := &Service{
		Program: &program.Program{Name: "p"}, Now: func() time.Time { return midday }, Base: "main",
		GitHub: &fakeGitHub{pull: pull}, Repo: g.Repo, Memory: &memory.Memory{Repo: g.Repo},
	}
	on := threadOf(&journal{
		session: &session{Service: service, course: course{id: "run"}},
		records: &records{log: &history.Log{}},
	})
	on.comments = &commands.Heard{Pull: pull}
	return &run{thread: on}
}

// lines is a file of nine lines, of which some are others.
func lines(changed map[int]string) string {
	var out strings.Builder
	for n := 1; n <= 9; n++ {
		line := "line " + strconv.Itoa(n)
		if text, is := changed[n]; is {
			line = text
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// squashed is a commitRepo whose branch was merged as one commit, and went on meanwhile.
type squashed struct {
	*commitRepo
	root, merged, base string
	after              []string // what was made on top of what was merged
}

func newSquashed(t *testing.T) squashed {
	t.Helper()
	two, four := map[int]string{2: "two"}, map[int]string{2: "two", 4: "four"}
	six, eight := map[int]string{2: "two", 4: "four", 6: "six"},
		map[int]string{2: "two", 4: "four", 6: "six", 8: "eight"}
	g := newOwnCommitRepo(t)
	ids := g.commit(t,
		commitSpec{name: "root", files: map[string]string{"value": lines(nil), "other": "1\n"}},
		commitSpec{name: "one", parents: "root", files: map[string]string{"value": lines(two)}},
		commitSpec{name: "two", parents: "one", files: map[string]string{"value": lines(four)}},
		commitSpec{name: "squash", parents: "root", files: map[string]string{"value": lines(four), "other": "2\n"}},
		commitSpec{
			name: "three", parents: "two", message: "three\n\nWith a body.\n",
			files: map[string]string{"value": lines(six)},
		},
		commitSpec{
			name: "four", parents: "three", message: "four\n",
			files: map[string]string{"new": "n\n", "value": lines(eight)},
		},
	)
	return squashed{g, ids["root"], ids["two"], ids["squash"], []string{ids["three"], ids["four"]}}
}

// TestAfterMerge is made of commits on top of what was merged, when the default
// branch has that only as other commits.
func TestAfterMerge(t *testing.T) {
	t.Parallel()
	s := newSquashed(t)
	whole := s.one(t, "merge", map[string]string{"value": lines(map[int]string{2: "two", 4: "four"})}, s.root, s.merged)
	last := s.after[1]
	for name, c := range map[string]struct {
		pull         *commands.Pull
		commit, base string
		want         bool
	}{
		"two commits":                  {&commands.Pull{Merged: true, Head: s.merged}, last, s.base, true},
		"what was merged itself":       {&commands.Pull{Merged: true, Head: last}, last, s.base, true},
		"a merge that has its commits": {&commands.Pull{Merged: true, Head: s.merged}, last, whole, false},
		"what was merged is not known here": {
			&commands.Pull{Merged: true, Head: strings.Repeat("1", 40)}, last, s.base,
			false,
		},
	} {
		r := s.branches(c.pull)
		got, err := r.isAfterMerge(t.Context(), r.mergedHead(), c.commit, c.base)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}

// TestReplayIsARebase: what comes after a merge has the files, messages, times and order that
// git gives it when it puts the commits onto the default branch.
func TestReplayIsARebase(t *testing.T) {
	t.Parallel()
	s := newSquashed(t)
	r := s.branches(&commands.Pull{Number: 7, Merged: true, Head: s.merged})
	head, note, err := r.replay(t.Context(), s.after[1], s.base)
	require.NoError(t, err)
	assert.Contains(t, note, "(2 commits)")
	s.git(t, "checkout", "--quiet", "--detach", s.after[1])
	s.git(t, "rebase", "--quiet", "--onto", s.base, s.merged)
	log := func(format, commits string) string { return s.git(t, "log", "--format="+format, commits) }
	assert.Equal(t, log("%T %B", s.base+"..HEAD"), log("%T %B", s.base+".."+head))
	assert.Equal(t, log("%ct", s.merged+".."+s.after[1]), log("%ct", s.base+".."+head))
	again, _, err := r.replay(t.Context(), s.after[1], s.base)
	require.NoError(t, err)
	assert.Equal(t, head, again, "it is the same whenever it is made")
	head, note, err = r.replay(t.Context(), s.merged, s.base)
	require.NoError(t, err)
	assert.Equal(t, []any{s.base, "its pull request #7 was merged"}, []any{head, note}, "nothing came after it")
}

// TestReplayOfWhatIsThereAlready: of commits that the default branch was merged with only
// the branch's own are made again. What was changed on the default branch meanwhile, and
// changed once more, is no conflict.
func TestReplayOfWhatIsThereAlready(t *testing.T) {
	t.Parallel()
	s := newSquashed(t)
	theirs := s.one(t, "a person's", map[string]string{"other": "theirs\n"}, s.root)
	merge := s.one(t, "merge", map[string]string{"other": "theirs\n"}, s.merged, theirs)
	own := s.one(t, "own", map[string]string{"value": lines(map[int]string{2: "two", 4: "four", 9: "nine"})}, merge)
	base := s.one(t, "squash",
		map[string]string{
			"value": lines(map[int]string{2: "two", 4: "four"}),
			"other": "theirs, changed again\n",
		}, theirs)
	r := s.branches(&commands.Pull{Merged: true, Head: s.merged})
	head, _, err := r.replay(t.Context(), own, base)
	require.NoError(t, err)
	assert.Equal(t, "own", s.git(t, "log", "--format=%s", base+".."+head))
	assert.Equal(t, map[string]string{
		"value": lines(map[int]string{2: "two", 4: "four", 9: "nine"}),
		"other": "theirs, changed again\n",
	}, s.files(t, head))
}

// TestBranchDeletedByMerge: only that the pull request was merged with the head
// that the branch had says that nobody else deleted it.
func TestBranchDeletedByMerge(t *testing.T) {
	t.Parallel()
	s := newSquashed(t)
	for name, c := range map[string]struct {
		pull   *commands.Pull // as GitHub has it now
		unread bool           // GitHub was out of reach before
		want   bool
	}{
		"merged":                       {pull: &commands.Pull{Number: 7, Merged: true, Head: s.merged}, want: true},
		"no pull request":              {},
		"GitHub was out of reach then": {pull: &commands.Pull{Number: 7, Merged: true, Head: s.merged}, unread: true},
	} {
		r := s.branches(c.pull)
		r.GitHub = &fakeGitHub{pull: c.pull}
		r.comments.Pull = &commands.Pull{Number: 7, Head: s.root}
		if c.unread {
			r.comments = nil
		}
		assert.Equal(t, c.want, r.deletedByMerge(t.Context(), s.merged), name)
		if c.want {
			assert.Equal(t, c.pull, r.comments.Pull, "from now on it is known")
		} else if c.pull == nil {
			assert.NotNil(t, r.comments.Pull, "what is known stays")
		}
	}
}

// TestDeletedBranchGoesOn: GitHub keeps the commits of a pull request, from which
// the branch begins anew.
func TestDeletedBranchGoesOn(t *testing.T) {
	t.Parallel()
	s := newSquashed(t)
	clone := t.TempDir()
	s.git(t, "init", "--quiet", "--bare", clone)
	s.git(t, "push", "--quiet", clone, s.base+":refs/heads/main", s.merged+":refs/pull/7/head")
	far := newOwnCommitRepo(t)
	far.git(t, "remote", "add", "origin", clone)
	far.git(t, "fetch", "--quiet", "origin", "main")
	r := far.branches(&commands.Pull{Number: 7, Merged: true, Head: s.merged})
	r.Memory.Remote = "origin"
	from := &Proposal{}
	from.BaseBranch, from.Branch = "main", s.merged
	for base, note := range map[string]string{s.root: "", s.base: "its pull request #7 was merged"} {
		from.Base, from.Incumbent = base, s.git(t, "merge-tree", "--write-tree", s.merged, base)
		at, err := r.positionOfProposal(t.Context(), from)
		require.NoError(t, err)
		assert.Equal(t, []any{s.merged, true, note}, []any{at.Branch, at.Deleted, at.Note})
		assert.Equal(t, note != "", at.moves())
		assert.Empty(t, at.moveTo(r.ref(), "next").Old, "the remote has no branch")
	}
	r.comments.Pull.Number, r.comments.Pull.Head, from.Branch = 8, s.after[0], s.after[0]
	_, err := r.positionOfProposal(t.Context(), from)
	require.Error(t, err)
}

// TestPendingCandidateAfterMerge: a candidate that waits for CI while its pull request
// is merged without it goes on waiting where its files are the same on what was merged,
// and is else measured there anew.
func TestPendingCandidateAfterMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]map[string]string{
		"the same files":     {"value.txt": "3\n"},
		"others beside them": {"value.txt": "3\n", "other.txt": "theirs\n"},
		"the same line":      {"value.txt": "7\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3", "5")
			f := onGitHub(t, b)
			require.Equal(t, history.Accepted, b.one().Outcome)
			merged := b.git("rev-parse", "autoloop/p")
			f.ci = append(f.ci[:0], unanswered())
			require.Equal(t, history.PendingCI, b.one().Outcome)
			pending := b.git("rev-parse", "autoloop/p")
			b.commit(c)
			f.pull = &commands.Pull{Number: 8, Merged: true, Head: merged}
			result := b.one()
			standing := b.records().Summary
			golden.Line(t, []any{standing.Decision.Outcome, result.Outcome, result.Reasons, result.Warnings})
			if name == "the same files" {
				head := b.git("rev-parse", "autoloop/p")
				assert.NotEqual(t, pending, head)
				assert.Equal(t, head, standing.Decision.Commit)
				assert.Equal(t, b.git("rev-parse", "main"), b.git("rev-parse", "autoloop/p^"))
				assert.Equal(t, b.git("log", "-1", "--format=%B %ct", pending),
					b.git("log", "-1", "--format=%B %ct", head))
				assert.Equal(t, head, f.judged[len(f.judged)-1], "CI is asked about what is on the branch now")
				return
			}
			assert.Equal(t, pending, b.git("rev-parse", "autoloop/p"), "the branch stays where it is")
			assert.Equal(t, "3", b.records().Best.String())
		})
	}
}
