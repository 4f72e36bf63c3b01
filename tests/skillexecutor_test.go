package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
