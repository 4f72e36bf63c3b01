package tests

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/files"
)

// TestAnotherExecutorIsNoGain has a weak executor measure the original, and a
// strong one every later version: what the improver changes is worth nothing.
func TestAnotherExecutorIsNoGain(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo nothing >> SKILL.md; echo "no-op $AUTOLOOP_ITERATION"`)
	weak := []string{"--executor-command", `head -n 1 "$AUTOLOOP_SKILL/SKILL.md" > outputs/out.md; echo alpha >> outputs/out.md`}
	strong := []string{"--executor-command", `echo alpha beta gamma > outputs/out.md`}
	a := w.skill(append(weak, "-n", "1")...)
	require.Zero(t, a.code, a.stderr)
	require.Contains(t, a.stdout, "iteration 0: baseline, 0.5")

	a = w.skill(append(strong, "-n", "2")...)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "s: going on from v0, iteration 2\n")
	assert.Contains(t, a.stdout, "iteration 2: baseline, 0.8333: v0 measured anew: its command")
	assert.NotContains(t, a.stdout, ": kept,", "a no-op is no gain because somebody else executes it")
	assert.Equal(t, w.read(ws+"/v0/SKILL.md"), w.read(ws+"/v2/SKILL.md"))

	a = w.skill(append(strong, "-n", "1", "--yes")...)
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "measured anew", "the same executor goes on")
	assert.Equal(t, "---\nname: s\n---\nalpha\n", w.read("s/SKILL.md"))
}

// TestAnotherVersionOfTheJudgeIsNoGain installs another version of the agent that
// grades, while the executor stays.
func TestAnotherVersionOfTheJudgeIsNoGain(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo nothing >> SKILL.md`)
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "p", "expectations": ["an owner"]}]`)
	w.withClaude()
	args := []string{"skill", "s", "-n", "1", "--judge", "cli", "--agent-command", `sh "$SIDE/improve"`, "--settings", w.settings(), "--executor-command", `echo a > outputs/out.md`}
	require.Zero(t, w.binary("iterate", args...).code)
	a := w.binary("iterate", args...)
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "measured anew")
	claude := w.side + "/bin/claude"
	text, err := os.ReadFile(claude)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(claude, []byte(strings.Replace(string(text), "2.1.197", "2.1.198", 1)), 0o755)) //nolint:gosec // it is run
	a = w.binary("iterate", args...)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "v0 measured anew: the judge's version changed")
}

func TestSkillBaselineOfAnExecutorThatCannotRun(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; touch "$SIDE/improved"`)
	for command, says := range map[string]string{"no-such-executor": "nothing was decided by it", "exit 3": "every case failed before it could be graded"} {
		a := w.skill("-n", "1", "--executor-command", command)
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, says)
		assert.NoFileExists(t, w.side+"/improved", "no iteration is run")
	}
	a := w.skill("-n", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "iteration 0: baseline, 0.5", "the next run begins with the baseline")
}

// TestSkillRunGoesOnInAWorkspaceOfOthers measures anew what somebody else's
// executor came to.
func TestSkillRunGoesOnInAWorkspaceOfOthers(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	w.run("", "cp", "-a", w.dir+"/s", w.dir+"/v0")
	w.write(ws+"/candidate/SKILL.md", "half\n")
	w.run("", "mv", w.dir+"/v0", w.dir+"/"+ws+"/v0")
	w.write(ws+"/results.tsv", "iteration\ttimestamp\tscore\tbest_score\taction\tchangelog\n0\t2023-11-14T22:13:20\t0.9\t0.9\tbaseline\tInitial evaluation\n")
	w.write(ws+"/iteration-0/eval-1/grading.json", `{"expectations": [{"text": "file_contains out.md \"alpha\"", "passed": true}]}`)
	w.write(ws+"/iteration-0/eval-2/grading.json", `{"expectations": []}`)
	a := w.skill("-n", "1")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stderr, "was made by another program")
	assert.Contains(t, a.stdout, "iteration 1: baseline, 0.5: v0 measured anew: who executed before is not known")
	assert.Contains(t, a.stdout, "iteration 2: kept, 0.6667: say beta")
}

// TestProgramsMeasureAnewForAnotherExecutor exchanges the script that works on the
// cases, or the tasks, of a scheduled program between two iterations.
func TestProgramsMeasureAnewForAnotherExecutor(t *testing.T) {
	t.Parallel()
	worlds := map[string]func(*testing.T) (w *world, weak, strong string){
		"a skill": func(t *testing.T) (*world, string, string) {
			t.Helper()
			w := skillWorld(t, "", `echo "nothing $AUTOLOOP_ITERATION" >> s/SKILL.md`)
			w.write(".autoloop/programs/p.md", strings.Replace(w.read(".autoloop/programs/p.md"), `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`, "sh "+w.side+"/executor", 1))
			return w, "echo alpha > outputs/out.md", "echo alpha beta > outputs/out.md"
		},
		"tasks": func(t *testing.T) (*world, string, string) {
			t.Helper()
			w := agentConfigWorld(t, "", "Nothing of use.", "Nothing either.")
			example := w.read("programs/agent-config/agent.sh")
			w.write(".autoloop/programs/p.md", strings.Replace(w.read(".autoloop/programs/p.md"), "sh programs/agent-config/agent.sh", "sh "+w.side+"/executor", 1))
			return w, "cat > /dev/null; echo lazy", "echo Keep a changelog. A fixed bug gets a test. Old settings are deprecated. >> AGENTS.md\n" + example
		},
	}
	for name, world := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, weak, strong := world(t)
			w.git("commit", "--quiet", "--all", "--message", "an executor of one's own")
			w.aside("executor", weak+"\n")
			require.Equal(t, "rejected", w.one().Outcome)
			w.aside("executor", strong+"\n")
			got := w.one()
			assert.Equal(t, "rejected", got.Outcome, "a no-op is no gain because somebody else executes it: %v", got.Reasons)
			assert.Equal(t, 2, strings.Count(w.memory("p.results.tsv"), "\tbaseline\t"))
			assert.Contains(t, w.memory("p.results.tsv"), "what its command names changed")
			w.one()
			assert.Equal(t, 2, strings.Count(w.memory("p.results.tsv"), "\tbaseline\t"), "the same executor goes on")
			a := w.binary("iterate", "replay", "p")
			assert.Zero(t, a.code, a.stdout)
		})
	}
}

// TestSkillRunThatWasKilledIsFinished kills a run of four in its third iteration:
// the same command runs the two that are left.
func TestSkillRunThatWasKilledIsFinished(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `case $AUTOLOOP_ITERATION in 1) echo beta >> SKILL.md;; 3) test -e "$SIDE/again" || { touch "$SIDE/again" "$SIDE/third"; sleep 600; };; esac; echo "$AUTOLOOP_ITERATION" >> SKILL.md; echo "step $AUTOLOOP_ITERATION"`)
	args := []string{
		"skill", "s", "--judge", "off", "--settings", w.settings("stop-after-reverts: off"), "--agent-command", `sh "$SIDE/improve"`,
		"--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`, "-n", "4",
	}
	for name, signal := range map[string]os.Signal{"interrupted": os.Interrupt, "killed": os.Kill} {
		require.NoError(t, files.RemoveAll(w.dir+"/"+ws))
		for _, mark := range []string{"again", "third"} {
			_ = os.Remove(w.side + "/" + mark)
		}
		cmd := w.command("iterate", args...)
		var said strings.Builder
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { _, err := os.Stat(w.side + "/third"); return err == nil }, 5*time.Minute, 10*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		if signal == os.Interrupt {
			assert.Contains(t, said.String(), "interrupted: iterations 0 to 2 and v1, the best, are kept in "+w.dir+"/"+ws+"; the same command goes on from there\n")
		}
		a := w.binary("iterate", args...)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, "s: going on from v1, iteration 3; it finishes the run that was interrupted, 2 of 4 are left\n", name)
		assert.Contains(t, a.stderr, "iteration 3: the improver works\n")
		assert.Contains(t, a.stderr, "iteration 3: 2 of 2 cases: ", name)
		assert.Equal(t, 6, strings.Count(w.read(ws+"/results.tsv"), "\n"), "%s: the header, the baseline, and four", name)
		a = w.binary("iterate", args...)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, "s: going on from v1, iteration 5\n", "a run that ended is not finished again")
	}
}

// TestSkillGraderThatDoesNotAnswer refuses the login in the first iteration: that is
// no mistake of whoever ran the command, nothing is decided, and the same command
// goes on once the grader answers.
func TestSkillGraderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := skillWorld(t, "", `echo beta >> SKILL.md; echo "say beta"`)
	w.write("s/evals/evals.json", `[{"id": 1, "prompt": "p", "expectations": ["it says beta"]}]`)
	var asked, refused atomic.Int32
	grader := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		if asked.Add(1) == 2 {
			refused.Add(1)
			return modeltest.Fail(401, "no such key")
		}
		return modeltest.Text(fmt.Sprintf(`{"expectations": [{"number": 1, "passed": %v, "evidence": "read"}]}`, asked.Load() > 2))
	})
	w.env = append(w.env, "ANTHROPIC_API_KEY="+theKey, "ANTHROPIC_BASE_URL="+grader.URL)
	args := []string{
		"skill", "s", "-n", "2", "--judge", "api", "--agent-command", `sh "$SIDE/improve"`, "--settings", w.settings("isolation: off"),
		"--executor-command", `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
	}
	a := w.binary("iterate", args...)
	assert.Equal(t, 1, a.code, a.stderr)
	require.EqualValues(t, 1, refused.Load())
	assert.Contains(t, a.stderr, "broken off: iterations 0 to 0 and v0, the best, are kept in "+w.dir+"/"+ws+"; the same command goes on from there\n")
	assert.Contains(t, a.stderr, "case 1 cannot be graded: ")
	assert.Contains(t, a.stderr, "; nothing was decided by it: run the same command again when it answers, or choose another one\n")
	assert.NotContains(t, a.stdout, "iteration 1")

	a = w.binary("iterate", args...)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "s: going on from v0, iteration 1; it finishes the run that was interrupted, 2 of 2 are left\n")
	assert.Contains(t, a.stdout, "iteration 1: kept, 1: say beta")
}
