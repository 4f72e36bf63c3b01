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

// tasksProject is a repository with a suite of these tasks, each an id and its
// checks as JSON, and two configurations: `before` is committed, and the
// checkout has `after`.
func tasksProject(t *testing.T, tasks map[string]string) *project {
	t.Helper()
	files := map[string]string{"AGENTS.md": "before\n", "README.md": "of no account\n"}
	for id, checks := range tasks {
		files["suite/"+id+"/task.json"] = `{"id": "` + id + `", "title": "Task ` + id +
			`", "fixtureDir": "fixture", "prompt": "do it", "checks": [` + checks + `]}`
		files["suite/"+id+"/fixture/file.txt"] = "fixture\n"
	}
	w := newProject(t, files)
	w.write("AGENTS.md", "after\n")
	return w
}

const (
	hasAfter   = `{"kind": "fileContains", "path": "out.txt", "substring": "after"}`
	hasFile    = `{"kind": "fileExists", "path": "file.txt"}`
	copyConfig = "cp AGENTS.md out.txt; echo copied"
)

// tasks compares the checkout with its commit, with a scripted agent.
func (w *project) tasks(script string, more ...string) answer {
	w.t.Helper()
	return w.binary("iterate", w.taskArgs(script, more...)...)
}

func (w *project) taskArgs(script string, more ...string) []string {
	// A busy machine must not decide: no time counts as another one.
	return append([]string{
		"eval", "suite", "--against", "HEAD", "--agent-command", script, "--judge", "off", "--settings",
		w.settings("cost-tolerance: 1000"),
	}, more...)
}

// left lists what a comparison left behind, besides the finished runs.
func (w *project) left() []string {
	w.t.Helper()
	root := filepath.Dir(w.side)
	temporary, err := filepath.Glob(filepath.Join(root, "tmp", "*"))
	require.NoError(w.t, err)
	staged, err := filepath.Glob(filepath.Join(root, "home", ".local/state/autoloop/tasks", "autoloop-run-*"))
	require.NoError(w.t, err)
	return append(temporary, staged...)
}

// TestTasksDoNotSeeTheirChecks has an agent look for the suite, for what is
// kept, and for the sandboxes of others.
func TestTasksDoNotSeeTheirChecks(t *testing.T) {
	t.Parallel()
	w := tasksProject(t, map[string]string{"one": `{"kind": "regexMatch", "path": "seen.txt", "pattern": "^end\n$"}`})
	w.unset("AUTOLOOP_ISOLATION")
	root := filepath.Dir(w.side)
	spy := `for dir in "` + w.dir + `/suite" "` + root + `/home/.local/state/autoloop" "$PWD/../.." "` + w.dir +
		`/.git"; do ls -A "$dir" 2>/dev/null | grep -e one -e task -e template -e config; done >seen.txt; echo end ` +
		`>>seen.txt`
	for _, runs := range []string{"1", "2"} { // the second time something is kept
		a := w.tasks(spy, "--settings", w.settings("cost-tolerance: 1000", "isolation: required"), "--json",
			"--runs", runs)
		if strings.Contains(a.stderr, "does not work on this machine") {
			long.Missing(w.t, "isolation")
		}
		require.Zero(t, a.code, a.stderr)
		assert.Contains(t, a.stdout, `"passed": 1`)
		assert.NotContains(t, a.stdout, `"passed": 0`)
	}
	open := w.tasks(spy, "--settings", w.settings("cost-tolerance: 1000", "isolation: off"), "--json")
	assert.Contains(t, open.stdout, `"passed": 0`, "without isolation it would be seen")
}

// agentConfigProject has the example suite, an AGENTS.md, and a proposing agent
// that writes line N of `values` into it; the scripted executor works on tasks.
func agentConfigProject(t *testing.T, front string, lines ...string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": "---\nevaluation: tasks\ntasks: programs/agent-config/tasks\nplateau: off\n" +
			"isolation: off\n" + front +
			"agent: command\nagent-command: sed -n \"${AUTOLOOP_ITERATION}p\" \"$SIDE/lines\" > AGENTS.md\n" +
			"env: [SIDE]\n" +
			"executor-command: sh programs/agent-config/agent.sh\n---\n## Goal\nBetter instructions.\n## Target\n" +
			"`AGENTS.md`\n",
		"AGENTS.md": "Be careful.\n",
	})
	require.NoError(t, os.CopyFS(filepath.Join(w.dir, "programs"), os.DirFS("../programs")))
	w.commit("examples")
	text := ""
	for _, line := range lines {
		text += line + "\n"
	}
	w.aside("lines", text)
	return w
}

// TestRunningSuiteIsNotRewritten: what works on the tasks finds the trees where
// nothing isolates it, and what it writes to the suite there rejects the candidate.
func TestRunningSuiteIsNotRewritten(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	for name, attack := range map[string]string{
		"the checks": `echo '{"id": "fix-slug", "checks": []}' > "$f"`,
		"put back":   `cp -p "$f" "$f.kept"; echo x > "$f"; cp -p "$f.kept" "$f"; rm "$f.kept"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentConfigProject(t, "", "Keep a changelog. A fixed bug gets a test.")
			tmp := filepath.Join(filepath.Dir(w.side), "tmp")
			// The directory of the trees is closed to their owner too, who can open it.
			w.write("programs/agent-config/agent.sh", w.read("programs/agent-config/agent.sh")+
				"\nif grep -q changelog AGENTS.md; then chmod u+rx '"+tmp+"'/autoloop-run-*/w; find '"+tmp+
				"' -path '*/programs/agent-config/tasks/fix-slug/task.json' | while read -r f; do\nchmod u+w \"$f\"\n"+
				attack+
				"\ndone; fi\n")
			w.commit("attack")
			got := w.one()
			assert.Equal(t, "rejected", got.Outcome, got.Reasons)
			assert.Contains(t, got.why(),
				"changed the evaluator while it ran:")
		})
	}
}
