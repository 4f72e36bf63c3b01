package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
)

// What tests of this package know of how a ledger is written is in this file.

// ledgerOf is a ledger of events, a minute apart from each other.
func ledgerOf(t *testing.T, events ...history.Event) *history.Log {
	t.Helper()
	log := &history.Log{}
	for i, e := range events {
		require.NoError(t, log.Append(history.Stamp(e, "r", time.Date(2026, 1, 2, 3, i, 0, 0, time.UTC))))
	}
	return log
}

// linesOf is a ledger with one event a line.
func linesOf(t *testing.T, log *history.Log) string {
	t.Helper()
	text := ""
	for _, it := range log.Iterations() {
		for _, e := range it.Events {
			line, err := history.Line(e)
			require.NoError(t, err)
			text += string(line)
		}
	}
	return text
}

// iterationPath is where the only file of a ledger is on the memory branch.
func iterationPath(program string) string { return program + ".iterations/000/000000.json" }

// iterationText is the only file of a ledger.
func iterationText(t *testing.T, log *history.Log) string {
	t.Helper()
	require.Len(t, log.Iterations(), 1)
	return string(log.Iterations()[0].Text())
}
