package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// comment is the event of a comment on an issue.
func comment(issue int, author, association, body string) map[string]any {
	return map[string]any{
		"action": "created",
		"issue":  map[string]any{"number": issue, "labels": []any{map[string]any{"name": "autoloop-program"}}},
		"comment": map[string]any{
			"body": body, "author_association": association, "user": map[string]any{"login": author},
		},
	}
}

// finished is the event of a workflow of CI that came to its end.
func finished(repository, branch string) map[string]any {
	return map[string]any{
		"action": "completed",
		"workflow_run": map[string]any{
			"name": "CI", "conclusion": "success", "head_branch": branch, "head_repository": map[string]any{"full_name": repository},
		},
	}
}

func TestActHearsComments(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, split...)
	r.program(countdown)
	r.say("mallory", "/autoloop run")
	run := r.trigger("issue_comment", comment(1, "mallory", "NONE", "/autoloop run"))
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "a stranger starts no job")
	assert.Empty(t, r.seen())

	run = r.trigger("issue_comment", comment(1, "alice", "OWNER", "I think /autoloop run is a command"))
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "what is no command starts no job")

	r.say("alice", "/autoloop run")
	run = r.trigger("issue_comment", comment(1, "alice", "OWNER", "/autoloop run"))
	require.Zero(t, run.code, run)
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	assert.NotZero(t, r.openPull())

	r.say("alice", "/autoloop pause")
	run = r.trigger("issue_comment", comment(1, "alice", "OWNER", "/autoloop pause"))
	require.Zero(t, run.code, run)
	assert.Equal(t, map[string]string{"Autoloop/steer": "success"}, run.results(), "nobody asked for an iteration")
	assert.Contains(t, r.remembered("p.md"), "| Paused | true |")
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	r.Change(func(s *githubtest.State) { assert.Len(t, s.Reactions, 2) })
}

func TestActGoesOnWhenCIIsDone(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, split...)
	r.program(strings.Replace(countdown, "metric: m", "ci-gate: required\nci-wait: 1s\nmetric: m", 1))
	run := r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	assert.Contains(t, r.remembered("p.md"), "| Recent Statuses | pending-ci |")
	commit := head(t, r.bare, "autoloop/p")

	r.seen()
	run = r.trigger("workflow_run", finished("mallory/repo", "autoloop/p"))
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "CI of a fork starts nothing")
	run = r.trigger("workflow_run", finished("org/repo", "main"))
	require.Zero(t, run.code, run)
	assert.Empty(t, run.results(), "nor does CI of other branches")
	assert.Empty(t, r.seen())

	r.report("success")
	run = r.trigger("workflow_run", finished("org/repo", "autoloop/p"))
	require.Zero(t, run.code, run)
	assert.Contains(t, r.remembered("p.md"), "| Recent Statuses | accepted |")
	assert.Contains(t, r.remembered("p.md"), "| Best Metric | 9 |")
	assert.Equal(t, commit, head(t, r.bare, "autoloop/p"))
}
