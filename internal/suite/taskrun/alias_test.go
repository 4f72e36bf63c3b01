package taskrun_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/suite/taskrun"
)

// TestTaskFilesNameAgentsAsOthersDo asks for agents by their names here.
func TestTaskFilesNameAgentsAsOthersDo(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"claude-code": "claude", "claude_code": "claude", "Claude-Code": "claude", "claude": "claude",
		"openai-codex": "codex", "codex-cli": "codex",
		"github-copilot": "copilot", "copilot-cli": "copilot", "gemini-cli": "gemini", "cursor-agent": "cursor",
		"opencode": "opencode", "mine": "mine",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]object{"a": {"agent": said}})
			asked := ""
			_, err := w.compare(t.Context(), copyConfig, func(o *taskrun.Options) {
				o.Agents = func(name string) (agent.Agent, error) {
					asked = name
					return nil, errors.New("not here")
				}
			})
			require.ErrorContains(t, err, "a/task.json: not here")
			assert.Equal(t, want, asked)
		})
	}
}

func TestAnAgentOfTheRunOverridesTheTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"agent": "claude-code"}, "b": {}})
	found, err := w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Override = true })
	require.NoError(t, err)
	require.Len(t, found.Warnings, 1)
	assert.Contains(t, found.Warnings[0], "a/task.json names agent claude-code; command works on it, as this run says")
}
