package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
)

func decided(iteration int, outcome state.Status, best string) *history.Decided {
	return &history.Decided{
		Head: history.Head{Iteration: iteration}, Outcome: outcome, Best: value(best),
		Commit: "c" + best,
	}
}

// TestIterationsAreFiles: the start of an iteration begins a file, what is recorded until
// the next is added to it, and what is recorded first begins iteration 0.
func TestIterationsAreFiles(t *testing.T) {
	started := func(n int) history.Event { return &history.Started{Head: history.Head{Iteration: n, Time: noon}} }
	numbers := func(log *history.Log) (list []int) {
		for _, it := range log.Iterations() {
			list = append(list, it.Number, len(it.Events))
		}
		return list
	}
	var first *history.Log
	log := first.Copy()
	require.NoError(t, log.Append(&history.Set{Key: "issue", Value: "7"}, started(1),
		decided(1, history.PendingCI, "1"), started(1), decided(1, history.Accepted, "1"), &history.Paused{}))
	assert.Equal(t, []int{0, 1, 1, 5}, numbers(log))
	kept := log.Iterations()[1].Text()
	next := log.Copy()
	require.NoError(t, next.Append(&history.Resumed{Reason: decision.Say("<b>")}, started(2)))
	assert.Equal(t, []int{0, 1, 1, 6, 2, 1}, numbers(next))
	assert.Equal(t, []int{0, 1, 1, 5}, numbers(log), "the ledger that it was made from stays")
	assert.Same(t, log.Iterations()[0], next.Iterations()[0], "what stays is not written again")
	var again []*history.Iteration
	for _, it := range next.Iterations() {
		read, err := history.ParseIteration(it.Text())
		require.NoError(t, err)
		assert.Equal(t, string(it.Text()), string(read.Text()))
		again = append(again, read)
	}
	read, err := history.NewLog(again...)
	require.NoError(t, err)
	assert.Equal(t, linesOf(t, next), linesOf(t, read))
	assert.True(t, history.Extends(next.Iterations()[1].Text(), kept))
	assert.False(t, history.Extends(kept, next.Iterations()[1].Text()), "less than before")
	assert.False(t, history.Extends(next.Iterations()[2].Text(), kept), "another")
	_, err = history.NewLog(again[1], again[0])
	require.EqualError(t, err, "iteration 0 comes after iteration 1")

	started1 := (&history.Log{}).Copy()
	require.NoError(t, started1.Append(started(1)))
	assert.Equal(t, []int{0, 0, 1, 1}, numbers(started1), "iteration 0 is always there")
	empty := started1.Iterations()[0].Text()
	more, err := history.ParseIteration(empty)
	require.NoError(t, err)
	assert.Empty(t, more.Events)
}

// linesOf are the events of a ledger, one a line.
func linesOf(t *testing.T, log *history.Log) (lines []string) {
	t.Helper()
	for _, e := range log.Events {
		line, err := history.Line(e)
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

// TestIterationsThatCannotBeRead are errors that say why: they are never taken for ones
// that are not there.
func TestIterationsThatCannotBeRead(t *testing.T) {
	for text, says := range map[string]string{
		``: "unexpected end", `[]`: "array", `{}`: `no "iteration"`, `{"iteration":-1}`: `no "iteration"`,
		`{"schema":2,"iteration":1}`: "2 and this version of Autoloop knows 1:",
		`{"iteration":1,"events":[{"event":"set"},{"schema":9,"event":"set"}]}`: "event 2: it has schema 9",
		`{"iteration":1,"events":[{"event":"telepathy"}]}`:                      `event 1: its "event" is "telepathy",`,
		`{"iteration":1,"events":[{"event":"set","time":3}]}`:                   "event 1: ",
		`{"iteration":1,"events":[{"event":"set","key":3}]}`:                    "event 1: ",
		`{"iteration":1,"events":[{"deep":{"event":"set"}}]}`:                   `its "event" is ""`,
		"<<<<<<< ours\n": "invalid",
	} {
		_, err := history.ParseIteration([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
}
