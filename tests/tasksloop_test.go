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

func TestTaskSuiteInTheLoop(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := agentConfigWorld(t, "", "Nothing of use.", "Keep a changelog. A fixed bug gets a test.", "Keep a changelog.",
		"Keep a changelog. A fixed bug gets a test. Old settings are deprecated.")
	got := w.iterate("-n", "4")
	require.Len(t, got, 4)
	assert.Equal(t, "rejected", got[0].Outcome)
	assert.Equal(t, "neutral", *got[0].Verdict, got[0].Reasons)
	assert.Equal(t, "accepted", got[1].Outcome, got[1].Reasons)
	assert.Equal(t, "rejected", got[2].Outcome)
	assert.Equal(t, "regressed", *got[2].Verdict, got[2].Reasons)
	assert.Equal(t, "accepted", got[3].Outcome, got[3].Reasons)
	assert.Equal(t, "1", text(got[3].Best), "every check of every task passes")
	assert.Contains(t, w.git("show", "autoloop/p:AGENTS.md"), "deprecated")
	assert.Contains(t, w.memory("p.md"), "| Metric Direction | higher |")
	a := w.binary("iterate", "replay", "p")
	assert.Zero(t, a.code, a.stdout)
}

// TestTheExecutorIsTheCheckouts holds which files a command means that works on
// tasks: its own are those of the checkout, wherever that is, and those of the
// configuration are the sandbox's, of either side.
func TestTheExecutorIsTheCheckouts(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := agentConfigWorld(t, "", "Nothing of use.", "Keep a changelog. A fixed bug gets a test.")
	w.write("programs/agent-config/run.sh", "case $1 in /*) exit 3 ;; esac\nexec sh \"$2\"\n")
	program := w.read(".autoloop/programs/p.md")
	w.write(".autoloop/programs/p.md", strings.Replace(program, "sh programs/agent-config/agent.sh",
		`sh programs/agent-config/run.sh AGENTS.md "programs/agent-config/agent.sh"`, 1))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "an executor with arguments")
	moved := filepath.Join(filepath.Dir(w.dir), "my repo's $HOME")
	require.NoError(t, os.Rename(w.dir, moved))
	w.dir = moved
	got := w.iterate("-n", "2")
	require.Len(t, got, 2)
	assert.Equal(t, "rejected", got[0].Outcome)
	assert.NotEqual(t, "0", text(got[0].Best), "the executor works")
	assert.Equal(t, "accepted", got[1].Outcome, got[1].Reasons)
}

// TestCandidatesDoNotChangeTheExecutor holds that who works on the tasks is part
// of the measure.
func TestCandidatesDoNotChangeTheExecutor(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := agentConfigWorld(t, "", "")
	program := strings.Replace(w.read(".autoloop/programs/p.md"), "`AGENTS.md`",
		"`AGENTS.md`, `programs/agent-config/*.sh`", 1)
	w.write(".autoloop/programs/p.md",
		strings.Replace(program, "sed -n", "echo '# easier' >> programs/agent-config/agent.sh && sed -n", 1))
	w.git("commit", "--quiet", "--all", "--message", "a wide target")
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome, got.Reasons)
	assert.Contains(t, got.Reasons[0], "programs/agent-config/agent.sh")
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
