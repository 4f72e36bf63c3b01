package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// TestCommandsBeforeTheFirstIteration are applied to a program that never ran here: the last word counts, and
// the iterations that another tool counted stay.
func TestCommandsBeforeTheFirstIteration(t *testing.T) {
	t.Parallel()
	for last, first := range map[commands.CommandKind]commands.CommandKind{
		commands.Resume: commands.Pause, commands.Pause: commands.Run,
	} {
		d := newMemoryRun(t, "")
		d.stored.files.State = stateOf("| Iteration Count | 3 |")
		d.hub.say(first, "")
		d.hub.say(last, "")
		d.mayWrite = d.requireNoLease
		require.NoError(t, d.readComments(t.Context()))
		after := d.written()
		assert.Equal(t, []any{last == commands.Pause, 3, 2},
			[]any{after.machine.Paused, after.Iteration, len(d.hub.answers)})
	}
}

// TestChangeWithoutLease is made while no other run works on the program, and takes over
// what people edited.
func TestChangeWithoutLease(t *testing.T) {
	t.Parallel()
	held := func(handed bool) *history.Started {
		return &history.Started{
			Head:  history.Head{Run: "another", Iteration: 1},
			Lease: &history.Lease{Host: "there", PID: 7, Handed: handed, Until: noon.Add(time.Minute)},
		}
	}
	for name, c := range map[string]struct {
		before []history.Event
		aside  bool
		edit   bool
		busy   bool
		told   []string
	}{
		"another works": {before: []history.Event{wasMeasured("1"), held(false)}, busy: true},
		"a start for a job, commands alone": {
			before: []history.Event{wasMeasured("1"), held(true)}, aside: true,
			told: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", c.before...)
			if d.aside = c.aside; c.edit {
				d.edit("| Paused | true |", "| Paused | false |")
			}
			err := d.update(t.Context(), "change", nil, d.requireNoLease)
			if c.busy {
				var busy *endedError
				require.ErrorAs(t, err, &busy)
				assert.Contains(t, busy.Error(), "run another (")
				assert.Empty(t, d.stored.messages)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.told, d.told())
		})
	}
}

// TestCommandNamesTheNextIteration, also after those that another tool counted.
func TestCommandNamesTheNextIteration(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1")
	_, err := b.service.Memory.Update(t.Context(), memory.Update{
		Program: "p", Message: "by another tool", Apply: func(memory.Files) (memory.Files, error) {
			return memory.Files{State: stateOf("| Iteration Count | 3 |")}, nil
		},
	})
	require.NoError(t, err)
	onGitHub(t, b).say(commands.Instruct, "look here")
	_, err = b.service.ApplyCommands(t.Context())
	require.NoError(t, err)
	answers, _ := answersOf(b.records())
	assert.Equal(t, []string{"The agent is told at iteration 4."}, answers)
}

// TestCommandOfAPerson is applied as one of a comment, once anything is on record.
func TestCommandOfAPerson(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3")
	command := func(kind commands.CommandKind) (string, bool, string, error) {
		return b.service.Command(t.Context(), "mona", commands.Command{Kind: kind, Iteration: 9})
	}
	_, _, _, err := command(commands.Pause)
	require.ErrorIs(t, err, ErrNoHistory)
	b.one()
	answer, good, _, err := command(commands.Pause)
	require.NoError(t, err)
	assert.Equal(t, []any{"Paused. `/autoloop resume` goes on.", true}, []any{answer, good})
	assert.Equal(t, "by a comment of mona", decision.Text(b.records().Paused))
	_, good, _, err = command(commands.Undo)
	require.NoError(t, err)
	assert.False(t, good, "there is no such iteration")
	_, _, _, err = command(commands.Resume)
	require.NoError(t, err)
	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	_, _, busy, err := command(commands.Resume)
	require.NoError(t, err)
	assert.NotEmpty(t, busy)
}

// TestPauseBesideAnotherWriter is recorded although the records change between reading and
// writing them: each moment in which the clock is asked is tried.
func TestPauseBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	for moment := 1; ; moment++ {
		b := newFixture(t, "evaluation-runs: 1", "4", "3", "2")
		b.one()
		other, now, asked := *b.service, b.service.Now, 0
		b.service.Now = func() time.Time {
			if asked++; asked == moment {
				note := commands.Command{Kind: commands.Note, Text: "hello"}
				_, good, _, err := other.Command(t.Context(), "lisa", note)
				require.NoError(t, err)
				require.True(t, good)
			}
			return now()
		}
		_, err := b.service.Pause(t.Context(), "a holiday")
		require.NoError(t, err)
		assert.True(t, b.records().machine.Paused, moment)
		if asked < moment {
			assert.Greater(t, moment, 2, "the clock was asked after the records were read")
			return
		}
	}
}
