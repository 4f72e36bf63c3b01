package tests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestActGatesPullRequests holds that a pull request is judged by the tasks of
// its base, whatever it makes of them.
func TestActGatesPullRequests(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{
		"AGENTS.md":                  "after\n",
		"suite/one/task.json":        `{"id": "one", "title": "One", "fixtureDir": "fixture", "prompt": "do it", "checks": [` + hasAfter + `]}`,
		"suite/one/fixture/file.txt": "fixture\n",
		".autoloop/programs/agent-config.md": "---\nevaluation: tasks\ntasks: suite\nagent: command\nagent-command: cat A*.md >out.txt\njudge: off\ncost-tolerance: 1000\n---\n" +
			"## Goal\nBetter.\n## Target\n- `AGENTS.md`\n",
	}, "autoloop-gate.yml")
	base := head(t, r.bare, "main")
	pull := func(repository string) map[string]any {
		return map[string]any{"action": "synchronize", "number": 7, "pull_request": map[string]any{
			"number": 7, "base": map[string]any{"sha": base, "ref": "main"},
			"head": map[string]any{"sha": r.git("rev-parse", "HEAD"), "ref": "pull", "repo": map[string]any{"full_name": repository}},
		}}
	}
	r.git("checkout", "--quiet", "-b", "pull")
	r.write("AGENTS.md", "nothing of it\n")
	r.write("suite/one/task.json", `{"id": "one", "title": "One", "fixtureDir": "fixture", "prompt": "do it", "checks": [`+hasFile+`]}`)
	r.git("commit", "--quiet", "--all", "--message", "worse, with an easier task")

	run := r.trigger("pull_request", pull("mallory/repo"))
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "a fork is not judged")

	run = r.trigger("pull_request", pull("org/repo"))
	assert.NotZero(t, run.code, run)
	assert.Contains(t, run.printed(), "regressed")
	assert.Empty(t, wrote(r.seen()))

	r.write("AGENTS.md", "after all\n")
	r.git("commit", "--quiet", "--all", "--message", "as good")
	run = r.trigger("pull_request", pull("org/repo"))
	require.Zero(t, run.code, run)
	assert.Contains(t, run.printed(), "neutral")
	assert.Equal(t, []string{"autoloop-gate-agent-config"}, r.uploads())
}
