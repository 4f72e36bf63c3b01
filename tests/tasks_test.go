package tests

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tasksWorld is a repository with a suite of these tasks, each an id and its
// checks as JSON, and two configurations: `before` is committed, and the
// checkout has `after`.
func tasksWorld(t *testing.T, tasks map[string]string) *world {
	t.Helper()
	files := map[string]string{"AGENTS.md": "before\n", "README.md": "of no account\n"}
	for id, checks := range tasks {
		files["suite/"+id+"/task.json"] = `{"id": "` + id + `", "title": "Task ` + id +
			`", "fixtureDir": "fixture", "prompt": "do it", "checks": [` + checks + `]}`
		files["suite/"+id+"/fixture/file.txt"] = "fixture\n"
	}
	w := newWorld(t, files)
	w.write("AGENTS.md", "after\n")
	return w
}

const (
	hasAfter   = `{"kind": "fileContains", "path": "out.txt", "substring": "after"}`
	hasFile    = `{"kind": "fileExists", "path": "file.txt"}`
	copyConfig = "cp AGENTS.md out.txt; echo copied"
)

// tasks compares the checkout with its commit, with a scripted agent.
func (w *world) tasks(script string, more ...string) answer {
	w.t.Helper()
	return w.binary("iterate", w.taskArgs(script, more...)...)
}

func (w *world) taskArgs(script string, more ...string) []string {
	// A busy machine must not decide: no time counts as another one.
	return append([]string{
		"eval", "suite", "--against", "HEAD", "--agent-command", script, "--judge", "off", "--settings",
		w.settings("cost-tolerance: 1000"),
	}, more...)
}

// left lists what a comparison left behind, besides the finished runs.
func (w *world) left() []string {
	w.t.Helper()
	root := filepath.Dir(w.side)
	temporary, err := filepath.Glob(filepath.Join(root, "tmp", "*"))
	require.NoError(w.t, err)
	staged, err := filepath.Glob(filepath.Join(root, "home", ".cache", "autoloop", "tasks", "autoloop-run-*"))
	require.NoError(w.t, err)
	return append(temporary, staged...)
}
