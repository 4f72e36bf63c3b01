package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// agentConfigWorld has the example suite, an AGENTS.md, and a proposing agent
// that writes line N of `values` into it; the scripted executor works on tasks.
func agentConfigWorld(t *testing.T, front string, lines ...string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		".autoloop/programs/p.md": "---\nevaluation: tasks\ntasks: programs/agent-config/tasks\nplateau: off\n" +
			"isolation: off\n" + front +
			"agent: command\nagent-command: sed -n \"${AUTOLOOP_ITERATION}p\" \"$SIDE/lines\" > AGENTS.md\n" +
			"env: [SIDE]\n" +
			"executor-command: sh programs/agent-config/agent.sh\n---\n## Goal\nBetter instructions.\n## Target\n" +
			"`AGENTS.md`\n",
		"AGENTS.md": "Be careful.\n",
	})
	require.NoError(t, os.CopyFS(filepath.Join(w.dir, "programs"), os.DirFS("../programs")))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "examples")
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	w.aside("lines", text)
	return w
}

// TestASuiteIsNotRewrittenWhileItRuns: what works on the tasks finds the trees where
// nothing isolates it, and what it writes to the suite there rejects the candidate.
func TestASuiteIsNotRewrittenWhileItRuns(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, attack := range map[string]string{
		"the checks": `echo '{"id": "fix-slug", "checks": []}' > "$f"`,
		"put back":   `cp -p "$f" "$f.kept"; echo x > "$f"; cp -p "$f.kept" "$f"; rm "$f.kept"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentConfigWorld(t, "", "Keep a changelog. A fixed bug gets a test.")
			tmp := filepath.Join(filepath.Dir(w.side), "tmp")
			// The directory of the trees is closed to their owner too, who can open it.
			w.write("programs/agent-config/agent.sh", w.read("programs/agent-config/agent.sh")+
				"\nif grep -q changelog AGENTS.md; then chmod u+rx '"+tmp+"'/autoloop-run-*/w; find '"+tmp+
				"' -path '*/programs/agent-config/tasks/fix-slug/task.json' | while read -r f; do\nchmod u+w \"$f\"\n"+
				attack+
				"\ndone; fi\n")
			w.git("commit", "--quiet", "--all", "--message", "attack")
			got := w.one()
			assert.Equal(t, "rejected", got.Outcome, got.Reasons)
			assert.Contains(t, strings.Join(got.Reasons, "\n"),
				`changed the evaluator while it ran: "programs/agent-config/tasks/fix-slug/task.json"`)
		})
	}
}
