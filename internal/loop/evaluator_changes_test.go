package loop

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/tests/golden"
)

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
		assert.Equal(t, own, r.own, step.file)
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
		side   decision.Side
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
			assert.Equal(t, before, r.own)
		})
	}
}

// TestCandidateChangesEvaluator: what the baseline says that the evaluation does itself is no
// candidate's doing, and everything else is.
func TestCandidateChangesEvaluator(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	const accepted, rejected = history.Accepted, history.Rejected
	forge := func(text string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, "other.txt"), []byte(text), 0o600) }
	}
	executable := func(dir string) error { return os.Chmod(filepath.Join(dir, "other.txt"), 0o700) }
	for name, c := range map[string]struct {
		candidate func(dir string) error
		known     map[string]bool
		outcome   state.Status
	}{
		"the candidate":            {forge("x"), nil, rejected},
		"it puts it back":          {forge("untouched\n"), map[string]bool{}, rejected},
		"it is known that it does": {forge("x"), map[string]bool{"other.txt": true}, accepted},
		"another content":          {forge("x"), map[string]bool{"other.txt": false}, rejected},
		"another mode":             {executable, nil, rejected},
		"that mode is known":       {executable, map[string]bool{"other.txt": false}, accepted},
		"another file is known":    {executable, map[string]bool{"value.txt": true}, rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "evaluation-runs: 1", func(one call) evaluation.Result {
				require.NoError(t, c.candidate(one.request.Dir))
				return steady(one)
			})
			r.records.EvaluatorWrites = c.known
			a, err := l.trial(r, at)
			require.NoError(t, err)
			assert.Equal(t, c.outcome, a.Outcome, "%v", a.Reasons)
			assert.Equal(t, "c", l.sides())
			if c.outcome == rejected {
				golden.Line(t, decision.Texts(a.Reasons))
				assert.Empty(t, a.Verdict)
				assert.Empty(t, a.measured, "a number that it gave itself is not on record")
			}
			l.leavesNothing()
		})
	}
}

// TestEvaluationThatChangesTooMuchIsNoBaseline: what it changes itself has to be on record.
func TestEvaluationThatChangesTooMuchIsNoBaseline(t *testing.T) {
	t.Parallel()
	_, r, at := newTrialRepo(t).on(t, "", steady)
	r.own = map[string]bool{}
	for i := range maxOwnChanges + 1 {
		r.own[fmt.Sprint(i)] = true
	}
	_, err := r.measureBaseline(t.Context(), at)
	golden.Row(t, "more than are recorded", err)
}
