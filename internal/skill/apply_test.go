package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/tests/testdir"
)

// The texts of a skill of three lines, so that two changes can be joined.
const (
	original = "first\n\nsecond\n\nthird\n"
	better   = "better\n\nsecond\n\nthird\n" // v1
	mine     = "first\n\nsecond\n\nmine\n"   // beside which v1 is
	joined   = "better\n\nsecond\n\nmine\n"
	disputed = "mine\n\nsecond\n\nthird\n"
)

// appliedSkill is a skill with a workspace in which v1, another first line, was kept.
type appliedSkill struct {
	*Versions
	t      *testing.T
	said   *bytes.Buffer
	asked  []string
	answer bool
}

func newAppliedSkill(t *testing.T) *appliedSkill {
	t.Helper()
	w := newSkill(t, original, paths{
		"evals/evals.json": `{"skill_name": "s", "evals": [{"id": 1, "prompt": "do it", "expectations": ["it is done"]}]}`,
	})
	b := &appliedSkill{t: t, answer: true}
	b.Versions, b.said = versionsOf(t, w)
	b.Ask = func(_ context.Context, question string) (bool, error) {
		b.asked = append(b.asked, question)
		return b.answer, nil
	}
	half, whole := metric.MustValue("0.5"), metric.MustValue("1")
	for n, row := range []results.Row{
		{Action: results.Baseline, Score: &half, Changelog: results.InitialEvaluation},
		{Action: results.Kept, Score: &whole, Changelog: "better"},
		{Action: results.Reverted, Score: &half, Changelog: "worse"},
	} {
		row.Iteration, row.Time = n, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		require.NoError(t, w.Append(row))
	}
	b.edit(better)
	_, err := TakeSnapshot(t.Context(), w.Skill, w.Version(1))
	require.NoError(t, err)
	b.edit(original)
	w.Best = 1
	require.NoError(t, w.Save())
	return b
}

// edit is what a person makes of the skill.
func (b *appliedSkill) edit(text string) {
	testdir.Put(b.t, b.Skill, paths{"SKILL.md": front + text})
}

func (b *appliedSkill) text() string { return textOf(b.t, b.Skill) }

// changed is what an application, or its undoing, says that it did.
func (b *appliedSkill) changed(to, kept string, changed, done bool) *Changed {
	return &Changed{
		Skill: b.Skill, Workspace: b.Dir, To: to, Changed: changed, Done: done, Kept: kept,
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	best, merge := ChangeOptions{Version: BestVersion}, ChangeOptions{Version: 1, Merge: true}
	for name, c := range map[string]struct {
		edited  string // "" for the original
		change  ChangeOptions
		no      bool // to the question
		says    string
		kept    string
		asked   int
		becomes string // "" for what it was
	}{
		"the best":      {change: best, asked: 1, says: "is v1 now", becomes: better},
		"no":            {change: best, no: true, asked: 1, says: "nothing was changed"},
		"yes, unasked":  {change: ChangeOptions{Version: 1, Yes: true}, says: "undo it with: iterate undo ", becomes: better},
		"it is already": {edited: better, change: best, says: "is v1 already"},
		"the original":  {change: ChangeOptions{Version: 0}, says: "is v0 already"},
		"joined": {
			edited: mine, change: merge, asked: 1, says: "is v1, merged, now", kept: "before-apply-1", becomes: joined,
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
			require.NoError(t, err)
			assert.Contains(t, b.said.String(), c.says)
			to := fmt.Sprintf("v%d", max(c.change.Version, -c.change.Version))
			assert.Equal(t, b.changed(to, c.kept, c.becomes != "", !c.no), done)
			if done.Done {
				assert.Equal(t, digestOf(t, b.Skill), saved(t, b.Workspace).Applied.Digest, "it is noted")
			}
			assert.Len(t, b.asked, c.asked)
			if c.becomes == "" {
				c.becomes = before
			}
			assert.Equal(t, c.becomes, b.text())
		})
	}
}

// TestApplyRefused: a skill is changed where its workspace says that it is, when nobody else
// works there, over nothing that a person made of it, and never to what is no version.
func TestApplyRefused(t *testing.T) {
	t.Parallel()
	altered := func(version int) func(b *appliedSkill) error {
		return func(b *appliedSkill) error {
			testdir.Put(b.t, writable(b.t, b.Workspace, version), paths{"SKILL.md": "altered"})
			return nil
		}
	}
	for says, c := range map[string]struct {
		spoil   func(b *appliedSkill) error
		put     paths // in the skill
		version int
		merge   bool
		misuse  bool
	}{
		"does not say where its skill is": {version: 1, misuse: true, spoil: func(b *appliedSkill) error {
			b.Skill = ""
			return nil
		}},
		"read the skill: ": {spoil: func(b *appliedSkill) error { return os.RemoveAll(b.Skill) }},
		"another run works in ": {version: 1, spoil: func(b *appliedSkill) error {
			release, err := saved(b.t, b.Workspace).Hold()
			b.t.Cleanup(release)
			return err
		}},
		"has lost its v0": {version: 1, spoil: func(b *appliedSkill) error {
			return files.RemoveAll(b.Version(0))
		}},
		"v1 was altered":                          {version: 1, spoil: altered(1)},
		"v0 was altered":                          {version: 1, spoil: altered(0)},
		"--version 2: no such version was kept":   {version: 2, misuse: true}, // it was reverted
		"--version -7: no such version was kept":  {version: -7, misuse: true},
		"changed since v0 (SKILL.md); nothing":    {version: 1, put: paths{"SKILL.md": front + mine}},
		`v0 ("a\x1b[2Jb\n"); nothing was applied`: {version: 1, put: paths{"a\x1b[2Jb\n": ""}},
		"is a link that leaves the tree":          {version: 1, put: paths{"l": "-> /etc"}},
		"v1 cannot be joined with what changed":   {version: 1, merge: true, put: paths{"SKILL.md": front + disputed}},
		"changed since v0 (a, b, c, d, e, f, g, h, i, j, k, l and 1": {version: 1, put: paths{
			"a": "", "b": "", "c": "", "d": "", "e": "", "f": "", "g": "", "h": "", "i": "", "j": "", "k": "", "l": "", "m": "",
		}},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			b := newAppliedSkill(t)
			dir := b.Skill
			testdir.Put(t, dir, c.put)
			if c.spoil != nil {
				require.NoError(t, c.spoil(b))
			}
			before, _ := Scan(t.Context(), dir)
			done, err := b.Apply(t.Context(), ChangeOptions{Version: c.version, Merge: c.merge, Yes: true})
			require.ErrorContains(t, err, says)
			assert.Nil(t, done)
			var wrong *misuse.Error
			assert.Equal(t, c.misuse, errors.As(err, &wrong), "%v", err)
			after, _ := Scan(t.Context(), dir)
			assert.Equal(t, before, after)
			assert.Empty(t, b.asked)
		})
	}
}

func TestOfferAndWarning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		best        int
		edited      string
		says, warns string
		applied     bool
	}{
		"the best":       {1, original, "is v1 now", "", true},
		"nothing better": {0, original, ": no-gain", "", false},
		"it is already":  {1, better, "is v1 already", "", true},
		"edited":         {1, disputed, "changed since v0, so nothing is applied", "changed since v0 of", false},
	} {
		b := newAppliedSkill(t)
		if c.best == 0 {
			testdir.Put(t, b.Dir, paths{
				"results.tsv": results.Header + "\n0\t2026-01-02T03:04:05+00:00\t0.5\t0.5\tbaseline\tx\n",
			})
		}
		b.edit(c.edited)
		require.NoError(t, b.WarnOfChange(t.Context()), name)
		assert.Contains(t, b.said.String(), c.warns, name)
		assert.Equal(t, c.warns == "", b.said.Len() == 0, name)
		applied, err := b.Offer(t.Context(), false)
		require.NoError(t, err, name)
		assert.Equal(t, c.applied, applied, name)
		assert.Contains(t, b.said.String(), c.says, name)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string // a person's, before and after the application
		force         bool
		fails         string
		becomes, to   string
		kept          string // a snapshot of what it was
	}{
		"what was applied": {original, better, false, "", original, "v0", ""},
		"what was joined":  {mine, joined, false, "", mine, "before-apply-1", ""},
		"what was changed by hand": {
			original, "else\n", false, "that are in no version of the workspace", "else\n", "", "",
		},
		"by force, which is kept":   {original, "else\n", true, "", original, "v0", "before-undo-1"},
		"what is the original anew": {original, original, false, "", original, "v0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAppliedSkill(t)
			b.edit(c.before)
			_, err := b.Apply(t.Context(), ChangeOptions{Version: 1, Yes: true, Merge: true})
			require.NoError(t, err)
			b.edit(c.after)
			done, err := b.Undo(t.Context(), ChangeOptions{Yes: true, Force: c.force})
			assert.Equal(t, c.becomes, b.text())
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				assert.Nil(t, done)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, b.changed(c.to, c.kept, c.after != c.becomes, true), done)
			assert.DirExists(t, filepath.Join(b.Dir, c.kept))
		})
	}
}

// snapshots are the names of all snapshots of a workspace by their digests, each of
// which must be as it was taken.
func (b *appliedSkill) snapshots() map[string]string {
	b.t.Helper()
	entries, err := os.ReadDir(b.Dir)
	require.NoError(b.t, err)
	found := map[string]string{}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "v") && !strings.HasPrefix(e.Name(), "before-") {
			continue
		}
		tree, err := Verify(b.t.Context(), filepath.Join(b.Dir, e.Name()))
		require.NoError(b.t, err)
		found[tree.Digest()] = e.Name()
	}
	return found
}

// TestPersonsFilesAreNeverLost applies, merges, undoes and edits in any order: what
// the skill was before is a snapshot then, or the merge of two, and an error changes
// nothing.
func TestPersonsFilesAreNeverLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 19))
			b := newAppliedSkill(t)
			merges := map[string]bool{} // digests
			history, undone := "", false
			for step := range 12 {
				before, kept := digestOf(t, b.Skill), b.snapshots()
				var done *Changed
				var err error
				change := ChangeOptions{
					Version: []int{0, 1, BestVersion}[random.IntN(3)], Yes: true,
					Merge: random.IntN(2) == 0, Force: random.IntN(2) == 0,
				}
				kind := random.IntN(3)
				history += fmt.Sprintf("\n%d: %d %+v", step, kind, change)
				switch kind {
				case 0:
					lines := strings.Split(b.text(), "\n")
					lines[2*random.IntN(3)] = fmt.Sprint("step ", step)
					b.edit(strings.Join(lines, "\n"))
					undone = false
					continue
				case 1:
					done, err = b.Apply(t.Context(), change)
				default:
					done, err = b.Undo(t.Context(), change)
				}
				after, now := digestOf(t, b.Skill), b.snapshots()
				for digest, name := range kept {
					require.Contains(t, now, digest, "%s is not there any more:%s", name, history)
				}
				if err != nil {
					require.Equal(t, before, after, history)
					continue
				}
				require.True(t, done.Done, history)
				require.False(t, kind == 2 && undone && done.Changed, "undoing twice undoes once:%s", history)
				undone = kind == 2
				require.Equal(t, before != after, done.Changed, history)
				if before != after && !merges[before] {
					require.Contains(t, now, before, "what it was is lost:%s", history)
				}
				if applied := b.Applied; done.Changed {
					require.Equal(t, after, applied.Digest, "what was noted is what is there:%s", history)
					if applied.Before != "" {
						merges[after] = true
					}
				}
				assert.Equal(t, b.Applied, saved(t, b.Workspace).Applied, history)
			}
		})
	}
}

// TestUndoNeedsNoTable: what a skill was is known without results.tsv.
func TestUndoNeedsNoTable(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	before := digestOf(t, b.Skill)
	_, err := b.Apply(t.Context(), ChangeOptions{Version: 1, Yes: true})
	require.NoError(t, err)
	testdir.Put(t, b.Dir, paths{"results.tsv": "nothing of a table\n"})
	_, err = b.Apply(t.Context(), ChangeOptions{Version: 1, Yes: true})
	require.ErrorContains(t, err, "results.tsv")
	_, err = b.Undo(t.Context(), ChangeOptions{Yes: true})
	require.NoError(t, err)
	assert.Equal(t, before, digestOf(t, b.Skill))
}
