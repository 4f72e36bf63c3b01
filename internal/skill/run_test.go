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

func TestParseRuns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"auto": 0, "AUTO": 0, "1": 1, "5": 5, "1000": 1000, "2": -1, "1001": -1,
		"0": -1, "-1": -1, "many": -1, "": -1,
	} {
		runs, err := skill.ParseRuns(text)
		if want < 0 {
			require.ErrorContains(t, err, "--runs \""+text+
				"\": give `auto`, 1 for a plain comparison, or a number from ", text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, runs, text)
	}
}

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
