package skill_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// original is a skill of three lines, so that two changes can be joined.
const original = "---\nname: s\ndescription: says things\n---\nfirst\n\nsecond\n\nthird\n"

// appliedSkill is a skill with a workspace in which v1, another first line, was kept.
type appliedSkill struct {
	*skill.Versions
	t      *testing.T
	dir    string // the skill
	out    *bytes.Buffer
	asked  []string
	answer bool
}

func newAppliedSkill(t *testing.T) *appliedSkill {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, files.RemoveAll(base)) }) // versions are read-only
	b := &appliedSkill{t: t, dir: filepath.Join(base, "s"), out: &bytes.Buffer{}, answer: true}
	b.write(b.dir, "SKILL.md", original)
	b.write(b.dir, "evals/evals.json",
		`{"skill_name": "s", "evals": [{"id": 1, "prompt": "do it", "expectations": ["it is done"]}]}`)
	w, err := workspace.Create(t.Context(), workspace.Beside(b.dir), b.dir)
	require.NoError(t, err)
	b.Versions = &skill.Versions{
		Workspace: w, TempDir: base, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base},
		Out: b.out, Err: b.out,
		Ask: func(_ context.Context, question string) (bool, error) {
			b.asked = append(b.asked, question)
			return b.answer, nil
		},
	}
	half, whole := metric.MustValue("0.5"), metric.MustValue("1")
	b.row(results.Row{Action: results.Baseline, Score: &half, Changelog: results.InitialEvaluation})
	b.version(1, "better\n\nsecond\n\nthird\n")
	b.row(results.Row{Iteration: 1, Action: results.Kept, Score: &whole, Changelog: "better"})
	b.row(results.Row{Iteration: 2, Action: results.Reverted, Score: &half, Changelog: "worse"})
	w.Best = 1
	require.NoError(t, w.Save())
	return b
}

func (b *appliedSkill) write(dir, name, text string) {
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(b.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(b.t, os.WriteFile(file, []byte(text), 0o644))
}

func (b *appliedSkill) row(row results.Row) {
	row.Time = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(b.t, b.Workspace.Append(row))
}

// version takes a version with another text than the original.
func (b *appliedSkill) version(n int, text string) {
	dir := filepath.Join(b.t.TempDir(), "v")
	_, err := workspace.Restore(b.t.Context(), b.Workspace.Version(0), dir)
	require.NoError(b.t, err)
	b.write(dir, "SKILL.md", original[:len(original)-len("first\n\nsecond\n\nthird\n")]+text)
	_, err = workspace.Take(b.t.Context(), dir, b.Workspace.Version(n))
	require.NoError(b.t, err)
}

func (b *appliedSkill) text() string {
	data, err := os.ReadFile(filepath.Join(b.dir, "SKILL.md"))
	require.NoError(b.t, err)
	return string(data[len(original)-len("first\n\nsecond\n\nthird\n"):])
}

// edit is what a person makes of the skill.
func (b *appliedSkill) edit(text string) {
	b.write(b.dir, "SKILL.md", original[:len(original)-len("first\n\nsecond\n\nthird\n")]+text)
}

func TestApply(t *testing.T) {
	t.Parallel()
	best := skill.ChangeOptions{Version: skill.BestVersion}
	for name, c := range map[string]struct {
		edited      string // "" for the original
		change      skill.ChangeOptions
		no          bool // to the question
		says, fails string
		asked       int
		becomes     string // "" for what it was
	}{
		"the best": {change: best, asked: 1, says: "is v1 now", becomes: "better\n\nsecond\n\nthird\n"},
		"no":       {change: best, no: true, asked: 1, says: "nothing was changed"},
		"yes, unasked": {
			change: skill.ChangeOptions{Version: 1, Yes: true}, says: "undo it with: iterate undo ",
			becomes: "better\n\nsecond\n\nthird\n",
		},
		"it is already": {edited: "better\n\nsecond\n\nthird\n", change: best, says: "is v1 already"},
		"the original":  {change: skill.ChangeOptions{Version: 0}, says: "is v0 already"},
		"one that was reverted": {
			change: skill.ChangeOptions{Version: 2},
			fails:  "such version was kept; there are v0, v1",
		},
		"edited": {
			edited: "first\n\nsecond\n\nmine\n", change: best,
			fails: "changed since v0 (SKILL.md); nothing",
		},
		"joined": {
			edited: "first\n\nsecond\n\nmine\n", change: skill.ChangeOptions{Version: 1, Merge: true},
			asked: 1, says: "is v1, merged, now", becomes: "better\n\nsecond\n\nmine\n",
		},
		"in conflict": {
			edited: "mine\n\nsecond\n\nthird\n", change: skill.ChangeOptions{Version: 1, Merge: true},
			fails: "v1 cannot be joined with what changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAppliedSkill(t)
			b.answer = !c.no
			if c.edited != "" {
				b.edit(c.edited)
			}
			before := b.text()
			done, err := b.Apply(t.Context(), c.change)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Nil(t, done)
			} else {
				require.NoError(t, err)
				assert.Contains(t, b.out.String(), c.says)
				to := fmt.Sprintf("v%d", max(c.change.Version, -c.change.Version))
				want := &skill.Changed{
					Skill: b.Workspace.Skill, Workspace: b.Workspace.Dir, To: to,
					Changed: c.becomes != "", Done: !c.no,
				}
				if c.change.Merge {
					want.Kept = "before-apply-1"
				}
				assert.Equal(t, want, done)
			}
			assert.Len(t, b.asked, c.asked)
			if c.becomes == "" {
				c.becomes = before
			}
			assert.Equal(t, c.becomes, b.text())
		})
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		best    int
		edited  bool
		says    string
		applied bool
	}{
		"the best":       {1, false, "is v1 now", true},
		"nothing better": {0, false, "", false},
		"edited":         {1, true, "changed since v0, so nothing is applied", false},
	} {
		b := newAppliedSkill(t)
		b.Workspace.Best = c.best
		if c.edited {
			b.edit("mine\n")
		}
		applied, err := b.Offer(t.Context(), false)
		require.NoError(t, err, name)
		assert.Equal(t, c.applied, applied, name)
		assert.Contains(t, b.out.String(), c.says, name)
	}
}

func TestWarnOfChange(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	require.NoError(t, b.WarnOfChange(t.Context()))
	assert.Empty(t, b.out.String())
	b.edit("better\n\nsecond\n\nthird\n") // v1
	require.NoError(t, b.WarnOfChange(t.Context()))
	assert.Empty(t, b.out.String())
	b.edit("mine\n")
	require.NoError(t, b.WarnOfChange(t.Context()))
	assert.Contains(t, b.out.String(), "changed since v0")
}

func TestScoreOfWhatWasNotMeasured(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	_, err := b.Score(t.Context(), 2)
	require.ErrorContains(t, err, "iteration 2 was not measured: worse")
	_, err = b.Score(t.Context(), 7)
	require.ErrorContains(t, err, "iteration 7 was not run")
}

func TestUndo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string // a person's, before and after the application; "" for none
		force         bool
		fails         string
		becomes       string
		kept          string // a snapshot of what it was
	}{
		"what was applied": {becomes: "first\n\nsecond\n\nthird\n"},
		"what was joined":  {before: "first\n\nsecond\n\nmine\n", becomes: "first\n\nsecond\n\nmine\n"},
		"what was changed by hand": {
			after: "else\n",
			fails: "that are in no version of the workspace", becomes: "else\n",
		},
		"by force, which is kept": {
			after: "else\n", force: true, becomes: "first\n\nsecond\n\nthird\n",
			kept: "before-undo-1",
		},
		"what is the original anew": {after: "first\n\nsecond\n\nthird\n", becomes: "first\n\nsecond\n\nthird\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAppliedSkill(t)
			if c.before != "" {
				b.edit(c.before)
			}
			_, err := b.Apply(t.Context(), skill.ChangeOptions{Version: 1, Yes: true, Merge: true})
			require.NoError(t, err)
			if c.after != "" {
				b.edit(c.after)
			}
			done, err := b.Undo(t.Context(), skill.ChangeOptions{Yes: true, Force: c.force})
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Nil(t, done)
			} else {
				require.NoError(t, err)
				to := "v0"
				if c.before != "" {
					to = "before-apply-1"
				}
				changed := c.after != c.becomes
				assert.Equal(t, &skill.Changed{
					Skill: b.Workspace.Skill, Workspace: b.Workspace.Dir, To: to,
					Changed: changed, Done: true, Kept: c.kept,
				}, done)
			}
			assert.Equal(t, c.becomes, b.text())
			if c.kept != "" {
				assert.DirExists(t, filepath.Join(b.Workspace.Dir, c.kept))
			}
		})
	}
}

func TestReportOfVersions(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	r, patch, err := b.Report(t.Context(), skill.BestVersion)
	require.NoError(t, err)
	assert.Equal(t, 1, r.BestVersion)
	assert.Equal(t, "s", r.Skill)
	assert.Equal(t, "SKILL.md", r.Changes[0].Path)
	assert.Contains(t, string(patch), "-first\n+better\n")
	r, patch, err = b.Report(t.Context(), 0)
	require.NoError(t, err)
	assert.Empty(t, r.Changes)
	assert.Empty(t, patch)
	evals := filepath.Join(b.Workspace.Version(0), "evals", "evals.json")
	require.NoError(t, os.Chmod(evals, 0o600))
	require.NoError(t, os.WriteFile(evals, []byte("{}"), 0o600))
	_, _, err = b.Report(t.Context(), 0)
	require.Error(t, err, "a suite that was changed measures nothing")
}
