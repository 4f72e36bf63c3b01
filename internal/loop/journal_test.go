package loop

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// racingStore applies each change to all of these files, one after the other, as when
// others write first.
type racingStore struct {
	files  []memory.Files
	update memory.Update
	wrote  memory.Files
}

func (s *racingStore) Update(_ context.Context, u memory.Update) (string, error) {
	s.update = u
	for _, files := range s.files {
		wrote, err := u.Apply(files)
		if err != nil {
			return "", err
		}
		s.wrote = wrote
	}
	return "commit", nil
}

// filesWith are the files of a program with these events.
func filesWith(t *testing.T, j *journal, events ...history.Event) memory.Files {
	t.Helper()
	records, err := openRecords(j.session, memory.Files{})
	require.NoError(t, err)
	for _, e := range events {
		records.add(e)
	}
	require.NoError(t, records.err)
	return records.files()
}

// TestRacedChangeDecidesAgain decides again: what it found in records that another
// run has replaced since is forgotten.
func TestRacedChangeDecidesAgain(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	started := &history.Started{Lease: &history.Lease{Host: "here"}}
	store := &racingStore{files: []memory.Files{filesWith(t, j), filesWith(t, j, started)}}
	j.store = store
	var seen []int
	branch := &git.RefUpdate{Ref: j.ref(), New: "1"}
	require.NoError(t, j.update(t.Context(), "a change", branch, func(b *records) error {
		seen = append(seen, b.sum.Events)
		assert.Empty(t, b.stopped, "of the first attempt")
		if len(seen) == 1 {
			b.pause(decision.Say("then"))
		} else {
			b.set(history.Note, "v")
		}
		return nil
	}))
	assert.Equal(t, []int{0, 1}, seen)
	assert.Empty(t, j.stopped+decision.Text(j.records.sum.Paused))
	assert.Equal(t, "v", j.records.sum.Note, "what was written last is what is known")
	assert.Equal(t, store.wrote, j.files)
	assert.Equal(t, []any{"p", "a change", branch, "refs/heads/autoloop/p"},
		[]any{store.update.Program, store.update.Message, store.update.Branch, store.update.Claims})
}

// TestFailingChange leaves what was known.
func TestFailingChange(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	j.store = &racingStore{files: []memory.Files{filesWith(t, j, &history.Set{Key: history.Note, Value: "v"})}}
	before, failed := j.records, errors.New("no")
	require.ErrorIs(t, j.update(t.Context(), "a change", nil, func(*records) error { return failed }), failed)
	assert.Same(t, before, j.records)
	none := history.Work{Durations: map[string]float64{"propose": math.NaN()}}
	require.ErrorContains(t, j.update(t.Context(), "no number", nil, adding(func(b *records) {
		b.add(&history.Finished{Work: none})
		b.set(history.Note, "w")
	})), "NaN", "an event that cannot be added keeps all of them from being written")
	assert.Same(t, before, j.records)
	j.store = &racingStore{files: []memory.Files{{Results: []byte("{")}}}
	require.ErrorContains(t, j.update(t.Context(), "a change", nil, func(*records) error { return nil }),
		"read p.results.tsv on the memory branch")
}

// TestLeaseIsHeld by the run whose start is the last, as long as it is open.
func TestLeaseIsHeld(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	j.store = &racingStore{files: []memory.Files{{}}}
	for runs, held := range map[string]bool{"run": true, "run another": false, "another run": true, "run -run": false} {
		var events []history.Event
		for run := range strings.FieldsSeq(runs) {
			var e history.Event = &history.Started{Lease: &history.Lease{Host: "here"}}
			if run[0] == '-' {
				e = &history.Finished{}
			}
			e.Header().Run = strings.TrimPrefix(run, "-")
			events = append(events, e)
		}
		b := &records{course: j.course, sum: history.Replay(events)}
		assert.Equal(t, held, b.holdsLease() == nil, runs)
	}
	require.ErrorIs(t, j.write(t.Context(), "late", nil, func(*records) error { panic("it is changed") }), errLeaseLost)
}

// adding is a change that cannot be refused.
func adding(change func(*records)) func(*records) error {
	return func(b *records) error {
		change(b)
		return nil
	}
}
