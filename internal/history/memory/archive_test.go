package memory_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/long"
)

// archive archives all but the latest iterations, and returns the file.
func (c *checkout) archive(keep int) string {
	c.t.Helper()
	found, err := c.FindArchivable(c.t.Context(), "p", keep)
	require.NoError(c.t, err)
	require.NotNil(c.t, found)
	file := filepath.Join(c.t.TempDir(), found.FileName())
	require.NoError(c.t, c.Archive(c.t.Context(), found, file))
	return file
}

// inLedger is what an audit finds of the ledger and of the memory branch, whose state
// here says nothing.
func inLedger(report audit.Report) []audit.Finding {
	var list []audit.Finding
	for _, found := range report.Findings {
		if found.Where == audit.Ledger || found.Where == audit.Memory {
			list = append(list, found)
		}
	}
	return list
}

func TestOlderSegmentsAreArchived(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	c := sealed(t, 60)
	_, before := c.numbers()
	_, whole, err := c.report()
	require.NoError(t, err)
	require.Equal(t, 60, whole.Decisions)
	require.Empty(t, inLedger(whole))
	one, two := c.text("p.ledger/000001.jsonl"), c.text("p.ledger/000002.jsonl")

	nothing, err := c.FindArchivable(t.Context(), "p", 55)
	require.NoError(t, err)
	assert.Nil(t, nothing, "a segment has more than five iterations")
	found, err := c.FindArchivable(t.Context(), "p", 30)
	require.NoError(t, err)
	require.GreaterOrEqual(t, found.Left, 30)
	assert.Equal(t, 1, found.First)
	assert.Equal(t, 1, found.FirstIteration)
	assert.Equal(t, 60, found.LastIteration+found.Left)
	assert.Equal(t, 4*found.LastIteration, found.Lines)

	first := c.archive(30)
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	assert.Equal(t, found.Bytes, int64(len(text)))
	assert.True(t, strings.HasPrefix(string(text), one+two))
	assert.NotContains(t, c.names(), "p.ledger/000001.jsonl")
	assert.NotContains(t, c.names(), "p.ledger/000001.short.jsonl")
	assert.Contains(t, c.names(), "p.ledger/archive.json")

	decided, summary := c.numbers()
	assert.Len(t, decided, found.Left)
	assert.Equal(t, found.LastIteration+1, decided[0])
	assert.Equal(t, before.Attempts, summary.Attempts)
	assert.Equal(t, 60, summary.Decided(), "what it adds up to stays")
	assert.Equal(t, before.Spent(time.Time{}), summary.Spent(time.Time{}))

	records, report, err := c.report()
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, []int{found.LastIteration, found.Left}, []int{report.Archived, report.Decisions})
	_, report, err = c.report(first)
	require.NoError(t, err)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, whole.Decisions, report.Decisions, "the archive has the rest")
	assert.Zero(t, report.Archived)

	for i := 61; i <= 100; i++ {
		c.iterate(i)
	}
	second := c.archive(30)
	_, report, err = c.report(second, first)
	require.NoError(t, err)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, 100, report.Decisions)
	_, _, err = c.report(second)
	require.ErrorContains(t, err, "segments 1 to ")
	require.ErrorContains(t, err, filepath.Base(first))
	decided, summary = c.numbers()
	assert.Equal(t, 100, decided[len(decided)-1])
	assert.Equal(t, 100, summary.Decided())
	files, _, err := c.Read(t.Context(), "p")
	require.NoError(t, err)
	short, err := files.Short(t.Context())
	require.NoError(t, err)
	past := files.Start()
	for _, e := range short {
		past.Add(e)
	}
	assert.Equal(t, 100, past.Decided())

	copied := filepath.Join(t.TempDir(), "copy")
	c.put(map[string]string{"p.ledger/checkpoint.json": ""})
	c.user("worktree", "add", "--quiet", copied, memoryRef)
	for _, states := range []memory.States{{Branch: c.Memory}, {Dir: copied}} {
		_, err := states.Load(t.Context(), []string{"p"})
		require.NoError(t, err)
		log, err := states.Ledger(t.Context(), "p")
		require.NoError(t, err)
		summary := log.Summary()
		assert.Equal(t, 100, summary.Decided(), "computed from the archive's sum")
	}
	c.user("worktree", "remove", "--force", copied)
}

func TestAuditFindsForgedArchives(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	c := sealed(t, 60)
	file := c.archive(30)
	honest := c.user("rev-parse", memoryRef)
	sum, open := c.text("p.ledger/archive.json"), c.text("p.jsonl")
	forged := strings.Replace(sum, `"Iteration":`, `"Iteration":1`, 1)
	require.NotEqual(t, sum, forged)
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"the sum":                 {map[string]string{"p.ledger/archive.json": forged}, "archive.json has the digest"},
		"the sum and its seal":    {map[string]string{"p.ledger/archive.json": forged, "p.jsonl": strings.Replace(open, history.Digest([]byte(sum)), history.Digest([]byte(forged)), 1)}, "is not what the segments before it add up to"},
		"a segment is taken away": {map[string]string{c.names()[0]: ""}, "it is not there"},
		"the sum is taken away":   {map[string]string{"p.ledger/archive.json": ""}, "segment 1: it is not there"},
		"the sum of fewer":        {map[string]string{"p.ledger/archive.json": strings.Replace(sum, `"lines":`, `"lines":1`, 1)}, "lines come before it"},
	} {
		c.put(test.files)
		records, err := c.audited()
		require.NoError(t, err, name)
		assert.Contains(t, strings.Join(records.Broken, "\n"), test.says, name)
		c.user("update-ref", memoryRef, honest)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, []byte("rejected"), []byte("accepted"), 1), 0o600))
	_, err = c.audited(file)
	require.ErrorContains(t, err, "is not given")
}

func TestArchivesAreNotWrittenOverOthersOrUnderARun(t *testing.T) {
	t.Parallel()
	c := sealed(t, 60)
	before := c.user("rev-parse", memoryRef)
	found, err := c.FindArchivable(t.Context(), "p", 30)
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "archive.jsonl")
	require.NoError(t, os.WriteFile(file, []byte("mine\n"), 0o600))
	require.ErrorContains(t, c.Archive(t.Context(), found, file), "is there already")
	require.NoError(t, os.Remove(file))

	c.record("a run", &history.Started{Head: history.Head{Run: "now", Time: c.Now(), Iteration: 61}, Lease: &history.Lease{Host: "h", Until: c.Now().Add(time.Hour)}})
	require.ErrorContains(t, c.Archive(t.Context(), found, file), "run now may be working on p")
	c.user("update-ref", memoryRef, before)
	require.FileExists(t, file, "it is complete before anything changes")
	require.NoError(t, c.Archive(t.Context(), found, file), "one that is the same may be there")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	require.ErrorContains(t, c.Archive(t.Context(), found, file), "was changed meanwhile")
}

// TestWhatIsStillAskedForIsNotForgotten: what the candidate that was measured last printed
// is in the checkpoint, which replay computes again.
func TestWhatIsStillAskedForIsNotForgotten(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	c := newCheckout(t)
	c.keepDetails = 1
	number := 0
	iterate := func(times int, measured *history.Measured) {
		for range times {
			number++
			is := history.Head{Run: fmt.Sprintf("run-%d", number), Time: time.Date(2026, 1, 1, 0, number, 0, 0, time.UTC), Iteration: number}
			c.record("start", &history.Started{Head: is})
			events := []history.Event{&history.Decided{Head: is, Outcome: history.Error, Reasons: []string{strings.Repeat("the agent said nothing ", 400)}}, &history.Finished{Head: is}}
			if measured != nil {
				measured.Head = is
				events = append([]history.Event{measured}, events...)
			}
			c.record("end", events...)
		}
	}
	agrees := func() {
		records, err := c.audited()
		require.NoError(t, err)
		assert.Empty(t, records.Broken)
	}
	iterate(1, &history.Measured{Role: history.Candidate, Problem: "it exits with 1", Output: strings.Repeat("printed\n", 8000)})
	iterate(30, nil)
	require.Contains(t, c.names(), "p.ledger/000003.jsonl")
	agrees()
	assert.Contains(t, c.names(), "p.ledger/000001.jsonl")
	iterate(1, &history.Measured{Role: history.Candidate})
	iterate(30, nil)
	agrees()
	assert.Contains(t, c.names(), "p.ledger/000001.numbers.jsonl")
}

// TestDetailsAreForgotten: sealed segments that are old lose the output and patches of
// dropped candidates, and what is left is proved by the heads of the others.
func TestDetailsAreForgotten(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	c := newCheckout(t)
	c.keepDetails = 20
	for i := range 80 {
		c.iterate(i + 1)
	}
	names := strings.Join(c.names(), " ")
	require.Contains(t, names, "p.ledger/000001.numbers.jsonl")
	require.NotContains(t, names, "p.ledger/000001.jsonl")
	bare := c.text("p.ledger/000001.numbers.jsonl")
	assert.NotContains(t, bare, "printed")
	assert.Contains(t, bare, `"forgotten":{"output":8000}`, "it is said what was dropped")
	assert.Contains(t, bare, `"digest":"digest-1"`)
	kept := 0
	for _, name := range c.names() {
		if !strings.Contains(name, "short") && !strings.Contains(name, "numbers") && strings.HasSuffix(name, ".jsonl") {
			kept += strings.Count(c.text(name), `"output"`)
		}
	}
	kept += strings.Count(c.text("p.jsonl"), `"output"`)
	assert.GreaterOrEqual(t, kept, 20)
	assert.Less(t, kept, 50)

	decided, summary := c.numbers()
	assert.Len(t, decided, 80)
	assert.Equal(t, 80, summary.Decided())
	records, report, err := c.report()
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, 80, report.Decisions)

	honest := c.user("rev-parse", memoryRef)
	for name, forged := range map[string]string{
		"a number":    strings.Replace(bare, `"outcome":"rejected"`, `"outcome":"accepted"`, 1),
		"its details": strings.Replace(bare, `"forgotten":{"output":8000}`, `"output":"invented"`, 1),
	} {
		require.NotEqual(t, bare, forged)
		c.put(map[string]string{"p.ledger/000001.numbers.jsonl": forged})
		records, err := c.audited()
		require.NoError(t, err)
		assert.Contains(t, strings.Join(records.Broken, "\n"), "segment 2, line 1: it goes on after a segment with the digest", name)
		c.user("update-ref", memoryRef, honest)
	}

	file := c.archive(30)
	_, report, err = c.report(file)
	require.NoError(t, err)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, 80, report.Decisions)
}

func TestNothingIsForgottenWithoutABound(t *testing.T) {
	t.Parallel()
	c := sealed(t, 60)
	assert.NotContains(t, strings.Join(c.names(), " "), "numbers")
	assert.Equal(t, 60, strings.Count(c.allLines(), `"output"`))
}

// allLines is the ledger in one piece.
func (c *checkout) allLines() string {
	var whole strings.Builder
	for _, name := range c.names() {
		if !strings.Contains(name, "short") && strings.HasSuffix(name, ".jsonl") {
			whole.Write(history.Body([]byte(c.text(name))))
		}
	}
	whole.Write(history.Body([]byte(c.text("p.jsonl"))))
	return whole.String()
}
