package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// TestReserve: a start for another job is recorded when an iteration may begin, else the
// result says why none does.
func TestReserve(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nplateau: 1\ncandidates: 1", "4", "3", "5", "9")
	b.service.Holder = history.Lease{Host: "here", PID: 7, ProcessStart: "9", Namespace: "n", ActionsRun: "12.1"}
	b.service.Alive = func(history.Lease) bool { return true }
	reserve := func() Reservation {
		reserved, err := b.service.Reserve(t.Context())
		require.NoError(t, err)
		return reserved
	}
	assert.Equal(t, Reservation{Program: "p", Begun: true, Iteration: 1, RunID: "run-1"}, reserve())
	open := b.records().sum.Open
	assert.Equal(t, []any{"run-1", 1}, []any{open.Run, open.Iteration})
	want := history.Lease{Host: "here", ActionsRun: "12.1", Handed: true, Until: open.Lease.Until}
	assert.Equal(t, &want, open.Lease, "no process holds it")
	again := reserve()
	assert.False(t, again.Begun)
	assert.Contains(t, again.Reason, "run run-1 (Actions run 12.1) works on")

	other := *b.service
	other.Holder.ActionsRun = "13.1"
	before := b.refs()
	nothing, err := other.GiveBack(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"nothing was proposed, and no start of this run is open"}, decision.Texts(nothing.Reasons))
	assert.Equal(t, before, b.refs(), "the start of another run stays")
	given, err := b.service.GiveBack(t.Context())
	require.NoError(t, err)
	assert.Equal(t, history.Idle, given.Outcome)
	after := b.records()
	assert.Nil(t, after.sum.Open)
	assert.Equal(t, []any{0, 0, true},
		[]any{after.sum.Interrupted, after.sum.Spent(time.Time{}).Iterations, after.sum.LastRun.IsZero()},
		"it counts as no run")

	reserved := reserve()
	b.service.MustReserve = true
	made := b.made()
	assert.Equal(t, reserved.RunID, made.Run, "it is proposed under that start")
	result, err := b.service.Publish(t.Context(), made)
	require.NoError(t, err)
	assert.Contains(t, result.Stopped, "paused: plateau")
	assert.Contains(t, reserve().Reason, "paused: plateau: 1 rejections in a row")
	_, _, err = b.service.Propose(t.Context())
	require.NoError(t, err, "that it rests is a result")
	b.service.Force = true
	_, _, err = b.service.Propose(t.Context())
	require.ErrorIs(t, err, errNoStart)
}

// TestPauseEndsBeforeStart: a comment that ends it is applied first.
func TestPauseEndsBeforeStart(t *testing.T) {
	t.Parallel()
	paused := []history.Event{wasMeasured("1"), &history.Paused{Reason: decision.Say("x")}}
	for name, c := range map[string]struct {
		say     commands.CommandKind
		away    bool
		down    bool
		begins  bool
		told    []string
		answers int
	}{
		"nobody says anything": {},
		"resume": {
			say: commands.Resume, begins: true,
			told: []string{"issue=7", "resumed", "answered", "commands=1 0 0", "started"}, answers: 1,
		},
		"without GitHub": {say: commands.Resume, away: true},
		"GitHub is down": {say: commands.Resume, down: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", paused...)
			if d.hub.down = c.down; c.say != "" {
				d.hub.say(c.say, "")
			}
			if c.away {
				d.GitHub = nil
			}
			err := d.acquire(t.Context())
			assert.Equal(t, c.begins, err == nil)
			assert.Equal(t, !c.begins, isResting(err))
			if c.told == nil {
				c.told = d.told()[:0:0]
				if !c.away && !c.down {
					c.told = []string{"issue=7"}
				}
			}
			assert.Equal(t, c.told, d.told())
			assert.Len(t, d.hub.answers, c.answers)
		})
	}
}

// TestRunsThatVanish: the third in a row pauses the program, where people look, before
// another begins.
func TestRunsThatVanish(t *testing.T) {
	t.Parallel()
	lost := func(run string) *history.Started {
		return &history.Started{
			Head:  history.Head{Run: run, Iteration: 1},
			Lease: &history.Lease{Host: "there", PID: 7, Until: noon.Add(-time.Minute)},
		}
	}
	before := []history.Event{wasMeasured("1"), lost("a"), lost("b")}
	d := newMemoryRun(t, "", before...)
	result, err := d.reserve(t.Context())
	require.NoError(t, err)
	assert.Empty(t, result.Outcome, "two are not too many")
	assert.Equal(t, []string{"started"}, d.told())

	d = newMemoryRun(t, "", append(before, lost("c"))...)
	d.hub.say(commands.Note, "hello")
	result, err = d.reserve(t.Context())
	require.NoError(t, err)
	assert.Equal(t, history.Error, result.Outcome)
	after := d.written()
	assert.Contains(t, decision.Text(after.sum.Paused),
		"iteration 1 was interrupted 3 times in")
	assert.Contains(t, result.Stopped, "paused: "+decision.Text(after.sum.Paused)+"; go on with ")
	assert.Len(t, d.hub.answers, 1, "the comments are read first")
	assert.Nil(t, after.sum.Open)
	assert.Zero(t, after.sum.Interrupted, "it begins anew once it is resumed")
	assert.Equal(t, history.Error, after.standing().Decision.Outcome)
}
