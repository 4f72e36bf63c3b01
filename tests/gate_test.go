package tests

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheGateTakesItsMeasureFromTheBase does what autoloop-gate.yml does: the
// base is checked out, and beside it the pull request, of which nothing counts
// but the configuration.
func TestTheGateTakesItsMeasureFromTheBase(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter})
	const program = ".autoloop/programs/agent-config.md"
	w.write("AGENTS.md", "after\n")
	w.write(program, "---\nevaluation: tasks\ntasks: suite\nagent: command\nagent-command: cat A*.md >out.txt\n"+
		"judge: off\ncost-tolerance: 1000\n---\n## Goal\nBetter.\n## Target\n- `AGENTS.md`\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "base")

	pull := filepath.Join(w.dir, "autoloop-candidate")
	w.run("", "git", "clone", "--quiet", w.dir, pull)
	at := &world{t: t, dir: pull, side: w.side, env: w.env}
	gate := func() answer {
		return w.binary("iterate", "eval", "suite", "--settings="+program, "--against=HEAD",
			"--candidate=autoloop-candidate")
	}
	at.write("AGENTS.md", "nothing of it\n")
	at.write("suite/one/task.json",
		`{"id": "one", "title": "One", "fixtureDir": "fixture", "prompt": "p", "checks": []}`)
	at.write(program, "---\nevaluation: tasks\ntasks: suite\nagent: command\nagent-command: 'true'\n"+
		"objective-drop-is-regression: false\nregression-composite-drop: 1\n---\n")
	a := gate()
	assert.Equal(t, 1, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout, "regressed")

	at.write("AGENTS.md", "after all\n")
	a = gate()
	require.Zero(t, a.code, a.stdout+a.stderr)
	assert.Contains(t, a.stdout, "neutral")
}
