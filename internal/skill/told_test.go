package skill_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
)

// listener is an improver that keeps what it is told.
type listener struct {
	improver

	heard []agent.Request
}

func (l *listener) Propose(ctx context.Context, r agent.Request) (agent.Reply, error) {
	l.heard = append(l.heard, r)
	return l.improver.Propose(ctx, r)
}

func TestImproversInput(t *testing.T) {
	t.Parallel()
	k := newSkillLoop(t, "2 4 0")
	k.says["worse"], k.says["better"] = []string{"1 1 1"}, []string{"4 4 1", "1 1 0"}
	k.says["next"] = []string{"2 2 0"}
	told := &listener{improver: k.texts("worse", "better", "better", "", "next")}
	k.loop.Most, k.loop.Improver = 2, told
	_, err := k.run()
	require.NoError(t, err)
	first, second := told.heard[0], told.heard[1]
	assert.Equal(t, []string{"SKILL.md"}, first.Targets)
	for name, target := range map[string]bool{
		"SKILL.md": true, "new/file": true, "evals": false,
		"evals/evals.json": false, "evals/new": false, "evals-2": true, "x/evals/y": true,
	} {
		assert.Equal(t, target, first.IsTarget(name), name)
	}
	assert.Equal(t, "0.5", first.Incumbent.String())
	assert.Equal(t, k.Workspace.Candidate(), first.Dir)
	for _, says := range []string{
		"case 1: 2 of 4", "failed: c (seen)", "case 3: 0 of 4",
		"passed whole, 1 of 3 cases: 2",
	} {
		assert.Contains(t, first.Prompt, says)
	}
	assert.NotContains(t, first.Prompt, "at the start", "nothing was before")
	assert.Contains(t, second.Prompt, "it is worse", "of an earlier attempt")
	assert.Contains(t, second.Prompt, "case 1: 2 of 4", "it goes on from the best, and hears what that failed")

	k.reopened()
	k.loop.Most = 1
	_, err = k.run()
	require.NoError(t, err)
	assert.Contains(t, told.heard[2].Prompt, "It is 0.75 now and was 0.5 at the start")

	// anew, the best scores less than the original did for the executor before
	k.reopened()
	k.loop.Executor = history.Executor{Agent: "another"}
	_, err = k.run()
	require.NoError(t, err)
	require.Equal(t, "brkrbk", k.actions())
	assert.Contains(t, told.heard[3].Prompt, "It is 0.166666666667 now.")
	assert.NotContains(t, told.heard[3].Prompt, "at the start", "what another executor scored is no start")
}
