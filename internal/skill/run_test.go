package skill_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/suite/work"
)

func TestEndedText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "1 iteration done", skill.Exhausted.Text(1))
	assert.Equal(t, "3 iterations done", skill.Exhausted.Text(3))
	assert.Equal(t, "stuck", skill.Stuck.Text(3))
}

func TestRunSaysWhereItGoesOn(t *testing.T) {
	t.Parallel()
	b := newAppliedSkill(t)
	text, err := skill.GoesOn(b.Workspace, "s", 5)
	require.NoError(t, err)
	assert.Equal(t, "s: going on from v1, iteration 3\n", text)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	kept := "iterations 0 to 2 and v1, the best, are kept in " + b.Workspace.Dir +
		"; the same command goes on from there\n"
	assert.Equal(t, "interrupted: "+kept, skill.BrokenOff(ended, b.Workspace, ended.Err()))
	assert.Equal(t, "broken off: "+kept, skill.BrokenOff(t.Context(), b.Workspace, &work.NoResultError{}))
	assert.Empty(t, skill.BrokenOff(t.Context(), b.Workspace, errors.New("else")), "the error says it")
}
