package loop

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render/live"
)

// patch is what turns one commit into another.
func (g *commitRepo) patch(t *testing.T, from, to string) string {
	t.Helper()
	patch, err := g.Diff(t.Context(), from, to)
	require.NoError(t, err)
	return string(patch)
}

// searching is the team of a program that searches with a strategy.
func (g *commitRepo) searching(t *testing.T, target, script string) *run {
	t.Helper()
	p := program.Parse(".autoloop/programs/p.md", fmt.Appendf(nil, searchingProgram, target, script))
	require.Empty(t, p.Problems)
	now := func() time.Time { return midday }
	return &run{
		thread: threadOf(&journal{
			session: &session{
				Service: &Service{Program: p, Now: now, Repo: g.Repo, Strategy: strategy.All().Named(p.Strategy)},
				course:  course{iteration: 9},
			},
			records: &records{},
		}),
	}
}

// position is where the program branch stands at a commit.
func (g *commitRepo) position(t *testing.T, head string) position {
	t.Helper()
	entries, err := g.LsTree(t.Context(), head)
	require.NoError(t, err)
	return position{Head: head, entries: entries, identity: identity{Evaluator: "e"}}
}

const searchingProgram = `---
strategy: openevolve
---
## Goal
Grow.
## Target
%s
## Evaluation
` + "```sh" + `
%s
` + "```\n"

// TestFilesOfParent: a proposal begins with the incumbent, in which the target's files
// are those of its parent and all others stay as they are.
func TestFilesOfParent(t *testing.T) {
	t.Parallel()
	const own = ".autoloop/programs/p.md"
	g := newCommitRepo(t)
	root := g.one(t, "root",
		map[string]string{own: "old goal", "src/a": "1\n2\n3\n", "src/b": "b\n", "lib/c": "c\n", "run.sh": "old\n"})
	for name, c := range map[string]struct {
		target string
		script string
		member map[string]string // what it changed of the root
		head   map[string]string // what became of the root since
		// the files, as far as they are not the incumbent's; nil when the incumbent stands for it
		want map[string]string
	}{
		"a file that is new": {
			"- `src/*`", "true",
			map[string]string{"src/n": "n\n"},
			map[string]string{"lib/c": "d\n"},
			map[string]string{"src/n": "n\n"},
		},
		"what the incumbent has": {
			"- `src/*`", "true",
			map[string]string{"src/a": "4\n"},
			map[string]string{"src/a": "4\n", "lib/c": "d\n"},
			nil,
		},
		"what is protected by now": {
			"- `src/*`\n\nDo NOT modify `src/a`.", "true",
			map[string]string{"src/a": "4\n", "src/b": "4\n"},
			nil,
			map[string]string{"src/b": "4\n"},
		},
		"its directory is a file of others": {
			"- `lib/*/*`", "true",
			map[string]string{"lib/n/x": "4\n"},
			map[string]string{"lib/n": "theirs\n"},
			nil,
		},
	} {
		member := g.one(t, "member", c.member, root)
		head := g.one(t, "head", c.head, root)
		r := g.searching(t, c.target, c.script)
		from, err := r.transplant(t.Context(), g.position(t, head),
			&history.Proposed{
				Decided: history.Decided{Head: history.Head{Iteration: 4}, Proposal: 1, Parent: root},
				Patch:   g.patch(t, root, member),
			})
		require.NoError(t, err, name)
		if c.want == nil {
			assert.Empty(t, from, name)
			continue
		}
		if !assert.NotEmpty(t, from, name) {
			continue
		}
		want := g.files(t, head)
		for path, text := range c.want {
			want[path] = text
			if text == "" {
				delete(want, path)
			}
		}
		assert.Equal(t, want, g.files(t, from), name)
		made, err := g.ReadCommit(t.Context(), from)
		require.NoError(t, err)
		assert.Equal(t, []string{head}, made.Parents, name)
		assert.Equal(t, "Files of iteration 4", made.Subject(), name)
	}
}

// TestMissingParent: a patch that no longer fits, or cannot be read, leaves the
// incumbent as the parent; that the work is to end is an error.
func TestMissingParent(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	root := g.one(t, "root", map[string]string{"src/a": "1\n2\n3\n", "src/x": "x\n"})
	other := g.one(t, "other", map[string]string{"src/a": "9\n"}, root)
	patch := g.patch(t, root, g.one(t, "member", map[string]string{"src/a": "1\n2\n4\n"}, root))
	r := g.searching(t, "- `src/*`", "true")
	var said []string
	r.Progress = func(s live.Status) { said = append(said, s.Detail) }
	for name, p := range map[string]*history.Proposed{
		"its parent has other lines": {Decided: history.Decided{Parent: other}, Patch: patch},
		"a path of git's":            {Decided: history.Decided{Parent: root}, Patch: strings.ReplaceAll(patch, "src/a", ".git/config")},
	} {
		said = nil
		p.Iteration = 4
		from, err := r.transplant(t.Context(), g.position(t, root), p)
		require.NoError(t, err, name)
		assert.Empty(t, from, name)
		require.Len(t, said, 1, name)
		assert.Contains(t, said[0], "iteration 4's files cannot be made")
	}
	ended, end := context.WithCancelCause(t.Context())
	end(errTooLong)
	_, err := r.transplant(ended, g.position(t, root), &history.Proposed{
		Decided: history.Decided{Parent: root}, Patch: patch,
	})
	require.ErrorIs(t, err, errTooLong)
}

// TestLineage: every proposal has a parent and others of its own, the parent's files are
// what it begins with, and one that cannot be made leaves the incumbent.
func TestLineage(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	root := g.one(t, "root", map[string]string{"src/a": "1\n"})
	r := g.searching(t, "- `src/*`", "true")
	member := func(iteration int, text string) *history.Proposed {
		return &history.Proposed{
			Decided: history.Decided{
				Head: history.Head{Iteration: iteration}, Proposal: 1, Metric: metricOf("7"), Evaluator: "e",
				Parent: root,
			},
			Patch: g.patch(t, root, g.one(t, "member", map[string]string{"src/a": text}, root)),
		}
	}
	broken := member(5, "5\n")
	broken.Patch = "cannot be applied"
	r.records.Proposals = []*history.Proposed{member(1, "7\n"), member(2, "8\n"), broken}
	r.Strategy = planned(map[int][]int{1: {1, 0, 2}, 2: {-1, 1}, 3: {2, 1}})
	all := []*attempt{r.newAttempt(1, 3), r.newAttempt(2, 3), r.newAttempt(3, 3)}
	require.NoError(t, r.selectParents(t.Context(), g.position(t, root), all))
	assert.Equal(t, map[string]string{"src/a": "8\n"}, g.files(t, all[0].from))
	for i, want := range [][]int{{1, 5}, {2}, {2}} {
		assert.Equal(t, []bool{i == 0, i == 0}, []bool{all[i].grown.Parent != nil, all[i].from != ""})
		var shown []int
		for _, relative := range all[i].grown.Inspirations {
			shown = append(shown, relative.Iteration)
		}
		assert.Equal(t, want, shown)
	}
}

// planned is a strategy whose proposals are known: the places of the parent, -1 for none, and of
// others.
func planned(plan map[int][]int) strategy.Named {
	return strategy.Named{
		Name: "openevolve", Evolves: true,
		SelectParents: func(of strategy.Population) (made strategy.Offspring) {
			for i, place := range plan[of.Proposal] {
				switch {
				case i > 0:
					made.Inspirations = append(made.Inspirations, of.Members[place])
				case place >= 0 && place < len(of.Members):
					made.Parent = of.Members[place]
				}
			}
			return made
		},
		Focus: func(string, []string) string { return "" },
	}
}

// TestPopulationIsOfTheEvaluator: what was measured under the present evaluator, and can be
// made again.
func TestPopulationIsOfTheEvaluator(t *testing.T) {
	t.Parallel()
	past := &records{}
	for i, c := range []struct{ value, patch, evaluator string }{
		{"2.5", "--- a/x\n@@ -1 +1,2 @@\n-one  two\n+one\n+\tthree\n", "e"},
		{"", "+1", "e"},
		{"2.5", "", "e"},
		{"2.5", "+1", "other"},
		{"2.5", "+1", ""},
		{"2.5", "+1", "e"},
	} {
		p := &history.Proposed{
			Decided: history.Decided{Head: history.Head{Iteration: i + 1}, Proposal: 2, Evaluator: c.evaluator},
			Patch:   c.patch,
		}
		if c.value != "" {
			p.Metric = metricOf(c.value)
		}
		past.Proposals = append(past.Proposals, p)
	}
	members := past.members("e")
	require.Len(t, members, 2)
	assert.Equal(t, []int{1, 6}, []int{members[0].Iteration, members[1].Iteration})
}

// TestPatchOfAMemberIsBounded: its change against the incumbent, when it is not too long, for a
// strategy that evolves; and what it changed, whatever it began with.
func TestPatchOfAMemberIsBounded(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	head := g.one(t, "head", map[string]string{"src/a": "1\n", "src/b": "1\n"})
	from := g.one(t, "parent", map[string]string{"src/a": "2\n"}, head)
	candidate := g.one(t, "candidate", map[string]string{"src/b": "2\n"}, from)
	for name, c := range map[string]struct {
		strategy, from string
		length         int
		kept           bool
		changed        []string
	}{
		"of a parent":            {"openevolve", from, 1, true, []string{"src/a", "src/b"}},
		"as long as may be":      {"openevolve", "", maxPatch, true, []string{"src/b"}},
		"one byte more":          {"openevolve", "", maxPatch + 1, false, []string{"src/b"}},
		"nobody commits from it": {"", "", 1, false, []string{"src/b"}},
	} {
		r := g.searching(t, "- `src/*`", "true")
		r.Strategy = strategy.All().Named(c.strategy)
		a := &attempt{tree: candidate, from: c.from}
		a.Changed = []string{"src/b"}
		require.NoError(t, r.inherit(t.Context(), position{Head: head}, a, bytes.Repeat([]byte("+"), c.length)), name)
		assert.Equal(t, []any{c.kept, c.changed}, []any{len(a.Patch) == c.length, a.Changed}, name)
	}
}

// TestRowsOfTuner: of a long past the latest, and an even number before them.
func TestRowsOfTuner(t *testing.T) {
	t.Parallel()
	for iterations, want := range map[int][2]int{
		0: {0, 0}, mostTrials: {mostTrials, 0},
		mostTrials + 1: {mostTrials + 1, 0}, mostTrials + 2: {mostTrials, 2},
		2*mostTrials + 1: {mostTrials + 1, mostTrials},
	} {
		b := &records{}
		for n := 1; n <= iterations; n++ {
			b.Attempts = append(b.Attempts, spentOn(n, midday, 0, ""))
			b.Proposals = append(b.Proposals, &history.Proposed{
				Decided: history.Decided{Head: history.Head{Iteration: n}},
			})
		}
		past, earlier := b.trials("")
		assert.Equal(t, want, [2]int{len(past), earlier})
	}
}
