package tests

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/tests/long"
)

// TestProgramsMeasureAnewForAnotherExecutor exchanges the script that works on the
// cases, or the tasks, of a scheduled program between two iterations.
func TestProgramsMeasureAnewForAnotherExecutor(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	worlds := map[string]func(*testing.T) (w *world, weak, strong string){
		"a skill": func(t *testing.T) (*world, string, string) {
			t.Helper()
			w := skillWorld(t, "", `echo "nothing $AUTOLOOP_ITERATION" >> s/SKILL.md`)
			w.write(".autoloop/programs/p.md",
				strings.Replace(w.read(".autoloop/programs/p.md"), `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md`,
					"sh "+w.side+"/executor", 1))
			return w, "echo alpha > outputs/out.md", "echo alpha beta > outputs/out.md"
		},
		"tasks": func(t *testing.T) (*world, string, string) {
			t.Helper()
			w := agentConfigWorld(t, "", "Nothing of use.", "Nothing either.")
			example := w.read("programs/agent-config/agent.sh")
			w.write(".autoloop/programs/p.md",
				strings.Replace(w.read(".autoloop/programs/p.md"), "sh programs/agent-config/agent.sh",
					"sh "+w.side+"/executor", 1))
			return w, "cat > /dev/null; echo lazy",
				"echo Keep a changelog. A fixed bug gets a test. Old settings are deprecated. >> AGENTS.md\n" + example
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
			assert.Equal(t, "rejected", got.Outcome, "a no-op is no gain because somebody else executes it: %v",
				got.Reasons)
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
	long.Only(t, long.Kills)
	t.Parallel()
	w := skillWorld(t, "", `case $AUTOLOOP_ITERATION in 1) echo beta >> SKILL.md;; 3) test -e "$SIDE/again" || { `+
		`touch "$SIDE/again" "$SIDE/third"; sleep 600; };; esac; echo "$AUTOLOOP_ITERATION" >> SKILL.md; echo "step `+
		`$AUTOLOOP_ITERATION"`)
	args := []string{
		"skill", "s", "--judge", "off", "--settings", w.settings("stop-after-reverts: off"), "--agent-command",
		`sh "$SIDE/improve"`,
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
		require.Eventually(t, func() bool { _, err := os.Stat(w.side + "/third"); return err == nil }, 5*time.Minute,
			10*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		if signal == os.Interrupt {
			assert.Contains(t, said.String(),
				"interrupted: iterations 0 to 2 and v1, the best, are kept in "+w.dir+"/"+ws+
					"; the same command goes on from there\n")
		}
		a := w.binary("iterate", args...)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, "s: going on from v1, iteration 3; it finishes the run that was interrupted, 2 "+
			"of 4 are left\n", name)
		assert.Contains(t, a.stderr, "iteration 3: the improver works\n")
		assert.Contains(t, a.stderr, "iteration 3: 2 of 2 cases: ", name)
		assert.Equal(t, 6, strings.Count(w.read(ws+"/results.tsv"), "\n"),
			"%s: the header, the baseline, and four", name)
		a = w.binary("iterate", args...)
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, "s: going on from v1, iteration 5\n", "a run that ended is not finished again")
	}
}
