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

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
)

// TestWhatCanBeArchived: of all segments that may go the most, and what is said of them is
// what they have.
func TestWhatCanBeArchived(t *testing.T) {
	t.Parallel()
	l := lived(t) // an iteration in each of three segments, and nine that stay
	c := newCheckout(t)
	c.begin(l.files(t, "whole"), l.with(t, "begun", l.archived(t, 1)), map[string]string{"small.md": "x", "small.jsonl": "", "stateless.md": "x"},
		l.with(t, "broken", map[string]string{"000002.jsonl": ""}))
	for archived, name := range []string{"whole", "begun"} {
		for _, keep := range []int{0, 8, 9, 10, 11, 12, 13} {
			found, err := c.FindArchivable(t.Context(), name, keep)
			require.NoError(t, err)
			last := min(3, 12-keep) // iterations and segments have the same numbers
			if last <= archived {
				require.Nil(t, found, "%s: %d stay", name, keep)
				continue
			}
			size := 0
			for _, segment := range l.segments[archived:last] {
				size += len(segment)
			}
			require.NotNil(t, found, "%s: %d stay", name, keep)
			assert.Equal(t, fmt.Sprintf("%s-%06d-%06d.jsonl", name, archived+1, last), found.FileName())
			assert.Equal(t, []int{archived + 1, last, archived + 1, last, 12 - last, 4 * (last - archived)}, []int{found.First, found.Last, found.FirstIteration, found.LastIteration, found.Left, found.Lines})
			assert.Equal(t, int64(size), found.Bytes)
			assert.Equal(t, time.Date(2026, 1, 1, 0, last, 0, 0, time.UTC), found.Until)
		}
	}
	_, err := c.FindArchivable(t.Context(), "gone", 1)
	require.ErrorIs(t, err, memory.ErrNoRecords)
	_, err = c.FindArchivable(t.Context(), "stateless", 1)
	require.ErrorIs(t, err, memory.ErrNoRecords)
	found, err := c.FindArchivable(t.Context(), "small", 1)
	require.NoError(t, err)
	assert.Nil(t, found, "nothing is sealed")
	_, err = c.FindArchivable(t.Context(), "broken", 1)
	require.ErrorContains(t, err, "segment 2: it is not there")
}

// TestArchivingMovesSegmentsToAFile: nothing of them is lost, and nothing else changes.
func TestArchivingMovesSegmentsToAFile(t *testing.T) {
	t.Parallel()
	l := lived(t)
	c := newCheckout(t)
	before := c.begin(l.files(t, "p"), map[string]string{"q.md": "others\n", "p.ledger/README": "mine\n"})
	dir := t.TempDir()
	archive := func(keep int) string {
		found, err := c.FindArchivable(t.Context(), "p", keep)
		require.NoError(t, err)
		file := filepath.Join(dir, found.FileName())
		require.NoError(t, c.Archive(t.Context(), found, file))
		return file
	}
	first := archive(10)
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	assert.Equal(t, string(bytes.Join(l.segments[:2], nil)), string(text))
	info, err := os.Stat(first)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode())
	assert.Equal(t, strings.Fields("p.ledger/000003.jsonl p.ledger/000003.short.jsonl p.ledger/README p.ledger/archive.json p.ledger/checkpoint.json"), c.names())
	assert.Equal(t, before, c.user("rev-parse", memoryRef+"^"))
	assert.Equal(t, "p: iterations up to 2 are archived", c.user("log", "-1", "--format=%s", memoryRef))
	assert.Empty(t, c.user("diff", "--name-only", before, memoryRef, "--", "p.md", "q.md", "p.ledger/README", "p.ledger/checkpoint.json", "p.ledger/000003.jsonl"))

	second := archive(0)
	text, err = os.ReadFile(second)
	require.NoError(t, err)
	assert.Equal(t, string(l.segments[2]), string(text))
	files, _, err := c.Read(t.Context(), "p")
	require.NoError(t, err)
	log, err := files.Log()
	require.NoError(t, err)
	summary := log.Summary()
	assert.Equal(t, 12, summary.Decided())
	assert.Equal(t, history.Digest([]byte(c.text("p.ledger/archive.json"))), summary.Settings[history.Archived], "the ledger names it")
	kept := files.Archive()
	for i, want := range []struct{ first, last int }{{1, 2}, {3, 3}} {
		file := kept.Files[i]
		assert.Equal(t, []int{want.first, want.last, want.last}, []int{file.First, file.Last, file.LastIteration})
		assert.Equal(t, history.Digest(bytes.Join(l.segments[want.first-1:want.last], nil)), file.SHA256)
		assert.Equal(t, filepath.Base([]string{first, second}[i]), file.Name)
	}
	nothing, err := c.FindArchivable(t.Context(), "p", 0)
	require.NoError(t, err)
	assert.Nil(t, nothing)
	records, report, err := c.report(second, first)
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Empty(t, inLedger(report))
	assert.Equal(t, 12, report.Decisions)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing else is left there")
}

// TestArchivingThatCannotBe leaves the records as they are, and says what to do.
func TestArchivingThatCannotBe(t *testing.T) {
	t.Parallel()
	l := lived(t)
	c := newCheckout(t)
	plain := l.files(t, "p")
	before := c.begin(plain)
	found, err := c.FindArchivable(t.Context(), "p", 10)
	require.NoError(t, err)
	withLease := func(until time.Time, more ...history.Event) map[string]string {
		log, err := history.Open(l.sum, l.open)
		require.NoError(t, err)
		started := &history.Started{Head: history.Head{Run: "now", Time: c.Now(), Iteration: 13}, Lease: &history.Lease{Host: "h", Until: until}}
		require.NoError(t, log.Append(append([]history.Event{started}, more...)...))
		return map[string]string{"": string(log.Bytes())}
	}
	finished := &history.Finished{Head: history.Head{Run: "now", Time: c.Now(), Iteration: 13}}
	for name, test := range map[string]struct {
		changes map[string]string
		says    string
	}{
		"another has archived it":      {l.archived(t, 1), "the history of p was changed meanwhile"},
		"another has archived more":    {l.archived(t, 3), "the history of p was changed meanwhile"},
		"archived, and put back":       {map[string]string{"archive.json": l.archived(t, 1)["archive.json"], "": l.archived(t, 1)[""]}, "was changed meanwhile"},
		"its details are forgotten":    {map[string]string{"000002.jsonl": "", "000002.numbers.jsonl": string(history.Forgettable(l.segments[1], l.segments[2]))}, "was changed meanwhile"},
		"a segment is gone":            {map[string]string{"000001.jsonl": ""}, "was changed meanwhile"},
		"it begins anew":               {map[string]string{"": "{\"event\":\"note\",\"time\":\"2026-01-01T00:00:00Z\"}\n"}, "was changed meanwhile"},
		"a run works on it":            {withLease(c.Now().Add(time.Second)), "run now may be working on p"},
		"its ledger cannot be read":    {map[string]string{"": "{"}, "ledger line 1"},
		"its ledger is of another":     {map[string]string{"": strings.Replace(string(l.open), `"before":"`, `"before":"0`, 1)}, "it goes on after a segment"},
		"the run's time is over":       {withLease(c.Now()), ""},
		"the run gave the lease back":  {withLease(c.Now().Add(time.Hour), finished), ""},
		"more was sealed":              {map[string]string{"000009.short.jsonl": "x"}, ""},
		"a later segment is forgotten": {map[string]string{"000003.jsonl": "", "000003.numbers.jsonl": string(history.Forget(l.segments[2]))}, ""},
	} {
		head := c.begin(l.with(t, "p", test.changes))
		err := c.Archive(t.Context(), found, filepath.Join(t.TempDir(), "a.jsonl"))
		if test.says == "" {
			require.NoError(t, err, name)
			assert.Contains(t, c.names(), "p.ledger/archive.json", name)
			continue
		}
		require.ErrorContains(t, err, test.says, name)
		assert.Equal(t, head, c.has(memoryRef), name)
	}

	require.NoError(t, c.Repo.UpdateRefs(t.Context(), "back", gitMove(before)))
	err = c.Archive(t.Context(), found, filepath.Join(t.TempDir(), "gone", "a.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
	dir := t.TempDir()
	err = c.Archive(t.Context(), found, dir)
	_, isMisuse := err.(*misuse.Error) //nolint:errorlint // it is the caller's mistake, and nothing else
	require.True(t, isMisuse, err)
	require.ErrorContains(t, err, "is there already, and is another file: name one with --out")
	assert.Equal(t, before, c.has(memoryRef))
}

// TestArchivesThatAreAskedFor are those that the ledger names, in whatever order they are
// given; an audit without them begins after them.
func TestArchivesThatAreAskedFor(t *testing.T) {
	t.Parallel()
	l := lived(t)
	c := newCheckout(t)
	dir := t.TempDir()
	part := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return file
	}
	one, two, three := part("one", l.segments[0]), part("two", l.segments[1]), part("three", l.segments[2])
	cut := part("cut", l.segments[0][:len(l.segments[0])-1])
	both := part("both", bytes.Join(l.segments[:2], nil))
	c.begin(l.with(t, "p", l.archived(t, 2)))
	honest := c.has(memoryRef)
	for name, test := range map[string]struct {
		archives []string
		says     string
	}{
		"in their order":      {[]string{one, two}, ""},
		"the other way round": {[]string{two, one}, ""},
		"one more":            {[]string{three, two, one}, ""},
		"twice":               {[]string{one, one, two, two}, ""},
		"under another name":  {[]string{part("copy", l.segments[0]), two}, ""},
		"one of them":         {[]string{one}, "segments 2 to 2 are in part-2.jsonl (SHA-256 " + history.Digest(l.segments[1])[:12] + "), which is not given"},
		"the other of them":   {[]string{two}, "segments 1 to 1 are in part-1.jsonl"},
		"cut off":             {[]string{cut, two}, "segments 1 to 1 are in part-1.jsonl"},
		"in one file":         {[]string{both}, "segments 1 to 1 are in part-1.jsonl"},
		"no file":             {[]string{one, filepath.Join(dir, "gone")}, "no such file or directory"},
		"a directory":         {[]string{dir, one, two}, "is a directory"},
	} {
		records, report, err := c.report(test.archives...)
		if test.says != "" {
			require.ErrorContains(t, err, test.says, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Empty(t, records.Broken, name)
		assert.Empty(t, inLedger(report), name)
		assert.Equal(t, []int{0, 12}, []int{report.Archived, report.Decisions}, name)
	}
	_, report, err := c.report()
	require.NoError(t, err)
	assert.Equal(t, []int{2, 10}, []int{report.Archived, report.Decisions}, "without them it begins after them")

	c.begin(l.files(t, "p"))
	_, _, err = c.report(one)
	require.ErrorContains(t, err, "nothing of this ledger is archived, and --archive is given")
	require.NoError(t, c.Repo.UpdateRefs(t.Context(), "back", gitMove(honest)))

	// A file that a forged archive names, and that is no ledger.
	broken := part("broken", append(bytes.Clone(l.segments[0]), "no JSON\n"...))
	a := l.archive(t, 1)
	a.Files[0].SHA256 = history.Digest(append(bytes.Clone(l.segments[0]), "no JSON\n"...))
	text, err := a.Encode()
	require.NoError(t, err)
	c.begin(l.with(t, "p", merged(l.archived(t, 1), map[string]string{"archive.json": string(text)})))
	_, _, err = c.report(broken)
	require.ErrorContains(t, err, "segment 1: ledger line 5")
}

func gitMove(commit string) git.RefUpdate {
	return git.RefUpdate{Ref: memoryRef, New: commit, Old: git.Any}
}
