package loop

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
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
	for name, c := range map[string]memory.Files{
		"a table of other text":   {Results: []byte("<<<<<<< HEAD\n"), Ledger: ledger},
		"a state of another kind": {State: stateOf("| Iteration Count | many |"), Ledger: ledger},
	} {
		_, err := openRecords(sessionOf(p), c)
		golden.Row(t, name, err)
	}
	none, err := openRecords(sessionOf(p), memory.Files{})
	require.NoError(t, err)
	assert.Nil(t, none.read.State)
	assert.Nil(t, none.Best)
	assert.Nil(t, none.Decision)
}

// TestLedgerWinsOverState where a person or a tool wrote other numbers into the state.
func TestLedgerWinsOverState(t *testing.T) {
	t.Parallel()
	ledger := ledgerOf(t, decidedOnce()...)
	for name, c := range map[string]memory.Files{
		"another best": {State: stateOf("| Iteration Count | 1 |", "| Initial Metric | 1 |",
			"| Best Metric | 9 |"), Ledger: ledger},
		"rows are missing": {State: stateOf("| Paused | true |"), Ledger: ledger},
	} {
		p := programWith("", "")
		b, err := openRecords(sessionOf(p), c)
		require.NoError(t, err, name)
		golden.Row(t, name, b.warnings)
		written := b.files()
		again, err := openRecords(sessionOf(p), written)
		require.NoError(t, err)
		assert.Empty(t, again.warnings, "%s: it is put right", name)
		twice := again.files()
		assert.Equal(t, string(written.State), string(twice.State), "%s: and stays as it is", name)
		assert.Equal(t, linesOf(t, c.Ledger), linesOf(t, twice.Ledger), name)
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
	j.store = store.Update
	var seen []int
	branch := &git.RefUpdate{Ref: j.ref(), New: "1"}
	require.NoError(t, j.update(t.Context(), "a change", branch, func(b *records) error {
		seen = append(seen, len(b.log.Events))
		assert.Empty(t, b.stopped, "of the first attempt")
		if len(seen) == 1 {
			b.pause(decision.Say("then"))
		} else {
			b.set(history.Note, "v")
		}
		return nil
	}))
	assert.Equal(t, []int{0, 1}, seen)
	assert.Empty(t, j.stopped+decision.Text(j.records.Paused))
	assert.Equal(t, "v", j.records.Note, "what was written last is what is known")
	assert.Equal(t, store.wrote, j.files)
	assert.Equal(t, []any{"p", "p: a change", branch, "refs/heads/autoloop/p"},
		[]any{store.update.Program, store.update.Message, store.update.Branch, store.update.Claims})
}

// TestFailingChange leaves what was known.
func TestFailingChange(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	j.store = (&racingStore{files: []memory.Files{filesWith(t, j, &history.Set{Key: history.Note, Value: "v"})}}).Update
	before, failed := j.records, errors.New("no")
	require.ErrorIs(t, j.update(t.Context(), "a change", nil, func(*records) error { return failed }), failed)
	assert.Same(t, before, j.records)
	none := history.Work{Durations: map[string]float64{"propose": math.NaN()}}
	require.ErrorContains(t, j.update(t.Context(), "no number", nil, adding(func(b *records) {
		b.add(&history.Finished{Work: none})
		b.set(history.Note, "w")
	})), "NaN", "an event that cannot be added keeps all of them from being written")
	assert.Same(t, before, j.records)
	j.store = (&racingStore{files: []memory.Files{{Results: []byte("{")}}}).Update
	require.ErrorContains(t, j.update(t.Context(), "a change", nil, func(*records) error { return nil }),
		"read p.results.tsv on the memory branch")
}

// TestLeaseIsHeld by the run whose start is the last, as long as it is open.
func TestLeaseIsHeld(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	j.store = (&racingStore{files: []memory.Files{{}}}).Update
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
		b := &records{course: j.course, Summary: history.Replay(events)}
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

// TestStatesWithoutLedgerAreAdopted: one that counts iterations, and no other.
func TestStatesWithoutLedgerAreAdopted(t *testing.T) {
	t.Parallel()
	for count, adopted := range map[string]int{"0": 0, "1": 1} {
		for _, ledger := range []*history.Log{nil, ledgerOf(t, &history.Paused{Reason: decision.Say("x")})} {
			b, err := openRecords(sessionOf(programWith("", "")),
				memory.Files{State: stateOf("| Iteration Count | " + count + " |"), Ledger: ledger})
			require.NoError(t, err)
			if b.adopt(); ledger != nil {
				adopted = 0
			}
			assert.Equal(t, adopted, b.Adopted)
		}
	}
}

// TestRecordsArePacked where many objects lie loose: git's own call does it after a record.
func TestRecordsArePacked(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "2")
	dir := t.TempDir()
	args := []string{"hash-object", "-w"}
	for i := 0; len(args) < 40; i++ { // git counts those whose names begin with 17
		text := strconv.Itoa(i)
		if sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))[0] == 0x17 {
			b.write(dir, map[string]string{text: text})
			args = append(args, filepath.Join(dir, text))
		}
	}
	b.git(args...)
	packs := func() []string {
		list, err := filepath.Glob(filepath.Join(b.dir, ".git/objects/pack/*.pack"))
		require.NoError(t, err)
		return list
	}
	require.Empty(t, packs())
	b.one()
	assert.NotEmpty(t, packs())
}
