package memory_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
)

// TestALedgerIsTheSameHoweverItIsKept: with what is computed from its segments beside
// them, without some of that, without details, and among files of others.
func TestALedgerIsTheSameHoweverItIsKept(t *testing.T) {
	t.Parallel()
	l := lived(t)
	bare := history.Forgettable(l.segments[0], l.segments[1])
	require.NotNil(t, bare)
	require.NotEqual(t, l.segments[0], bare)
	noShort := map[string]string{"000001.short.jsonl": "", "000002.short.jsonl": "", "000003.short.jsonl": ""}
	kept := map[string]map[string]string{
		"whole":          nil,
		"no-checkpoint":  {"checkpoint.json": ""},
		"old-checkpoint": {"checkpoint.json": "{\"version\":1}\n"},
		"no-short":       noShort,
		"some-short":     {"000002.short.jsonl": ""},
		"nothing-more":   merged(noShort, map[string]string{"checkpoint.json": ""}),
		"bare":           {"000001.jsonl": "", "000001.numbers.jsonl": string(bare)},
		"bare-and-whole": {"000001.numbers.jsonl": "{"},
		"bare-alone":     merged(noShort, map[string]string{"000001.jsonl": "", "000001.numbers.jsonl": string(bare), "checkpoint.json": ""}),
		"others-files":   {"000000.jsonl": "{", "000004.jsonl": "{", "000004.short.jsonl": "{", "1.jsonl": "{", "README.md": "{", "000001.jsonl.bak": "{", "deep/000001.jsonl": "{"},
		"links":          {"000004.jsonl": "-> 000001.jsonl", "000001.numbers.jsonl": "-> 000002.jsonl"},
	}
	c := newCheckout(t)
	var all []map[string]string
	for name, changes := range kept {
		all = append(all, l.with(t, name, changes))
	}
	c.begin(all...)

	replayed := history.Replay(l.events)
	var condensed, decided []string
	for _, e := range l.events {
		if text := told([]history.Event{e})[0]; e.Header().Iteration > 3 || !strings.HasPrefix(text, "measured") {
			condensed = append(condensed, text)
		}
	}
	for number := range 3 {
		decided = append(decided, fmt.Sprintf("decided %d", number+1))
	}
	for name := range kept {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, _, err := c.Read(t.Context(), name)
			require.NoError(t, err)
			log, err := files.Log()
			require.NoError(t, err)
			summary := log.Summary()
			assert.Equal(t, replayed.Decided(), summary.Decided())
			assert.Equal(t, replayed.Iteration, summary.Iteration)
			assert.Equal(t, replayed.Dropped(), summary.Dropped())
			assert.Equal(t, replayed.Statuses(), summary.Statuses())
			assert.Equal(t, replayed.Spent(time.Time{}), summary.Spent(time.Time{}))
			start := files.Start()
			assert.Zero(t, start.Decided(), "nothing is archived")
			assert.Nil(t, files.Archive())

			var whole []history.Event
			segments := 0
			require.NoError(t, files.Segments(t.Context(), func(events []history.Event) error {
				segments++
				whole = append(whole, events...)
				return nil
			}))
			assert.Equal(t, told(l.events), told(whole))
			assert.Equal(t, 4, segments)
			short, err := files.Short(t.Context())
			require.NoError(t, err)
			assert.Equal(t, condensed, told(short))

			s := files.Sealed
			having, err := s.Having(t.Context(), `"event":"decided"`)
			require.NoError(t, err)
			assert.Equal(t, decided, told(having))
			having, err = s.Having(t.Context(), `"digest-2"`, `"digest-9"`)
			require.NoError(t, err)
			assert.Equal(t, decided[1:2], told(having), "of what is sealed")
			never := func([]history.Event) bool { return false }
			latest, err := s.Latest(t.Context(), never, `"event":"decided"`)
			require.NoError(t, err)
			assert.Equal(t, decided, told(latest))
			latest, err = s.LatestWhole(t.Context(), func(events []history.Event) bool { return events[0].Header().Iteration == 2 }, `"event":"measured"`)
			require.NoError(t, err)
			assert.Equal(t, []string{"measured 2", "measured 3"}, told(latest))
			measured, is := latest[0].(*history.Measured)
			require.True(t, is)
			assert.Equal(t, printed, measured.Output)

			shown, left, err := s.Shown()
			require.NoError(t, err)
			assert.Equal(t, decided, told(shown))
			assert.Equal(t, 3*4, len(shown)+left, "lines are sealed")
			for number := 1; number <= 3; number++ {
				assert.True(t, s.MayHave(fmt.Sprintf("digest-%d", number)))
			}
			assert.False(t, s.MayHave("digest-4"), "it is not sealed yet")
		})
	}
}

// TestWhatIsArchivedIsNotThere: the rest of the ledger goes on from what it adds up to.
func TestWhatIsArchivedIsNotThere(t *testing.T) {
	t.Parallel()
	l := lived(t)
	c := newCheckout(t)
	var all []map[string]string
	for archived := 1; archived <= 3; archived++ {
		all = append(all, l.with(t, fmt.Sprintf("a%d", archived), l.archived(t, archived)))
		all = append(all, l.with(t, fmt.Sprintf("b%d", archived), merged(l.archived(t, archived), map[string]string{"checkpoint.json": "", "000003.short.jsonl": ""})))
	}
	c.begin(all...)
	for archived := 1; archived <= 3; archived++ {
		for _, kept := range []string{"a", "b"} {
			t.Run(fmt.Sprint(kept, archived), func(t *testing.T) {
				t.Parallel()
				files, _, err := c.Read(t.Context(), fmt.Sprint(kept, archived))
				require.NoError(t, err)
				before := history.Replay(l.events[:4*archived])
				start := files.Start()
				assert.Equal(t, before.Decided(), start.Decided())
				assert.Equal(t, before.Spent(time.Time{}), start.Spent(time.Time{}))
				last, names := files.Archive().Last()
				assert.Equal(t, archived, last)
				assert.Equal(t, archived, strings.Count(names, "part-"))
				log, err := files.Log()
				require.NoError(t, err)
				summary := log.Summary()
				assert.Equal(t, 12, summary.Decided())

				var whole []history.Event
				require.NoError(t, files.Segments(t.Context(), func(events []history.Event) error {
					whole = append(whole, events...)
					return nil
				}))
				assert.Equal(t, told(l.events[4*archived:]), told(whole[:len(whole)-1]), "the last is the setting that seals the archive")
				for _, e := range whole {
					start.Add(e)
				}
				assert.Equal(t, summary.Decided(), start.Decided())
				latest, err := files.Sealed.Latest(t.Context(), func([]history.Event) bool { return false }, "decided")
				require.NoError(t, err)
				assert.Len(t, latest, 3-archived)
				short, err := files.Short(t.Context())
				require.NoError(t, err)
				assert.Len(t, short, 3*(3-archived)+4*9+1)
				assert.True(t, files.Sealed.MayHave("digest-1"), "it was decided, and is archived")
			})
		}
	}
}

// TestBrokenSegmentsAreSaid: each reader says what it cannot read, and none takes it for
// what is not there.
func TestBrokenSegmentsAreSaid(t *testing.T) {
	t.Parallel()
	l := lived(t)
	open := string(l.open)
	gone := map[string]string{"000002.jsonl": "", "000002.short.jsonl": ""}
	forged := string(bytes.Replace(l.segments[1], []byte("rejected"), []byte("accepted"), 1))
	number := func(text string) map[string]string {
		return map[string]string{"": strings.Replace(open, `"segment":4`, `"segment":`+text, 1)}
	}
	archive := l.archived(t, 1)["archive.json"]
	const notThere, after = "segment 2: it is not there", "it goes on after a segment with the digest"
	cases := map[string]struct {
		changes                      map[string]string
		read, segments, short, other string // other is of Latest
	}{
		"missing":            {gone, "", notThere, notThere, notThere},
		"missing-summed-up":  {merged(gone, map[string]string{"checkpoint.json": ""}), notThere, notThere, notThere, notThere},
		"missing-but-short":  {map[string]string{"000002.jsonl": ""}, "", notThere, "", ""},
		"a-link":             {merged(gone, map[string]string{"000002.jsonl": "-> 000001.jsonl"}), "", notThere, notThere, notThere},
		"a-directory":        {merged(gone, map[string]string{"000002.jsonl/x": "x"}), "", notThere, notThere, notThere},
		"no-directory":       {map[string]string{"000001.jsonl": "", "000001.short.jsonl": "", "000002.jsonl": "", "000002.short.jsonl": "", "000003.jsonl": "", "000003.short.jsonl": "", "checkpoint.json": ""}, "segment 1: it is not there", "segment 1: it is not there", "segment 1: it is not there", "segment 3: it is not there"},
		"forged":             {map[string]string{"000002.jsonl": forged}, "", "segment 3, line 1: " + after, "", ""},
		"forged-summed-up":   {map[string]string{"000002.jsonl": forged, "checkpoint.json": ""}, "segment 3, line 1: " + after, "segment 3, line 1: " + after, "segment 3, line 1: " + after, ""},
		"the-last-is-forged": {map[string]string{"000003.jsonl": strings.Replace(string(l.segments[2]), "rejected", "accepted", 1), "checkpoint.json": ""}, "segment 4, line 1: " + after, "segment 4, line 1: " + after, "segment 4, line 1: " + after, ""},
		"no-JSON":            {map[string]string{"000002.jsonl": string(l.segments[1]) + "{\n", "000002.short.jsonl": "{decided\n"}, "", "segment 2: ledger line 6", "ledger line 1", "ledger line 1"},
		"doubled":            {map[string]string{"000003.jsonl": string(l.segments[1])}, "", "segment 3, line 1: it says that it is segment 2", "", ""},
		"by-a-newer-version": {map[string]string{"": strings.Replace(open, `"schema":2`, `"schema":99`, 1)}, "update Autoloop", "update Autoloop", "update Autoloop", ""},
		"one-by-a-newer":     {map[string]string{"000002.jsonl": strings.Replace(string(l.segments[1]), `"schema":2`, `"schema":99`, 1)}, "", "update Autoloop", "", ""},
		"one-more":           {number("5"), "segment 4: it is not there", "segment 4: it is not there", "segment 4: it is not there", "segment 4: it is not there"},
		"one-less":           {number("3"), after, after, after, ""},
		"the-first":          {number("1"), after, after, after, ""},
		"none":               {number("0"), "it says that it is segment 0", "it says that it is segment 0", "it says that it is segment 0", ""},
		"before-all":         {number("-9223372036854775808"), "9223372036854775807 segments, more than 100000", "", "", ""},
		"before-the-first":   {number("-1"), "it says that it is segment -1", "it says that it is segment -1", "it says that it is segment -1", ""},
		"very-many":          {number("9223372036854775807"), "9223372036854775806 segments", "", "", ""},
		"too-many":           {number("2000000000"), "1999999999 segments", "", "", ""},
		"archive-no-JSON":    {map[string]string{"archive.json": "{"}, "archive.json: read the archive", "", "", ""},
		"archive-of-less":    {map[string]string{"archive.json": strings.Replace(archive, `"segments":1`, `"segments":-1`, 1)}, "archive.json: read the archive", "", "", ""},
		"archive-of-more":    {map[string]string{"archive.json": strings.Replace(archive, `"segments":1`, `"segments":9223372036854775807`, 1), "checkpoint.json": ""}, "it says that it is segment 4", "it says that it is segment 4", "it says that it is segment 4", ""},
		"archive-of-another": {map[string]string{"archive.json": l.archived(t, 2)["archive.json"], "000003.jsonl": forged, "checkpoint.json": ""}, "segment 3, line 1: it says that it is segment 2", "segment 3, line 1: it says that it is segment 2", "segment 3, line 1: it says that it is segment 2", ""},
	}
	c := newCheckout(t)
	var all []map[string]string
	for name, test := range cases {
		all = append(all, l.with(t, name, test.changes))
	}
	c.begin(all...)
	said := func(t *testing.T, says string, err error) {
		t.Helper()
		if says == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, says)
		assert.NotContains(t, err.Error(), "\n")
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, _, err := c.Read(t.Context(), name)
			if err != nil {
				said(t, test.read, err)
				assert.Contains(t, err.Error(), name)
				return
			}
			_, err = files.Log()
			said(t, test.read, err)
			said(t, test.segments, files.Segments(t.Context(), func([]history.Event) error { return nil }))
			_, err = files.Short(t.Context())
			said(t, test.short, err)
			never := func([]history.Event) bool { return false }
			_, err = files.Sealed.Latest(t.Context(), never, "decided")
			said(t, test.other, err)
		})
	}
}

// TestLatestOfWhatIsNotNeeded: a segment that is missing is no error before one that was
// enough, whole or condensed.
func TestLatestOfWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	l := lived(t, 6)
	c := newCheckout(t)
	c.begin(l.with(t, "p", map[string]string{"000002.jsonl": "", "000002.short.jsonl": ""}))
	files, _, err := c.Read(t.Context(), "p")
	require.NoError(t, err)
	for _, latest := range []func(func([]history.Event) bool) ([]history.Event, error){
		func(enough func([]history.Event) bool) ([]history.Event, error) {
			return files.Sealed.Latest(t.Context(), enough, "decided")
		},
		func(enough func([]history.Event) bool) ([]history.Event, error) {
			return files.Sealed.LatestWhole(t.Context(), enough, `"event":"decided"`)
		},
	} {
		for first := 1; first <= 6; first++ {
			events, err := latest(func(events []history.Event) bool { return events[0].Header().Iteration == first })
			if first <= 2 {
				require.ErrorContains(t, err, "segment 2: it is not there")
				continue
			}
			require.NoError(t, err)
			require.Len(t, events, 7-first)
			assert.True(t, slices.IsSortedFunc(events, func(a, b history.Event) int { return a.Header().Iteration - b.Header().Iteration }))
		}
	}
}

// TestStatesThatAreNoFiles are left out of all states, and named where they are asked for.
func TestStatesThatAreNoFiles(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	head := c.begin(map[string]string{"a.md": "a\n", "b.md": "-> a.md", "c.md/x": "x", "d.md": "", "e.jsonl": "e\n", "f.md": "f\n", "f.md.bak": "old"})
	states, at, err := c.States(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head, at)
	assert.Equal(t, map[string][]byte{"a": []byte("a\n"), "d": {}, "f": []byte("f\n")}, states)
	for name, mode := range map[string]string{"b": "120000", "c": "040000"} {
		for _, read := range []func() (memory.Files, error){
			func() (memory.Files, error) { files, _, err := c.Read(t.Context(), name); return files, err },
			func() (memory.Files, error) { return c.At(t.Context(), head, name) },
		} {
			files, err := read()
			require.ErrorContains(t, err, name+".md on branch memory/autoloop is no regular file (mode "+mode+")")
			assert.Equal(t, memory.Files{}, files)
		}
	}
	files, err := c.At(t.Context(), head, "e")
	require.NoError(t, err)
	assert.Equal(t, memory.Files{Ledger: []byte("e\n")}, files)
	files, err = c.At(t.Context(), head, "gone")
	require.NoError(t, err)
	assert.Equal(t, memory.Files{}, files)
	_, err = c.At(t.Context(), "1111111111111111111111111111111111111111", "a")
	require.ErrorContains(t, err, "read the records of a")
}
