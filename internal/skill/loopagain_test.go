package skill_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// reopened is the workspace as another process finds it.
func (k *skillLoop) reopened() {
	k.t.Helper()
	w, err := workspace.OpenWorkspace(k.Workspace.Dir)
	require.NoError(k.t, err)
	k.Workspace, k.loop.Workspace = w, w
}

func TestBrokenOffRunIsFinished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts     string // broken is where the first process ends
		most      int    // of the second command; the first has 4
		stopAfter int
		ended     skill.Ended
		actions   string
	}{
		"the same command":            {"worse better broken worse worse worse", 4, 0, skill.Exhausted, "brkrr"},
		"broken off at once":          {"broken worse worse worse worse worse", 4, 0, skill.Exhausted, "brrrr"},
		"another number begins anew":  {"worse better broken worse worse worse", 3, 0, skill.Exhausted, "brkrrr"},
		"reverts before it count":     {"better worse broken worse worse worse", 4, 2, skill.Stuck, "bkrr"},
		"but not those before a gain": {"worse better broken worse worse worse", 4, 2, skill.Stuck, "brkrr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, "2 2 0")
			k.says["worse"], k.says["better"] = []string{"1 1 0"}, []string{"4 2 0"}
			texts, broken := strings.Fields(c.texts), errors.New("broken off")
			k.loop.Most, k.loop.StopAfter = 4, c.stopAfter
			first := true
			k.loop.Improver = improver(func(n int, dir string) (agent.Reply, error) {
				if text := texts[n-1]; text != "broken" {
					return k.texts(texts...)(n, dir)
				}
				if first {
					k.write(dir, "half", "a change")
					return agent.Reply{}, broken
				}
				return k.texts(strings.Fields(strings.ReplaceAll(c.texts, "broken", "worse"))...)(n, dir)
			})
			_, err := k.run()
			require.ErrorIs(t, err, broken)
			// what a process leaves that was killed between the version and its row
			next := strings.Count(c.texts[:strings.Index(c.texts, "broken")], " ") + 1
			_, err = workspace.Take(t.Context(), k.dir, k.Workspace.Version(next))
			require.NoError(t, err)
			k.write(k.Workspace.Iteration(next), "eval-1/grading.json", gradingOf("4"))

			first, k.loop.Most = false, c.most
			k.reopened()
			ended, err := k.run()
			require.NoError(t, err)
			assert.Equal(t, c.ended, ended)
			assert.Equal(t, c.actions, k.actions())
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
	for name, c := range map[string]struct{ says, fails string }{
		"every case":               {"2 2 0", ""},
		"nothing passes":           {"0 0 0", ""},
		"one case that was graded": {"- 0 -", ""},
		"no case that was graded": {
			"- - -",
			"the original cannot be measured: every case failed before it could be graded (1: there is no " +
				"eval-1/grading.json)",
		},
		"none that can be measured": {
			"fault: its server does not start",
			"the original cannot be measured: its server does not start",
		},
	} {
		k := newSkillLoop(t, c.says)
		k.loop.Most = 0
		_, err := k.run()
		if c.fails == "" {
			require.NoError(t, err, name)
			assert.Equal(t, "b", k.actions(), name)
			continue
		}
		require.EqualError(t, err, c.fails, name)
		assert.Empty(t, k.rows(), name)
	}
}

// TestAnotherExecutorMeasuresAnew: what one executor scored says nothing about what
// the next one does.
func TestAnotherExecutorMeasuresAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was  *history.Executor // of the workspace; nil is from before it was noted
		now  history.Executor
		says string // the changelog of the new baseline, "" for none
	}{
		"the same":       {&history.Executor{Agent: "a", Model: "m"}, history.Executor{Agent: "a", Model: "m"}, ""},
		"none was noted": {nil, history.Executor{Agent: "a"}, ""},
		"another agent": {
			&history.Executor{Agent: "a"},
			history.Executor{Agent: "b"},
			"v1 measured anew: the executor changed",
		},
		"model and judge": {
			&history.Executor{Agent: "a", Model: "m"},
			history.Executor{Agent: "a", Judge: "j"},
			"v1 measured anew: the model, the judge changed",
		},
		"another's work": {
			&history.Executor{},
			history.Executor{Agent: "a"},
			"v1 measured anew: who executed before is not known",
		},
		"an unknown version": {
			&history.Executor{Agent: "a", JudgeVersion: ""},
			history.Executor{Agent: "a", JudgeVersion: "2"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, "2 2 0")
			// anew, better scores less than the original did before
			k.says["better"], k.says["next"] = []string{"4 2 0", "1 1 0"}, []string{"2 1 0"}
			k.loop.Improver = k.texts("better", "next", "next")
			_, err := k.run()
			require.NoError(t, err)
			k.Workspace.Executor = c.was
			require.NoError(t, k.Workspace.Save())
			k.reopened()
			k.loop.Executor = c.now
			_, err = k.run()
			require.NoError(t, err)
			saved, err := workspace.OpenWorkspace(k.Workspace.Dir)
			require.NoError(t, err)
			assert.Equal(t, &c.now, saved.Executor)
			if c.says == "" {
				assert.Equal(t, "bkr", k.actions())
				return
			}
			require.Equal(t, "bkbk", k.actions(), "a gain is one over the new baseline")
			row := k.rows()[2]
			assert.Equal(t, c.says, row.Changelog)
			assert.Equal(t, "0.166666666667", row.Score.String())
			before, err := workspace.Verify(t.Context(), k.Workspace.Version(1))
			require.NoError(t, err)
			anew, err := workspace.Verify(t.Context(), k.Workspace.Version(2))
			require.NoError(t, err)
			assert.Equal(t, before, anew, "it is the same skill")
		})
	}
}

func TestUnmeasurableBestVersion(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 2 0")
	k.says["better"] = []string{"4 2 0", "- - -"}
	k.loop.Improver = k.texts("better")
	_, err := k.run()
	require.NoError(t, err)
	k.reopened()
	k.loop.Executor = history.Executor{Agent: "another"}
	_, err = k.run()
	require.ErrorContains(t, err, "cannot be measured: every case failed")
	assert.Equal(t, "bk", k.actions())
	saved, err := workspace.OpenWorkspace(k.Workspace.Dir)
	require.NoError(t, err)
	assert.Equal(t, "nobody", saved.Executor.Agent, "the next run measures anew too")
}

// TestTableIsRecord: a grading that was lost since makes no version worse.
func TestTableIsRecord(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 2 0")
	k.says["better"], k.says["next"] = []string{"4 4 0"}, []string{"4 2 0"}
	k.loop.Improver = k.texts("better", "next")
	_, err := k.run()
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(k.Workspace.Iteration(1), "eval-2", "grading.json")))
	k.reopened()
	_, err = k.run()
	require.NoError(t, err)
	assert.Equal(t, "bkr", k.actions())
	assert.Contains(t, k.rows()[2].Changelog, "is worse than the best 0.666666666667")

	require.NoError(t, os.RemoveAll(k.Workspace.Iteration(1)))
	k.reopened()
	_, err = k.run()
	require.ErrorContains(t, err, "v1 was graded is not there any more, so")
}

func TestAlteredBestVersionEndsRun(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 2 0")
	k.says["better"] = []string{"4 2 0"}
	k.loop.Improver = k.texts("better")
	_, err := k.run()
	require.NoError(t, err)
	file := filepath.Join(k.Workspace.Version(1), "SKILL.md")
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.WriteFile(file, []byte(front+"BETTER"), 0o600))
	for most := range 2 { // also of a run that has nothing to do
		k.reopened()
		k.loop.Most = most
		_, err = k.run()
		require.ErrorContains(t, err, `"SKILL.md" is not what its manifest`)
		assert.Equal(t, "bk", k.actions())
	}
}

// runsOf are the runs of an iteration by side and stage, those that count with a
// plus, and what they scored.
func (k *skillLoop) runsOf(n int) (runs []string, list skill.Runs) {
	k.t.Helper()
	data, err := os.ReadFile(filepath.Join(k.Workspace.Iteration(n), skill.RunsFile))
	require.NoError(k.t, err)
	require.NoError(k.t, json.Unmarshal(data, &list))
	for _, run := range list.Runs {
		text := fmt.Sprintf("%s %s", run.Stage, run.Side)
		if run.Counts {
			text += " +"
		}
		runs = append(runs, text)
		assert.DirExists(k.t, filepath.Join(k.Workspace.Iteration(n), run.Dir))
		assert.False(k.t, run.Counts && run.WarmUp)
	}
	return runs, list
}

// TestSeveralRunsOfWhatIsNoisy has an original that scores one thing and then
// another: from then on pairs decide, in this process and in the next one.
func TestSeveralRunsOfWhatIsNoisy(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d a process", most), func(t *testing.T) {
			t.Parallel()
			noisy(t, most)
		})
	}
}

func noisy(t *testing.T, most int) {
	t.Helper()
	k := newSkillLoop(t, "2 2 0", "2 3 0", "2 2 0", "3 2 0")
	k.says["better"], k.says["same"] = []string{"4 4 0", "4 3 0", "4 4 0", "4 4 1"}, []string{"4 4 4", "4 4 0"}
	k.loop.Runs, k.loop.Most, k.loop.Improver = 0, most, k.texts("better", "same")
	_, err := k.run()
	require.NoError(t, err)
	if most == 1 {
		require.Equal(t, "bk", k.actions(), "%v", k.rows())
		k.reopened()
		_, err := k.run()
		require.NoError(t, err)
	}
	require.Equal(t, "bkr", k.actions())
	row := k.rows()[1]
	assert.Contains(t, row.Changelog, "this confirms, in new trees")
	runs, list := k.runsOf(1)
	assert.Equal(t, "once candidate", runs[0])
	counted := 0
	for i, run := range list.Runs {
		if run.Counts {
			counted++
			assert.Equal(t, "confirmation", run.Stage, "run %d", i)
		}
	}
	assert.Equal(t, 16, counted, "eight pairs")
	runs, list = k.runsOf(2)
	assert.True(t, strings.HasPrefix(runs[0], "pairs "), "nothing is decided by a single run any more: %s", runs)
	assert.Equal(t, 1, list.Incumbent)

	r, _, err := k.versions().Report(t.Context(), skill.BestVersion)
	require.NoError(t, err)
	assert.Equal(t, 1, r.BestVersion)
	scored, err := k.versions().Score(t.Context(), 1)
	require.NoError(t, err)
	assert.Len(t, scored.Runs, 8)
	assert.Equal(t, row.Score.String(), scored.Score.String(), "the score of a version is that by which it was kept")
	assert.Equal(t, 32, scored.Cases[0].Total)
	assert.Contains(t, scored.String(), ", the median of 8 runs; passed and total are sums over them\n")
}
