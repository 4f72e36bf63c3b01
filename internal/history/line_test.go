package history

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strange are lines that no version has written so far, or none but a later one.
var strange = []string{
	`{"event":"telepathy","x":9007199254740993,"deep":{"b":[1,{"a":null}]}}`,
	`{"schema":7,"event":"measured","time":"2026-01-02T12:00:00.000Z","future":{"a":1},"role":"baseline","metric":1.50,"more":"é\u00e9"}`,
	`{"a":1, "schema":1,"event":"decided" ,"outcome":"accepted","metric":1e3,"role":"of another kind","later":[1.0]}`,
	`{"schema":1,"event":"set","time":"2026-01-02T12:00:00+02:00","run_id":"r","iteration":1,"key":"k","value":""}`,
	`{"x":"\"event\":\"set\"","schema":1,"event":"paused","reason":"<&>"}`,
	`{"schema":1,"event":"set","key":"issue","event":"answered"}`,
}

// frozen are the lines of every ledger and bundle that is kept as earlier versions
// wrote it.
func frozen(t testing.TB) []string {
	t.Helper()
	var lines []string
	require.NoError(t, filepath.WalkDir("../../tests/testdata/compat", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, `{"schema":1,"event":`) {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		return err
	}))
	require.Greater(t, len(lines), 50)
	return lines
}

func TestLinesStayAsTheyWereRead(t *testing.T) {
	t.Parallel()
	for _, line := range append(frozen(t), strange...) {
		e, err := ParseEvent([]byte(line))
		require.NoError(t, err, line)
		again, err := Line(e)
		require.NoError(t, err)
		assert.Equal(t, line+"\n", string(again))
	}
}

// TestKindIsThatOfTheLine: the first "event" of a line is not always its own, and a
// line that its own kind can read is read.
func TestKindIsThatOfTheLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		kind Kind // "" for an error
	}{
		"after an object with one":            {`{"deep":{"event":"measured"},"event":"set","key":"k"}`, "set"},
		"after an object with another's":      {`{"deep":{"event":"measured"},"metric":"none","event":"set"}`, "set"},
		"of a later version, after an object": {`{"deep":{"event":"measured"},"metric":"none","event":"telepathy"}`, "telepathy"},
		"only in an object":                   {`{"deep":{"event":"measured"}}`, ""},
		"with a space":                        {`{"event": "set"}`, "set"},
		"the last of two":                     {`{"event":"measured","event":"set"}`, "set"},
		"wrong by either of two":              {`{"event":"decided","samples":[""],"event":"measured","target":""}`, ""},
		"empty":                               {`{"event":""}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := ParseEvent([]byte(c.line))
			if c.kind == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.kind, e.kind())
			assert.Equal(t, c.kind, e.Header().Event)
		})
	}
}

// TestKnownFieldsAreAllOfALine renders frozen lines from the structs alone: what is
// in them is in the struct of its kind, and in its order.
func TestKnownFieldsAreAllOfALine(t *testing.T) {
	t.Parallel()
	seen := map[Kind]bool{}
	for _, line := range frozen(t) {
		e, err := ParseEvent([]byte(line))
		require.NoError(t, err, line)
		text, err := render(e)
		require.NoError(t, err)
		assert.Equal(t, line, string(text))
		seen[e.kind()] = true
	}
	assert.Len(t, seen, len(kinds), "every kind is among them")
}

// TestChangedEventsKeepWhatIsNotKnown changes an event that was read: fields that
// this version does not know stay where they were.
func TestChangedEventsKeepWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	e, err := ParseEvent([]byte(`{"first":1,"schema":1,"event":"decided","time":"2026-01-02T12:00:00Z","run_id":"r","iteration":3,"gpu":{"b":2,"a":1.0},"outcome":"pending-ci","best":1.5,"commit":"c","focus":"f","last":null}`))
	require.NoError(t, err)
	d, is := e.(*Decided)
	require.True(t, is)
	d.Outcome, d.Commit, d.Failing = CIFixExhausted, "", []Check{{Name: "build"}}
	line, err := Line(Stamp(d, "r2", time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)))
	require.NoError(t, err)
	assert.Equal(t, `{"first":1,"schema":1,"event":"decided","time":"2026-01-03T00:00:00Z","run_id":"r2","iteration":3,"gpu":{"b":2,"a":1.0},"outcome":"ci-fix-exhausted","best":1.5,"failing_checks":[{"name":"build"}],"focus":"f","last":null}`+"\n", string(line)) //nolint:testifylint // the order and every byte count
	assert.Equal(t, "r", d.Run, "a stamp is on a copy")
}

// FuzzEvent looks for a line that is read and comes out otherwise, and for one that
// loses a field that this version does not know when it is changed.
func FuzzEvent(f *testing.F) {
	for _, line := range append(frozen(f), strange...) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseEvent(line)
		if err != nil {
			return
		}
		again, err := Line(e)
		require.NoError(t, err)
		require.Equal(t, string(line)+"\n", string(again))
		changed, err := Line(Stamp(e, "another run", e.Header().Time))
		require.NoError(t, err)
		back, err := ParseEvent(bytes.TrimSuffix(changed, []byte("\n")))
		require.NoError(t, err)
		require.Equal(t, e.kind(), back.kind())
		if e.Header().Run != "another run" {
			require.Equal(t, "another run", back.Header().Run)
		}
	})
}
