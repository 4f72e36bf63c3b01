package loop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// programWith is a program whose frontmatter has further lines, and that has more to say.
func programWith(front, more string) *program.Program {
	return program.Parse(".autoloop/programs/p.md", []byte(fmt.Sprintf(testProgram, front)+more))
}

// decidedOnce are the events of a baseline of 1 and of an iteration that was accepted with 3.
func decidedOnce() []history.Event {
	first := &history.Measured{
		Role: history.Baseline, Metric: metricOf("1"), Samples: []metric.Value{*metricOf("1")},
		Commit: "a", BaseBranch: "main",
	}
	decided := &history.Decided{
		Outcome: history.Accepted, Verdict: "improved", Metric: metricOf("3"),
		PreviousBest: metricOf("1"), Best: metricOf("3"), Commit: strings.Repeat("b", 40),
	}
	decided.Iteration, decided.Summary, decided.Reasons = 1, "more", decision.Says("3 is better than 1")
	return []history.Event{
		first, decided,
		&history.Finished{Head: history.Head{Iteration: 1}, Outcome: history.Accepted},
	}
}

// stateOf is a state file whose table has these rows.
func stateOf(rows ...string) []byte {
	return []byte("# Autoloop: p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n| Branch | autoloop/p |\n" +
		strings.Join(rows, "\n") + "\n\n## 📊 Iteration History\n")
}

// TestRecordsThatCannotBeRead are an error that names the file, and its line where it is
// known: they are never taken for a program that did not run yet.
func TestRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := programWith("", "")
	ledger := ledgerOf(t, decidedOnce()...)
	for name, c := range map[string]struct {
		files memory.Files
		says  []string
	}{
		"a table of other text": {
			memory.Files{Results: []byte("<<<<<<< HEAD\n"), Ledger: ledger},
			[]string{"read p.results.tsv on the memory branch: "},
		},
		"a state of another kind": {
			memory.Files{State: stateOf("| Iteration Count | many |"), Ledger: ledger},
			[]string{"read memory/autoloop:p.md:8: "},
		},
	} {
		_, err := openRecords(sessionOf(p), c.files)
		for _, says := range c.says {
			require.ErrorContains(t, err, says, name)
		}
	}
	none, err := openRecords(sessionOf(p), memory.Files{})
	require.NoError(t, err)
	assert.True(t, none.fresh)
	assert.Nil(t, none.sum.Best)
	assert.Nil(t, none.standing().Decision)
}

// TestLedgerWinsOverState where a person or a tool wrote other numbers into the state.
func TestLedgerWinsOverState(t *testing.T) {
	t.Parallel()
	ledger := ledgerOf(t, decidedOnce()...)
	for name, c := range map[string]struct {
		files memory.Files
		want  []string
	}{
		"another best": {
			memory.Files{State: stateOf("| Iteration Count | 1 |", "| Initial Metric | 1 |",
				"| Best Metric | 9 |"), Ledger: ledger},
			[]string{"Best Metric was 9 in the state and is 3 in the ledger; put right from the ledger"},
		},
		"rows are missing": {
			memory.Files{State: stateOf("| Paused | true |"), Ledger: ledger},
			[]string{
				"Best Metric was ", "Initial Metric was ",
				"Iteration Count was 0 in the state and is 1 in the ledger",
			},
		},
	} {
		p := programWith("", "")
		b, err := openRecords(sessionOf(p), c.files)
		require.NoError(t, err, name)
		require.Len(t, b.warnings, len(c.want), "%s: %v", name, b.warnings)
		for i, want := range c.want {
			assert.Contains(t, b.warnings[i], want, name)
		}
		written := b.files()
		again, err := openRecords(sessionOf(p), written)
		require.NoError(t, err)
		assert.Empty(t, again.warnings, "%s: it is put right", name)
		twice := again.files()
		assert.Equal(t, string(written.State), string(twice.State), "%s: and stays as it is", name)
		assert.Equal(t, linesOf(t, c.files.Ledger), linesOf(t, twice.Ledger), name)
	}
}

// TestEditsOfAPerson: who takes a pause, a completion or a wait out of the state ends it.
func TestEditsOfAPerson(t *testing.T) {
	t.Parallel()
	later := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	paused, completed := &history.Paused{Reason: decision.Say("x")}, &history.Completed{Reason: decision.Say("x")}
	waits := &history.Finished{NotBefore: &later, Reason: limited(later, "x")}
	for name, c := range map[string]struct {
		events []history.Event
		row    string
		ends   bool
	}{
		"a pause stays":             {[]history.Event{paused}, "| Paused | true |", false},
		"a pause is taken out":      {[]history.Event{paused}, "| Paused | false |", true},
		"a completion is taken out": {[]history.Event{completed}, "| Completed | false |", true},
		"a wait is taken out":       {[]history.Event{waits}, "", true},
	} {
		files := memory.Files{State: stateOf(c.row), Ledger: ledgerOf(t, c.events...)}
		b, err := openRecords(sessionOf(programWith("", "")), files)
		require.NoError(t, err, name)
		b.readEdits()
		require.NoError(t, b.err)
		found := b.log.Events[len(c.events):]
		require.Equal(t, c.ends, len(found) == 1, name)
		if c.ends {
			assert.Equal(t, &history.Resumed{
				Head: *found[0].Header(), Reason: decision.Reason{Kind: decision.EditedInState},
			}, found[0], name)
		}
	}
}
