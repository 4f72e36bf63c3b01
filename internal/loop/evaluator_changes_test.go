package loop

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// TestChangesBeyondTheEvaluatorsOwn: another file, and another content where the
// evaluation itself leaves it.
func TestChangesBeyondTheEvaluatorsOwn(t *testing.T) {
	t.Parallel()
	own := ownChanges{"report": true, "run.sh": false, "lib/": false}
	for path, c := range map[string]struct{ content, mode []string }{
		"report":  {nil, nil},
		"run.sh":  {[]string{"run.sh"}, nil},
		"other":   {[]string{"other"}, []string{"other"}},
		"lib/new": {[]string{"lib/new"}, []string{"lib/new"}},
	} {
		assert.Equal(t, c.content, own.beyond([]tree.Touch{{Path: path, Content: true}}), path)
		assert.Equal(t, c.mode, own.beyond([]tree.Touch{{Path: path}}), path)
	}
	assert.Equal(t, []string{"b", "run.sh", "a"},
		own.beyond([]tree.Touch{{Path: "b"}, {Path: "report"}, {Path: "run.sh", Content: true}, {Path: "a"}}),
		"in their order")
	assert.Equal(t, []string{"a"}, (ownChanges{}).beyond([]tree.Touch{{Path: "a"}}), "nothing is known")
}

// evaluatorTrialRepo has an evaluation of several files.
func evaluatorTrialRepo(t *testing.T) *trialRepo {
	t.Helper()
	l := newTrialRepo(t)
	l.git("checkout", "--quiet", "main")
	l.commit(map[string]string{
		"bench.sh": "cat value.txt\n", "lib/a.txt": "a\n", "lib/deep/b.txt": "b\n",
		"report.txt": "none\n", ".gitignore": "dep/\n",
	})
	l.write(l.dir, map[string]string{"dep/x/one.txt": "1\n", "dep/two.txt": "2\n"})
	return l
}

// built is an environment of the trialRepo's incumbent.
func (l *trialRepo) built(r *run, at position) *environment {
	l.t.Helper()
	env, err := r.newEnvironment(l.t.Context(), subjectOf(history.Incumbent, at.Head), r.newDir("t"))
	require.NoError(l.t, err)
	l.t.Cleanup(env.Close)
	return env
}

// TestFilesTheEvaluationWritesAreLearned: what its runs did to files that measure, and a
// warning of each whose content was another, once.
func TestFilesTheEvaluationWritesAreLearned(t *testing.T) {
	t.Parallel()
	l, r, at := evaluatorTrialRepo(t).on(t, "share: [dep]", nil)
	env := l.built(r, at)
	own := map[string]bool{}
	for _, step := range []struct{ file, text, name, warns string }{
		{"value.txt", "9\n", "", ""}, // the target
		{"lib/a.txt", "a\n", "lib/a.txt", ""},
		{"report.txt", "some\n", "report.txt", `"report.txt"`},
		{"report.txt", "none\n", "report.txt", ""},
		{"lib/a.txt", "b\n", "lib/a.txt", `"lib/a.txt"`},
		{"dep/x/new.txt", "x\n", "dep", ""},
		{"dep/two.txt", "3\n", "dep/two.txt", `"dep/two.txt"`},
	} {
		r.warnings = nil
		l.write(env.tree.Dir, map[string]string{step.file: step.text})
		r.learn(env)
		if step.name != "" {
			own[step.name] = own[step.name] || step.warns != ""
		}
		assert.NotNil(t, r.own)
		assert.Equal(t, ownChanges(own), r.own, step.file)
		if step.warns == "" {
			assert.Empty(t, r.warnings, step.file)
		} else if assert.Len(t, r.warnings, 1, step.file) {
			assert.True(t, strings.HasSuffix(r.warnings[0], step.warns), r.warnings[0])
		}
	}
}

// TestReadOnlyEvaluation: what it measures by, the files that its script names
// first, without what it writes itself; and nothing where that is not known.
func TestReadOnlyEvaluation(t *testing.T) {
	t.Parallel()
	shared := evaluatorTrialRepo(t)
	const file = ".autoloop/programs/p.md"
	for name, c := range map[string]struct {
		front  string
		script string
		own    map[string]bool
		side   history.Role
		want   []string
	}{
		"without what it writes": {
			script: "sh bench.sh", own: map[string]bool{"report.txt": true, "bench.sh": false, "lib/": false},
			want: []string{file, ".gitignore", "lib/a.txt", "lib/deep/b.txt", "other.txt"},
		},
		"what is shared": {
			front: "share: [dep]", own: map[string]bool{"other.txt": true},
			want: []string{"dep", file, ".gitignore", "bench.sh", "lib/a.txt", "lib/deep/b.txt", "report.txt"},
		},
		"shared, and something is made there": {
			front: "share: [dep]", own: map[string]bool{"dep": false},
			want: []string{file, ".gitignore", "bench.sh", "lib/a.txt", "lib/deep/b.txt", "other.txt", "report.txt"},
		},
		"people wrote all of it": {own: map[string]bool{"other.txt": true}, side: history.Baseline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, c.front, nil)
			env := l.built(r, at)
			if c.script != "" {
				r.Program.Script = c.script
			}
			r.own = c.own
			env.role = cmp.Or(c.side, env.role)
			before := maps.Clone(c.own)
			if c.want != nil {
				c.want = slices.Insert(c.want, 0, ".git")
			}
			assert.Equal(t, c.want, env.fixed())
			assert.Equal(t, ownChanges(before), r.own)
		})
	}
}

// TestCandidateChangesEvaluator, where nobody knows yet what the evaluation
// does itself: the default branch is measured to find out.
func TestCandidateChangesEvaluator(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	const accepted, rejected = history.Accepted, history.Rejected
	forge := func(text string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, "other.txt"), []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		candidate, incumbent func(dir string) error
		known                map[string]bool
		fails                bool
		outcome              state.Status
		sides                string
	}{
		"the candidate":            {forge("x"), nil, nil, false, rejected, "ci"},
		"it puts it back":          {forge("untouched\n"), nil, nil, false, rejected, "ci"},
		"both":                     {forge("x"), forge("y"), nil, false, accepted, "ci"},
		"it is known that it does": {forge("x"), nil, map[string]bool{"other.txt": true}, false, accepted, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "evaluation-runs: 1", func(one call) evaluation.Result {
				does := map[string]func(string) error{"candidate": c.candidate, "incumbent": c.incumbent}[one.side]
				if does != nil {
					require.NoError(t, does(one.request.Dir))
				}
				if c.fails {
					return failure
				}
				return steady(one)
			})
			r.own = c.known
			a, err := l.trial(r, at)
			require.NoError(t, err)
			assert.Equal(t, c.outcome, a.Outcome, "%v", a.Reasons)
			assert.Equal(t, c.sides, l.sides())
			if c.outcome == rejected {
				golden.Line(t, decision.Texts(a.Reasons))
				assert.Empty(t, a.Verdict)
				assert.Empty(t, a.measured, "a number that it gave itself is not on record")
			}
			l.leavesNothing()
		})
	}
}

// TestUnknownEvaluatorBlamesNobody: without a budget for the default branch a
// candidate is not rejected for what the evaluation may do itself.
func TestUnknownEvaluatorBlamesNobody(t *testing.T) {
	t.Parallel()
	l, r, at := newTrialRepo(t).on(t, "evaluation-runs: 1", func(c call) evaluation.Result {
		require.NoError(t, os.WriteFile(filepath.Join(c.request.Dir, "other.txt"), []byte("a report\n"), 0o600))
		result := steady(c)
		result.Expense = expense(100, "0.5")
		return result
	})
	r.Program.Evaluation = program.Skill
	r.left = budget.Left{Tokens: 100}
	for range 2 {
		a, err := l.trial(r, at)
		require.NoError(t, err)
		assert.Equal(t, history.Error, a.Outcome)
		assert.Contains(t, a.Reasons[0].String(), "was not found out: the budget is used")
		assert.Nil(t, r.own)
		r.used = used(99, "0")
	}
	assert.Equal(t, "cc", l.sides())
	r.left = budget.Left{}
	a, err := l.trial(r, at)
	require.NoError(t, err)
	assert.Equal(t, history.Accepted, a.Outcome, "%v", a.Reasons)
	assert.Equal(t, "ccci", l.sides())
	l.leavesNothing()
}
