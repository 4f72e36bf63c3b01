package skill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/tests/golden"
)

// front begins a SKILL.md whose last line is its text; the text decides what the
// skill scores.
const front = "---\nname: s\ndescription: says things\n---\n"

// skillLoop is a skill of three cases with four expectations each, its workspace, and
// a loop that improves it. Nobody works on the cases: says has, by the text of the
// skill, how many expectations of each case pass, run by run, of which the last goes on.
type skillLoop struct {
	skill.SuiteEvals

	t        *testing.T
	dir      string
	says     map[string][]string
	measured map[string]int
	during   func(dir string) // the measurement
	loop     skill.Loop
}

// newSkillLoop is a loop whose original scores that.
func newSkillLoop(t *testing.T, original ...string) *skillLoop {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, files.RemoveAll(base)) }) // versions are read-only
	k := &skillLoop{
		t: t, dir: filepath.Join(base, "s"), says: map[string][]string{"original": original},
		measured: map[string]int{},
	}
	k.write(k.dir, "SKILL.md", front+"original")
	k.write(k.dir, "evals/evals.json", `[`+strings.Join([]string{
		`{"id": 1, "prompt": "one", "expectations": ["a", "b", "c", "d"]}`,
		`{"id": 2, "prompt": "two", "expectations": ["a", "b", "c", "d"]}`,
		`{"id": 3, "prompt": "three", "expectations": ["a", "b", "c", "d"]}`,
	}, ",")+`]`)
	k.Workspace, err = workspace.Create(t.Context(), workspace.Beside(k.dir), k.dir)
	require.NoError(t, err)
	k.Suited, err = evalrun.Load(k.Workspace.Version(0), ".", "")
	require.NoError(t, err)
	k.loop = skill.Loop{
		Workspace: k.Workspace, Evals: k, Name: "s", Most: 1, Runs: 1, Executor: history.Executor{Agent: "nobody"},
		Home: func() (string, []string, error) { return t.TempDir(), nil, nil },
		Now:  func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	return k
}

func (k *skillLoop) write(dir, name, text string) {
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(k.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(k.t, os.WriteFile(file, []byte(text), 0o644))
}

// Measure leaves the gradings that the text of a skill has. "-" is a case without one.
func (k *skillLoop) Measure(_ context.Context, _, dir, out string) (skill.Measured, error) {
	data, err := os.ReadFile(filepath.Join(dir, "SKILL.md"))
	require.NoError(k.t, err)
	text := strings.TrimPrefix(string(data), front)
	runs := k.says[text]
	require.NotEmpty(k.t, runs, "nobody says what %q scores", text)
	says := runs[min(k.measured[text], len(runs)-1)]
	k.measured[text]++
	if k.during != nil {
		k.during(dir)
	}
	if fault, is := strings.CutPrefix(says, "fault: "); is {
		return skill.Measured{Fault: fault}, nil
	}
	require.NoError(k.t, os.MkdirAll(out, 0o755))
	for i, passed := range strings.Fields(says) {
		if passed != "-" {
			k.write(out, fmt.Sprintf("eval-%d/grading.json", i+1), gradingOf(passed))
		}
	}
	return k.Read(out)
}

// gradingOf is a grading in which the first so many of four expectations passed.
func gradingOf(passed string) string {
	var list []string
	for i, text := range []string{"a", "b", "c", "d"} {
		list = append(list, fmt.Sprintf(`{"text": %q, "passed": %v, "evidence": "seen"}`, text,
			fmt.Sprint(i+1) <= passed))
	}
	return `{"expectations": [` + strings.Join(list, ",") + `]}`
}

// improver does something with each candidate.
type improver func(iteration int, dir string) (agent.Reply, error)

func (improver) Name() string { return "improver" }

func (i improver) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	return i(r.Iteration, r.Dir)
}

// texts makes one text after the other the skill's.
func (k *skillLoop) texts(list ...string) improver {
	return func(iteration int, dir string) (agent.Reply, error) {
		k.write(dir, "SKILL.md", front+list[iteration-1])
		return agent.Reply{Summary: "it is " + list[iteration-1]}, nil
	}
}

// run improves the skill, which itself is never changed.
func (k *skillLoop) run() (skill.Ended, error) {
	k.t.Helper()
	before, err := workspace.Scan(k.t.Context(), k.dir)
	require.NoError(k.t, err)
	ended, failed := k.loop.Run(k.t.Context())
	after, err := workspace.Scan(k.t.Context(), k.dir)
	require.NoError(k.t, err)
	assert.Equal(k.t, before, after, "the skill is only read")
	return ended, failed
}

func (k *skillLoop) rows() []results.Row {
	k.t.Helper()
	table, err := k.Workspace.Results()
	require.NoError(k.t, err)
	return table.Rows()
}

// actions are those of all rows in a word, such as bkr.
func (k *skillLoop) actions() string {
	text := ""
	for _, row := range k.rows() {
		text += string(row.Action[0])
	}
	return text
}

func TestOutcomesOfCandidates(t *testing.T) {
	t.Parallel()
	in := func(do func(dir string) error) improver {
		return func(_ int, dir string) (agent.Reply, error) { return agent.Reply{Summary: "tried"}, do(dir) }
	}
	put := func(name, text string) improver {
		return in(func(dir string) error {
			return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600)
		})
	}
	link := func(target, name string) improver {
		return in(func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, name)), os.Symlink(target, filepath.Join(dir, name)))
		})
	}
	failing := func(kind agent.FailureKind) improver {
		return func(_ int, dir string) (agent.Reply, error) {
			k := agent.Reply{Summary: "half", Failure: &agent.Failure{Kind: kind, Message: "why"}}
			return k, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(front+"new"), 0o600)
		}
	}
	for name, c := range map[string]struct {
		was, is string // what is passed of each case; "" for 2 2 0, and where nothing is measured
		improve improver
		keeps   bool // all cases that passed
		kept    bool
		score   string
		says    string
	}{
		"better": {
			is: "4 2 0", kept: true, score: "0.5",
			says: "it is new — unverified: measured once",
		},
		"better by a little": {
			is: "2 2 1", kept: true, score: "0.416666666667",
			says: "it is new — unverified: measured once",
		},
		"the same": {
			is: "2 2 0", score: "0.333333333333",
			says: "it is new — 0.333333333333 equals the",
		},
		"worse": {
			is: "2 0 0", score: "0.166666666667",
			says: "is worse than the best 0.333333333333",
		},
		"better, and loses a case": {
			was: "4 0 0", is: "2 4 4", kept: true, score: "0.833333333333",
			says: "measured once — regressed-cases: 1",
		},
		"and may not lose one": {
			was: "4 0 0", is: "2 4 4", keeps: true, score: "0.833333333333",
			says: "1; no-case-regression forbids to lose a",
		},
		"it lost what was not whole": {
			was: "3 0 0", is: "1 4 4", keeps: true, kept: true, score: "0.75",
			says: "unverified: measured once",
		},
		"a case crashes":        {is: "4 4 -", kept: true, score: "0.666666666667", says: "unverified"},
		"it cannot be measured": {is: "fault: the skill has no room", says: "it is new — the skill has no room"},

		"nothing changed": {improve: in(func(string) error { return nil }), says: "tried — no change proposed"},
		"the suite":       {improve: put("evals/evals.json", "[]"), says: "it changed the eval suite"},
		"the mode of the suite": {
			improve: in(func(dir string) error { return os.Chmod(filepath.Join(dir, "evals/evals.json"), 0o600) }),
			says:    "it changed the eval suite",
		},
		"the suite is gone": {
			improve: in(
				func(dir string) error { return os.RemoveAll(filepath.Join(dir, "evals")) }),
			says: "it changed the eval suite",
		},
		"no SKILL.md": {
			improve: in(
				func(dir string) error { return os.Remove(filepath.Join(dir, "SKILL.md")) }),
			says: "it has no SKILL.md any more",
		},
		"a SKILL.md that is a link": {
			improve: link("evals/evals.json", "SKILL.md"),
			says:    "it has no SKILL.md any more",
		},
		"a link out of it": {
			improve: link("/etc/passwd", "notes"),
			says:    `"notes" is a link that leaves the tree`,
		},
		"a name like .git": {
			improve: put("git~1", ""),
			says:    `"git~1" has a name that some file`,
		},
		"its directory is gone": {improve: in(os.RemoveAll), says: "no such file or directory"},
		"its directory is a link": {
			improve: in(
				func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink("v0", dir)) }),
			says: "tried — its directory was exchanged",
		},

		"the improver crashed":       {improve: failing(agent.Crashed), says: "the improver failed: crashed: why"},
		"the improver has no budget": {improve: failing(agent.Budget), says: "the improver failed: budget: why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.was == "" {
				c.was = "2 2 0"
			}
			k := newSkillLoop(t, c.was)
			if k.loop.Improver = c.improve; c.improve == nil {
				k.says["new"], k.loop.Improver = []string{c.is}, k.texts("new")
			}
			k.loop.NoCaseRegression = c.keeps
			ended, err := k.run()
			require.NoError(t, err)
			assert.Equal(t, skill.Exhausted, ended)
			rows := k.rows()
			require.Len(t, rows, 2)
			row, action, best := rows[1], results.Reverted, 0
			if c.kept {
				action, best = results.Kept, 1
			}
			assert.Equal(t, action, row.Action, row.Changelog)
			assert.Contains(t, row.Changelog, c.says)
			if c.score == "" {
				assert.Nil(t, row.Score)
			} else if assert.NotNil(t, row.Score) {
				assert.Equal(t, c.score, row.Score.String())
			}
			saved, err := workspace.OpenWorkspace(k.Workspace.Dir)
			require.NoError(t, err)
			assert.Equal(t, best, saved.Best)
			_, err = workspace.Verify(t.Context(), k.Workspace.Version(1))
			assert.Equal(t, c.kept, err == nil, "only what is kept is a version")
		})
	}
}

func TestCandidateChangesWhileMeasured(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir string) error{
		"a file more": func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o600) },
		"a mode":      func(dir string) error { return os.Chmod(filepath.Join(dir, "SKILL.md"), 0o755) },
		"the suite": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "evals/evals.json"), nil, 0o600)
		},
		"it is gone": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, "2 2 0")
			k.says["new"], k.loop.Improver = []string{"4 4 4"}, k.texts("new")
			k.during = func(dir string) {
				if filepath.Base(dir) == "candidate" {
					require.NoError(t, change(dir))
				}
			}
			_, err := k.run()
			require.NoError(t, err)
			row := k.rows()[1]
			golden.Row(t, "it is new —", row.Changelog)
			assert.Nil(t, row.Score, "whatever it scored, nobody knows what that is of")
			assert.Zero(t, k.Workspace.Best)
		})
	}
}

func TestUnreachableModelDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []agent.FailureKind{agent.Unavailable, agent.Authentication, agent.RateLimit} {
		k := newSkillLoop(t, "2 2 0")
		k.loop.Most = 3
		k.loop.Improver = improver(func(int, string) (agent.Reply, error) {
			return agent.Reply{Failure: &agent.Failure{Kind: kind, Message: "not now"}}, nil
		})
		_, err := k.run()
		require.ErrorContains(t, err, "the improver: "+string(kind)+": not now")
		assert.Equal(t, "b", k.actions(), "an iteration that was not made has no row")
		saved, err := workspace.OpenWorkspace(k.Workspace.Dir)
		require.NoError(t, err)
		assert.Equal(t, &workspace.Run{After: 0, Count: 3}, saved.Run, "the run is to be finished")
	}
}

func TestWhyARunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		original  string
		texts     string // worse, better or perfect
		most      int
		stopAfter int
		ended     skill.Ended
		actions   string
	}{
		"the original is perfect":        {"4 4 4", "worse worse", 2, 0, skill.PerfectBaseline, "b"},
		"a version is perfect":           {"2 2 0", "worse perfect worse", 3, 0, skill.Perfect, "brk"},
		"reverts in a row":               {"2 2 0", "worse worse worse worse", 4, 3, skill.Stuck, "brrr"},
		"a gain begins the count anew":   {"2 2 0", "worse better worse worse better", 5, 2, skill.Stuck, "brkrr"},
		"as many reverts as there are":   {"2 2 0", "worse worse", 2, 2, skill.Stuck, "brr"},
		"reverts never end it":           {"2 2 0", "worse worse worse worse", 4, 0, skill.Exhausted, "brrrr"},
		"nothing was asked for":          {"2 2 0", "", 0, 1, skill.Exhausted, "b"},
		"a gain after which none is one": {"2 2 0", "better better better", 3, 2, skill.Stuck, "bkrr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, c.original)
			for text, says := range map[string]string{
				"worse": "1 1 0", "better": "4 2 0",
				"perfect": "4 4 4",
			} {
				k.says[text] = []string{says}
			}
			texts := strings.Fields(c.texts)
			k.loop.Most, k.loop.StopAfter = c.most, c.stopAfter
			k.loop.Improver = improver(func(n int, dir string) (agent.Reply, error) {
				k.write(dir, "n", fmt.Sprint(n)) // none is as it was
				return k.texts(texts...)(n, dir)
			})
			ended, err := k.run()
			require.NoError(t, err)
			assert.Equal(t, c.ended, ended)
			assert.Equal(t, c.actions, k.actions())
			saved, err := workspace.OpenWorkspace(k.Workspace.Dir)
			require.NoError(t, err)
			assert.Nil(t, saved.Run, "it ended")
			assert.Equal(t, c.ended == skill.Exhausted, saved.Whole)
			if best, err := workspace.Scan(t.Context(), saved.Version(saved.Best)); assert.NoError(t, err) &&
				strings.ContainsAny(c.actions, "kr") {
				restored, err := workspace.Scan(t.Context(), saved.Candidate())
				require.NoError(t, err)
				assert.Equal(t, contents(best), contents(restored), "what was reverted is not left there")
			}
			if c.ended == skill.PerfectBaseline || c.ended == skill.Perfect {
				again, err := k.run()
				require.NoError(t, err)
				assert.Equal(t, c.ended, again)
				assert.Equal(t, c.actions, k.actions(), "there is nothing left to improve")
			}
		})
	}
}

// contents are the files of a tree, without their modes: those of a version are read-only.
func contents(tree workspace.Tree) map[string]string {
	list := map[string]string{}
	for _, e := range tree {
		list[e.Path] = e.SHA256
	}
	return list
}

// versions are those of the loop's skill.
func (k *skillLoop) versions() *skill.Versions {
	return &skill.Versions{
		Workspace: k.Workspace, TempDir: k.t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.t.TempDir()},
		Out:     io.Discard, Err: io.Discard,
	}
}
