package loop

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/tests/golden"
)

// TestEmptyProposal: then there is no bundle, and the result says why.
func TestEmptyProposal(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-gate: off", "1", "3")
	f := onGitHub(t, b)
	f.pull = &commands.Pull{Number: 8, Open: true, Ready: true}
	made, result, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	assert.Nil(t, made)
	assert.Equal(t, history.Idle, result.Outcome)
	assert.Contains(t, result.Stopped, "pull request #8 is ready for review")
	b.service.MustReserve = true
	f.pull = nil
	made, _, err = b.service.Propose(t.Context())
	require.ErrorIs(t, err, errNoStart)
	assert.Nil(t, made)
	b.service.MustReserve = false
	b.service.Base = "gone"
	made, _, err = b.service.Propose(t.Context())
	require.ErrorContains(t, err, "default branch gone has no commit")
	assert.Nil(t, made)
}

// TestDryRunOfConflict says what a run would end with.
func TestDryRunOfConflict(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3", "4")
	b.one()
	b.commit(map[string]string{"value.txt": "2\n"})
	before := b.refs()
	b.service.GitHub = &fakeGitHub{down: true} // which a dry run never asks
	dry, err := b.service.DryRun(t.Context())
	require.NoError(t, err)
	assert.Equal(t, history.DryRun, dry.Outcome)
	assert.Equal(t, []string{"main does not merge into autoloop/p, both changed value.txt: merge it by hand, then " +
		"resume"},
		decision.Texts(dry.Reasons))
	assert.Empty(t, dry.Warnings)
	assert.Equal(t, before, b.refs())
}

// brokenEvaluator is an evaluation that cannot be done.
type brokenEvaluator struct{ err error }

func (f brokenEvaluator) Run(context.Context, evaluation.Request) (evaluation.Result, error) {
	return evaluation.Result{}, f.err
}

// TestImpossibleIteration is an error of the program where the program is what
// stands in its way: its disk, or its time.
func TestImpossibleIteration(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3")
	b.service.Eval = brokenEvaluator{fmt.Errorf("write result: %w", syscall.ENOSPC)}
	result := b.one()
	assert.Equal(t, history.Error, result.Outcome)
	golden.Row(t, "disk", decision.Texts(result.Reasons))
	b.service.Eval = brokenEvaluator{fmt.Errorf("no such luck")}
	_, err := b.service.Run(t.Context(), 1)
	require.EqualError(t, err, "no such luck", "what Autoloop cannot do is no error of the program")

	b.service.Eval = b
	timeout := b.service.Program.Timeout
	b.service.Program.Timeout = time.Nanosecond
	result = b.one()
	assert.Equal(t, history.Error, result.Outcome)
	golden.Row(t, "time", decision.Texts(result.Reasons))
	none, result, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	assert.Equal(t, history.Error, result.Outcome)
	assert.Nil(t, none, "a bundle names a position, which it did not come to know")
	b.service.Program.Timeout, b.service.Eval = timeout, brokenEvaluator{syscall.ENOSPC}
	made := b.made()
	assert.Equal(t, forIteration, made.Kind)
	result, err = b.service.Publish(t.Context(), made)
	require.NoError(t, err)
	assert.Contains(t, result.Stopped,
		"the last: the proposing job says: there")

	b.service.Eval = b
	stopped, stop := context.WithCancel(t.Context())
	b.service.Force = true
	b.agent = func(agent.Request) agent.Reply { stop(); return agent.Reply{} }
	before := len(b.records().log.Events)
	_, err = b.service.Run(stopped, 1)
	require.ErrorIs(t, err, context.Canceled, "whom a person stops has made no error")
	assert.NotContains(t, strings.Join(b.kinds()[before:], " "), "decided")
}

// TestOutageWhilePublishing: the iteration is recorded, with a warning, and its comments
// are read later.
func TestOutageWhilePublishing(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-gate: off", "1", "3", "5")
	f := onGitHub(t, b)
	f.say(commands.Instruct, "look at x")
	made := b.made()
	f.down = true
	result, err := b.service.Publish(t.Context(), made)
	require.NoError(t, err)
	assert.Equal(t, history.Accepted, result.Outcome)
	require.Len(t, result.Warnings, 1)
	assert.Contains(t, result.Warnings[0], "pull request were not")
	settings := b.records().Settings
	assert.Empty(t, settings.HeardUntil)
	assert.NotEmpty(t, settings.HeardSince)
	f.down = false
	assert.Empty(t, b.one().Warnings)
	assert.Equal(t, "1 0 0", b.records().HeardUntil)
	made = b.made()
	f.broken = map[string]error{"open": errBroken}
	result, err = b.service.Publish(t.Context(), made)
	require.NoError(t, err)
	golden.Line(t, result.Warnings)
}
