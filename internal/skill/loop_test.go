package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/tests/testdir"
)

// fourEach is a suite of three cases with four expectations each.
const fourEach = `[{"id": 1, "prompt": "one", "expectations": ["a", "b", "c", "d"]},
	{"id": 2, "prompt": "two", "expectations": ["a", "b", "c", "d"]},
	{"id": 3, "prompt": "three", "expectations": ["a", "b", "c", "d"]}]`

// skillLoop is a skill, its workspace, and a loop that improves it. Nobody works on the
// cases: says has, by the text of the skill, how many expectations of each case pass, run
// by run, of which the last goes on.
type skillLoop struct {
	Workspace *Workspace

	t        *testing.T
	says     map[string][]string
	measured map[string]int
	during   func(dir string) // the measurement
	loop     Loop
}

// newSkillLoop is a loop whose original scores that.
func newSkillLoop(t *testing.T, original ...string) *skillLoop {
	t.Helper()
	return newLoopOf(t, newSkill(t, "original", paths{"evals/evals.json": fourEach}), original...)
}

func newLoopOf(t *testing.T, w *Workspace, original ...string) *skillLoop {
	t.Helper()
	k := &skillLoop{t: t, measured: map[string]int{}, says: map[string][]string{
		"original": original, "worse": {"1 1 0"}, "better": {"4 2 0"}, "perfect": {"4 4 4"},
	}}
	k.Workspace = w
	suite, err := evalrun.Load(w.Version(0), ".", "")
	require.NoError(t, err)
	k.loop = Loop{
		Suite: suite, Dir: t.TempDir(), Most: 1, Program: &program.Program{Runs: 1}, Executor: history.Executor{Agent: "nobody"},
		Home:  func() (string, []string, error) { return t.TempDir(), nil, nil },
		Now:   func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Begin: func(string) {}, Say: func(string) {}, Tell: func(string) {}, Progress: func(results.Row) {},
		Evaluate: k.measure,
	}
	return k
}

// measure leaves the gradings that the text of a skill has. "-" is a case without one.
func (k *skillLoop) measure(_ context.Context, skill *evalrun.Skill, out string, _ evalrun.Options) (evalrun.Result,
	error,
) {
	text := textOf(k.t, skill.Dir)
	runs := k.says[text]
	require.NotEmpty(k.t, runs, "nobody says what %q scores", text)
	says := runs[min(k.measured[text], len(runs)-1)]
	k.measured[text]++
	if k.during != nil {
		k.during(skill.Dir)
	}
	if fault, is := strings.CutPrefix(says, "fault: "); is {
		return evalrun.Result{}, misuse.Errorf("%s", fault)
	}
	testdir.Put(k.t, out, gradings(says))
	return evalrun.ReadAll(skill, out)
}

// gradings are those of cases in which the first so many of four expectations passed.
func gradings(says string) paths {
	list := paths{}
	for i, passed := range strings.Fields(says) {
		var graded []string
		for k, text := range []string{"a", "b", "c", "d"} {
			graded = append(graded, fmt.Sprintf(`{"text": %q, "passed": %v, "evidence": "seen"}`, text,
				fmt.Sprint(k+1) <= passed))
		}
		if passed != "-" {
			list[fmt.Sprintf("eval-%d/grading.json", i+1)] = `{"expectations": [` + strings.Join(graded, ",") + `]}`
		}
	}
	return list
}

// improver does something with each candidate, and keeps what it is told.
type improver struct {
	heard []agent.Request
	do    func(iteration int, dir string) (agent.Reply, error)
}

func (*improver) Name() string { return "improver" }

func (i *improver) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	i.heard = append(i.heard, r)
	return i.do(r.Iteration, r.Dir)
}

// texts makes one text after the other the skill's; the file n is another one each time.
func (k *skillLoop) texts(list string) *improver {
	texts := strings.Fields(list)
	return &improver{do: func(n int, dir string) (agent.Reply, error) {
		testdir.Put(k.t, dir, paths{"SKILL.md": front + texts[n-1], "n": fmt.Sprint(n)})
		return agent.Reply{Summary: "it is " + texts[n-1]}, nil
	}}
}

// run improves the skill, as another process would, which itself is never changed.
func (k *skillLoop) run() (Ended, error) {
	k.t.Helper()
	k.Workspace = saved(k.t, k.Workspace)
	loop := k.loop
	loop.Workspace = k.Workspace
	before := digestOf(k.t, k.Workspace.Skill)
	ended, failed := loop.Run(k.t.Context())
	assert.Equal(k.t, before, digestOf(k.t, k.Workspace.Skill), "the skill is only read")
	return ended, failed
}

// ran is run without an error, which leaves these actions in the table: their first letters.
func (k *skillLoop) ran(actions string) Ended {
	k.t.Helper()
	ended, err := k.run()
	require.NoError(k.t, err)
	require.Equal(k.t, actions, k.actions(), "%v", k.rows())
	return ended
}

func (k *skillLoop) rows() []results.Row {
	k.t.Helper()
	table, err := k.Workspace.Results()
	require.NoError(k.t, err)
	return table.Rows
}

func (k *skillLoop) actions() (text string) {
	for _, row := range k.rows() {
		text += string(row.Action[0])
	}
	return text
}

func TestOutcomesOfCandidates(t *testing.T) {
	t.Parallel()
	const once, suite = "it is new — unverified: measured once", "candidate/evals/evals.json"
	const changed, meanwhile = "it changed the eval suite", "it is new — its files changed while"
	for name, c := range map[string]struct {
		was, is string // what is passed of each case; "" for 2 2 0, and where the improver does what follows
		put     paths  // in the workspace, after it removed that
		remove  string
		fails   agent.FailureKind
		during  bool // the measurement, and not what the improver does
		keeps   bool // all cases that passed
		kept    bool
		score   string
		says    string
	}{
		"better":             {is: "4 2 0", kept: true, score: "0.5", says: once},
		"better by a little": {is: "2 2 1", kept: true, score: "0.416666666667", says: once},
		"the same":           {is: "2 2 0", score: "0.333333333333", says: "it is new — 0.333333333333 equals the"},
		"worse":              {is: "2 0 0", score: "0.166666666667", says: "is worse than the best 0.333333333333"},
		"better, and loses a case": {
			was: "4 0 0", is: "2 4 4", kept: true, score: "0.833333333333", says: "measured once — regressed-cases: 1",
		},
		"and may not lose one": {
			was: "4 0 0", is: "2 4 4", keeps: true, score: "0.833333333333",
			says: "1; no-case-regression forbids to lose a",
		},
		"it lost what was not whole": {was: "3 0 0", is: "1 4 4", keeps: true, kept: true, score: "0.75", says: once},
		"a case crashes":             {is: "4 4 -", kept: true, score: "0.666666666667", says: "unverified"},
		"it cannot be measured":      {is: "fault: the skill has no room", says: "it is new — the skill has no room"},

		"nothing changed":       {says: "tried — no change proposed"},
		"the suite":             {put: paths{suite: "[]"}, says: changed},
		"the mode of the suite": {put: paths{suite: "-rw------- " + fourEach}, says: changed},
		"the suite is gone":     {remove: "candidate/evals", says: changed},
		"no SKILL.md":           {remove: "candidate/SKILL.md", says: "it has no SKILL.md any more"},
		"a SKILL.md that is a link": {
			remove: "candidate/SKILL.md", put: paths{"candidate/SKILL.md": "-> evals/evals.json"},
			says: "it has no SKILL.md any more",
		},
		"a link out of it":      {put: paths{"candidate/l": "-> /etc"}, says: `"l" is a link that leaves the tree`},
		"a name like .git":      {put: paths{"candidate/git~1": ""}, says: `"git~1" has a name that some file`},
		"its directory is gone": {remove: "candidate", says: "no such file or directory"},
		"its directory is a link": {
			remove: "candidate", put: paths{"candidate": "-> v0"}, says: "tried — its directory was exchanged",
		},
		"the improver crashed":       {fails: agent.Crashed, says: "the improver failed: crashed: why"},
		"the improver has no budget": {fails: agent.Budget, says: "the improver failed: budget: why"},

		"meanwhile a file more": {is: "4 4 4", during: true, put: paths{"candidate/more": ""}, says: meanwhile},
		"meanwhile a mode": {
			is: "4 4 4", during: true, put: paths{"candidate/SKILL.md": "-rwxr-xr-x " + front + "new"}, says: meanwhile,
		},
		"meanwhile the suite":   {is: "4 4 4", during: true, put: paths{suite: ""}, says: meanwhile},
		"meanwhile it was gone": {is: "4 4 4", during: true, remove: "candidate", says: meanwhile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.was == "" {
				c.was = "2 2 0"
			}
			k := newSkillLoop(t, c.was)
			change := func(string) {
				if c.remove != "" {
					require.NoError(t, os.RemoveAll(filepath.Join(k.Workspace.Dir, c.remove)))
				}
				testdir.Put(t, k.Workspace.Dir, c.put)
			}
			k.says["new"], k.loop.Improver, k.loop.Program.NoCaseRegression = []string{c.is}, k.texts("new"), c.keeps
			if c.is == "" {
				k.loop.Improver = &improver{do: func(_ int, dir string) (agent.Reply, error) {
					change(dir)
					reply := agent.Reply{Summary: "tried"}
					if c.fails != "" {
						reply.Failure = &agent.Failure{Kind: c.fails, Message: "why"}
					}
					return reply, nil
				}}
			}
			k.during = func(dir string) {
				if c.during && filepath.Base(dir) == "candidate" {
					change(dir)
				}
			}
			ended, err := k.run()
			require.NoError(t, err)
			assert.Equal(t, Exhausted, ended)
			rows := k.rows()
			require.Len(t, rows, 2)
			assert.Contains(t, rows[1].Changelog, c.says)
			assert.Equal(t, c.kept, rows[1].Action == results.Kept)
			if c.score == "" {
				assert.Nil(t, rows[1].Score)
			} else {
				assert.Equal(t, c.score, rows[1].Score.String())
			}
			assert.Equal(t, c.kept, saved(t, k.Workspace).Best == 1)
			_, err = Verify(t.Context(), k.Workspace.Version(1))
			assert.Equal(t, c.kept, err == nil, "only what is kept is a version")
		})
	}
}

func TestUnreachableModelDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []agent.FailureKind{agent.Unavailable, agent.Authentication, agent.RateLimit} {
		k := newSkillLoop(t, "2 2 0")
		k.loop.Most = 3
		k.loop.Improver = &improver{do: func(int, string) (agent.Reply, error) {
			return agent.Reply{Failure: &agent.Failure{Kind: kind, Message: "not now"}}, nil
		}}
		_, err := k.run()
		require.ErrorContains(t, err, "the improver: "+string(kind)+": not now")
		assert.Equal(t, "b", k.actions(), "an iteration that was not made has no row")
		assert.Equal(t, &Run{After: 0, Count: 3}, saved(t, k.Workspace).Run, "the run is to be finished")
	}
}

func TestWhyARunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		original  string
		texts     string
		most      int
		stopAfter int
		ended     Ended
		actions   string
	}{
		"the original is perfect":        {"4 4 4", "worse worse", 2, 0, PerfectBaseline, "b"},
		"a version is perfect":           {"2 2 0", "worse perfect worse", 3, 0, Perfect, "brk"},
		"reverts in a row":               {"2 2 0", "worse worse worse worse", 4, 3, Stuck, "brrr"},
		"a gain begins the count anew":   {"2 2 0", "worse better worse worse better", 5, 2, Stuck, "brkrr"},
		"as many reverts as there are":   {"2 2 0", "worse worse", 2, 2, Stuck, "brr"},
		"reverts never end it":           {"2 2 0", "worse worse worse worse", 4, 0, Exhausted, "brrrr"},
		"nothing was asked for":          {"2 2 0", "", 0, 1, Exhausted, "b"},
		"a gain after which none is one": {"2 2 0", "better better better", 3, 2, Stuck, "bkrr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, c.original)
			k.loop.Most, k.loop.Program.StopAfterReverts, k.loop.Improver = c.most, c.stopAfter, k.texts(c.texts)
			assert.Equal(t, c.ended, k.ran(c.actions))
			w := saved(t, k.Workspace)
			assert.Nil(t, w.Run, "it ended")
			assert.Equal(t, c.ended == Exhausted, w.Whole)
			if len(c.actions) > 1 {
				again := filepath.Join(t.TempDir(), "best")
				_, err := Restore(t.Context(), w.Version(w.Best), again)
				require.NoError(t, err)
				assert.Equal(t, digestOf(t, again), digestOf(t, w.Candidate()), "what was reverted is not left there")
			}
			if c.ended == PerfectBaseline || c.ended == Perfect {
				assert.Equal(t, c.ended, k.ran(c.actions), "there is nothing left to improve")
			}
		})
	}
}

func TestBrokenOffRunIsFinished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts     string // broken is where the first process ends, and worse in the second one
		most      int    // of the second command; the first has 4
		stopAfter int    // of the second command
		ended     Ended
		actions   string
	}{
		"the same command":            {"worse better broken worse worse worse", 4, 0, Exhausted, "brkrr"},
		"broken off at once":          {"broken worse worse worse worse worse", 4, 0, Exhausted, "brrrr"},
		"another number begins anew":  {"worse better broken worse worse worse", 3, 0, Exhausted, "brkrrr"},
		"reverts before it count":     {"better worse broken worse worse worse", 4, 2, Stuck, "bkrr"},
		"enough of them":              {"worse worse broken worse worse worse", 4, 2, Stuck, "brr"},
		"but not those before a gain": {"worse better broken worse worse worse", 4, 2, Stuck, "brkrr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, broken := newSkillLoop(t, "2 2 0"), errors.New("broken off")
			next := strings.Count(c.texts[:strings.Index(c.texts, "broken")], " ") + 1
			works := k.texts(strings.ReplaceAll(c.texts, "broken", "worse"))
			k.loop.Most = 4
			k.loop.Improver = &improver{do: func(n int, dir string) (agent.Reply, error) {
				if n < next {
					return works.do(n, dir)
				}
				testdir.Put(t, dir, paths{"half": "a change"})
				return agent.Reply{}, broken
			}}
			_, err := k.run()
			require.ErrorIs(t, err, broken)
			// what a process leaves that was killed between the version and its row
			_, err = TakeSnapshot(t.Context(), k.Workspace.Skill, k.Workspace.Version(next))
			require.NoError(t, err)
			testdir.Put(t, k.Workspace.Iteration(next), gradings("4"))

			k.loop.Most, k.loop.Program.StopAfterReverts, k.loop.Improver = c.most, c.stopAfter, works
			assert.Equal(t, c.ended, k.ran(c.actions))
			for _, row := range k.rows() {
				_, err := os.Lstat(k.Workspace.Version(row.Iteration))
				assert.Equal(t, row.Action != results.Reverted, err == nil, "v%d", row.Iteration)
			}
			assert.NoFileExists(t, filepath.Join(k.Workspace.Candidate(), "half"))
		})
	}
}

func TestUnmeasurableOriginal(t *testing.T) {
	t.Parallel()
	const cannot = "v0 cannot be measured: "
	for says, fails := range map[string]string{
		"2 2 0": "", "0 0 0": "", "- 0 -": "", // one case that was graded
		"- - -": cannot + "every case failed before", "fault: no server": cannot + "no server",
	} {
		k := newSkillLoop(t, says)
		k.loop.Most = 0
		_, err := k.run()
		if fails == "" {
			require.NoError(t, err, says)
			assert.Equal(t, "b", k.actions(), says)
			continue
		}
		require.ErrorContains(t, err, fails, says)
		assert.Empty(t, k.rows(), says)
	}
}

// TestAnotherExecutorMeasuresAnew: what one executor scored says nothing about what
// the next one does.
func TestAnotherExecutorMeasuresAnew(t *testing.T) {
	t.Parallel()
	type executor = history.Executor
	for name, c := range map[string]struct {
		was  *executor // of the workspace; nil is from before it was noted
		now  executor
		says string // the changelog of the new baseline, "" for none
	}{
		"the same":       {&executor{Agent: "a", Model: "m"}, executor{Agent: "a", Model: "m"}, ""},
		"none was noted": {nil, executor{Agent: "a"}, ""},
		"another agent":  {&executor{Agent: "a"}, executor{Agent: "b"}, "the executor changed"},
		"model and judge": {
			&executor{Agent: "a", Model: "m"}, executor{Agent: "a", Judge: "j"}, "the model, the judge changed",
		},
		"another's work":  {&executor{}, executor{Agent: "a"}, "who executed before is not known"},
		"another version": {&executor{Agent: "a"}, executor{Agent: "a", JudgeVersion: "2"}, ""}, // one is not known
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, "2 2 0")
			// anew, better scores less than the original did before
			k.says["better"], k.says["next"] = []string{"4 2 0", "1 1 0"}, []string{"2 1 0"}
			k.loop.Improver = k.texts("better next next")
			k.ran("bk")
			k.Workspace.Executor = c.was
			require.NoError(t, k.Workspace.Save())
			k.loop.Executor = c.now
			if c.says == "" {
				k.ran("bkr")
				assert.Equal(t, &c.now, saved(t, k.Workspace).Executor)
				return
			}
			k.ran("bkbk") // a gain is one over the new baseline
			assert.Equal(t, &c.now, saved(t, k.Workspace).Executor)
			row := k.rows()[2]
			assert.Equal(t, "v1 measured anew: "+c.says, row.Changelog)
			assert.Equal(t, "0.166666666667", row.Score.String())
			before, err := Verify(t.Context(), k.Workspace.Version(1))
			require.NoError(t, err)
			anew, err := Verify(t.Context(), k.Workspace.Version(2))
			require.NoError(t, err)
			assert.Equal(t, before.Tree, anew.Tree, "it is the same skill")
		})
	}
	k := newSkillLoop(t, "2 2 0")
	k.says["better"], k.loop.Improver = []string{"4 2 0", "- - -"}, k.texts("better")
	k.ran("bk")
	k.loop.Executor = executor{Agent: "another"}
	_, err := k.run()
	require.ErrorContains(t, err, "v1 cannot be measured: every case failed")
	assert.Equal(t, "bk", k.actions())
	assert.Equal(t, "nobody", saved(t, k.Workspace).Executor.Agent, "the next run measures anew too")
}

// TestTableIsRecord: a grading that was lost since makes no version worse.
func TestTableIsRecord(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 2 0")
	k.says["better"], k.says["next"] = []string{"4 4 0"}, []string{"4 2 0"}
	k.loop.Improver = k.texts("better next")
	k.ran("bk")
	require.NoError(t, os.Remove(filepath.Join(k.Workspace.Iteration(1), "eval-2", "grading.json")))
	k.ran("bkr")
	assert.Contains(t, k.rows()[2].Changelog, "is worse than the best 0.666666666667")
	require.NoError(t, os.RemoveAll(k.Workspace.Iteration(1)))
	_, err := k.run()
	require.ErrorContains(t, err, "v1 was graded is not there any more, so")
}

// TestAsGoodAsSeveralRuns: the middle of several runs, 0.6666666666665, is no less than a run of 2/3.
func TestAsGoodAsSeveralRuns(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "0 0 0")
	for range 20 {
		k.says["better"] = append(k.says["better"], "4 0 0", "4 4 4")
	}
	k.says["next"], k.loop.Program.Runs, k.loop.Improver = []string{"4 4 0"}, 8, k.texts("better next")
	k.ran("bk")
	k.loop.Program.Runs = 1
	k.ran("bkr")
	assert.Contains(t, k.rows()[2].Changelog, "0.666666666667 equals the best")
}

func TestAlteredBestVersionEndsRun(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 2 0")
	k.loop.Improver = k.texts("better")
	k.ran("bk")
	testdir.Put(t, writable(t, k.Workspace, 1), paths{"SKILL.md": front + "BETTER"})
	for most := range 2 { // also of a run that has nothing to do
		k.loop.Most = most
		_, err := k.run()
		require.ErrorContains(t, err, `"SKILL.md" is not what its manifest`)
		assert.Equal(t, "bk", k.actions())
	}
}

// TestSeveralRunsOfWhatIsNoisy has an original that scores one thing and then
// another: from then on pairs decide, in this process and in the next one.
func TestSeveralRunsOfWhatIsNoisy(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2} {
		k := newSkillLoop(t, "2 2 0", "2 3 0", "2 2 0", "3 2 0")
		k.says["better"], k.says["same"] = []string{"4 4 0", "4 3 0", "4 4 0", "4 4 1"}, []string{"4 4 4", "4 4 0"}
		k.loop.Program.Runs, k.loop.Most, k.loop.Improver = 0, most, k.texts("better same")
		if most == 1 {
			k.ran("bk")
		}
		k.ran("bkr")
		row := k.rows()[1]
		assert.Contains(t, row.Changelog, "this confirms, in new trees")
		var runs [3]Runs
		for n := 1; n < 3; n++ {
			data, err := os.ReadFile(filepath.Join(k.Workspace.Iteration(n), RunsFile))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &runs[n]))
		}
		counted := 0
		for _, run := range runs[1].Runs {
			assert.DirExists(t, filepath.Join(k.Workspace.Iteration(1), run.Dir))
			if run.Counts {
				counted++
				assert.Equal(t, "confirmation", run.Stage)
				assert.False(t, run.WarmUp)
			}
		}
		assert.Equal(t, 16, counted, "eight pairs")
		assert.Equal(t, "once candidate", runs[1].Runs[0].Stage+" "+runs[1].Runs[0].Side)
		assert.Equal(t, "pairs", runs[2].Runs[0].Stage, "nothing is decided by a single run any more")
		assert.Equal(t, 1, runs[2].Incumbent)

		dirs, err := VersionRuns(k.Workspace, 0, 2)
		require.NoError(t, err)
		assert.Len(t, dirs, 9, "its own, and those of the pairs with v1")
		v, _ := versionsOf(t, k.Workspace)
		r, _, err := v.Report(t.Context(), BestVersion)
		require.NoError(t, err)
		assert.Equal(t, 1, r.BestVersion)
		scored, err := v.Score(t.Context(), 1)
		require.NoError(t, err)
		assert.Len(t, scored.Runs, 8)
		assert.Equal(
			t,
			row.Score.String(),
			scored.Score.String(),
			"the score of a version is that by which it was kept",
		)
		assert.Equal(t, 32, scored.Cases[0].Total)
		assert.Contains(t, scored.String(), ", the median of 8 runs; passed and total are sums over them\n")
	}
}

func TestImproversInput(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 4 0")
	k.says["worse"], k.says["better"], k.says["next"] = []string{"1 1 1"}, []string{"4 4 1", "1 1 0"}, []string{"2 2 0"}
	told := k.texts("worse better better - next")
	k.loop.Most, k.loop.Improver = 2, told
	k.ran("brk")
	first, second := told.heard[0], told.heard[1]
	assert.Equal(t, []string{"SKILL.md"}, first.Targets)
	for name, target := range map[string]bool{
		"SKILL.md": true, "new/file": true, "evals-2": true, "x/evals/y": true,
		"evals": false, "evals/evals.json": false, "evals/new": false,
	} {
		assert.Equal(t, target, first.IsTarget(name), name)
	}
	assert.Equal(t, "0.5", first.Incumbent.String())
	assert.Equal(t, k.Workspace.Candidate(), first.Dir)
	for _, says := range []string{
		"case 1: 2 of 4", "failed: c (seen)", "case 3: 0 of 4", "passed whole, 1 of 3 cases: 2",
	} {
		assert.Contains(t, first.Prompt, says)
	}
	assert.NotContains(t, first.Prompt, "at the start", "nothing was before")
	assert.Contains(t, second.Prompt, "it is worse", "of an earlier attempt")
	assert.Contains(t, second.Prompt, "case 1: 2 of 4", "it goes on from the best, and hears what that failed")
	k.loop.Most = 1
	k.ran("brkr")
	assert.Contains(t, told.heard[2].Prompt, "It is 0.75 now and was 0.5 at the start")
	// anew, the best scores less than the original did for the executor before
	k.loop.Executor = history.Executor{Agent: "another"}
	k.ran("brkrbk")
	assert.Contains(t, told.heard[3].Prompt, "It is 0.166666666667 now.")
	assert.NotContains(t, told.heard[3].Prompt, "at the start", "what another executor scored is no start")
}
