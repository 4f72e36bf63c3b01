package tests

import (
	"testing"
)

// TestWrittenWorkflowsPassActionlint holds what init writes for a suite of tasks in a
// directory of its own; scripts hold what is in it.
func TestWrittenWorkflowsPassActionlint(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--simple=false", "--simple"} {
		w := newProject(t, map[string]string{
			"loops/suite.md": "---\nevaluation: tasks\ntasks: suite\n---\n## Goal\nx\n## Target\n- `AGENTS.md`\n",
		})
		w.ok("iterate", "--programs", "loops/", "init", "--yes", flag)
		w.actionlint()
	}
}
