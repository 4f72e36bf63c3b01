package results_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

// TestRecordingAgain: a row that is there already stays as it is, unless it is the last and
// says something else now.
func TestRecordingAgain(t *testing.T) {
	t.Parallel()
	begin := func() *results.Table {
		var table results.Table
		for _, r := range []results.Row{
			row(0, "5", results.Baseline, "b"), row(1, "6", results.Kept, "one"),
			row(2, "4", results.Reverted, "two"),
		} {
			require.NoError(t, table.Append(r, metric.Higher))
		}
		return &table
	}
	const zero, one, two = "0\t2025-01-15T10:30:00+00:00\t5\t5\tbaseline\tb\n",
		"1\t2025-01-15T11:30:00+00:00\t6\t6\tkept\tone\n", "2\t2025-01-15T12:30:00+00:00\t4\t6\treverted\ttwo\n"
	later := row(2, "4", results.Reverted, "two")
	later.Time = later.Time.Add(300 * time.Millisecond)
	moved := row(2, "4", results.Reverted, "two")
	moved.Time = moved.Time.In(time.FixedZone("east", 3600))
	for name, c := range map[string]struct {
		row  results.Row
		want string
	}{
		"the last again":     {row(2, "4", results.Reverted, "two"), zero + one + two},
		"in the same second": {later, zero + one + two},
		"in another zone":    {moved, zero + one + two},
		"the last, another text": {
			row(2, "4", results.Reverted, "2"),
			zero + one + strings.Replace(two, "two", "2", 1),
		},
		"the last, another score": {
			row(2, "4.5", results.Reverted, "two"),
			zero + one + strings.Replace(two, "\t4\t", "\t4.5\t", 1),
		},
		"the last, no score": {
			row(2, "", results.Reverted, "two"),
			zero + one + strings.Replace(two, "\t4\t", "\t\t", 1),
		},
		"the last, kept after all": {
			row(2, "7", results.Kept, "three"),
			zero + one + two + "2\t2025-01-15T12:30:00+00:00\t7\t7\tkept\tthree\n",
		},
		"an earlier one, another": {row(1, "9", results.Kept, "new"), zero + one + two},
		"an earlier baseline":     {row(0, "9", results.Baseline, "new"), zero + one + two},
		"a baseline of the last": {
			row(2, "3", results.Baseline, "new"),
			zero + one + two + "2\t2025-01-15T12:30:00+00:00\t3\t3\tbaseline\tnew\n",
		},
		"an iteration of before": {
			row(1, "9", results.Reverted, "odd"),
			zero + one + two + "1\t2025-01-15T11:30:00+00:00\t9\t6\treverted\todd\n",
		},
		"an action of no row":     {results.Row{Iteration: 3, Action: "Kept"}, zero + one + two},
		"an iteration below zero": {results.Row{Iteration: -3, Action: results.Kept}, zero + one + two},
		"a best of its own is no one": {
			results.Row{
				Iteration: 3, Action: results.Reverted,
				Best: row(0, "99", results.Kept, "").Score, Time: start(),
			},
			zero + one + two + "3\t2025-01-15T10:30:00+00:00\t\t6\treverted\t\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := begin()
			before := table.Bytes()
			held := string(before)
			err := table.Append(c.row, metric.Higher)
			assert.Equal(t, c.row.Iteration < 0 || c.row.Action == "Kept", err != nil)
			assert.Equal(t, results.Header+"\n"+c.want, string(table.Bytes()))
			assert.Equal(t, held, string(before), "what was handed out stays")
			again, err := results.Parse([]byte(held))
			require.NoError(t, err)
			_ = again.Append(c.row, metric.Higher)
			assert.Equal(t, string(table.Bytes()), string(again.Bytes()), "it is the same for a table that was read")
		})
	}
}

// TestTablesThatOthersWrite are read as far as they are tables, and stay as they are.
func TestTablesThatOthersWrite(t *testing.T) {
	t.Parallel()
	const head = results.Header + "\n"
	when := func(text string) string { return "1\t" + text + "\t1\t1\tkept\tx\n" }
	for name, c := range map[string]struct {
		text string
		want string // iteration, time, score, best, action and changelog of each row
	}{
		"nothing":          {"", ""},
		"blank lines":      {"\n \n\t\n", ""},
		"a header alone":   {head, ""},
		"a header, no end": {results.Header, ""},
		"a header with more": {
			results.Header + "\tnote\n" + when("2025-01-15") +
				"2\t2025-01-15\t\t\treverted\ty\tnote\n",
			"1 2025-01-15T00:00:00Z 1 1 kept x; 2 2025-01-15T00:00:00Z   reverted y; ",
		},
		"a byte order mark": {"\ufeff" + head + when("2025-01-15"), "1 2025-01-15T00:00:00Z 1 1 kept x; "},
		"Windows": {strings.ReplaceAll(head+when("2025-01-15T10:00:00Z")+when("2025-01-15T11:00:00+01:00"),
			"\n", "\r\n"), "1 2025-01-15T10:00:00Z 1 1 kept x; 1 2025-01-15T10:00:00Z 1 1 kept x; "},
		"without a zone": {
			head + when("2025-01-15T10:00:00") + when("2025-01-15 10:00:00"),
			"1 2025-01-15T10:00:00Z 1 1 kept x; 1 2025-01-15T10:00:00Z 1 1 kept x; ",
		},
		"spaces": {
			head + " 1 \t 2025-01-15 \t 1.50 \t +2 \t KEPT \t x \n",
			"1 2025-01-15T00:00:00Z 1.5 2 kept x; ",
		},
		"null signs": {
			head + "1\t2025-01-15\t—\tnull\treverted\tx\n1\t2025-01-15\t-\t—\treverted\tx\n",
			"1 2025-01-15T00:00:00Z   reverted x; 1 2025-01-15T00:00:00Z   reverted x; ",
		},
		"no changelog": {head + "1\t2025-01-15\t1\t1\tkept\n", "1 2025-01-15T00:00:00Z 1 1 kept ; "},
		"escapes": {
			head + `1	2025-01-15	1	1	kept	a\tb\\n\x\` + "\n",
			"1 2025-01-15T00:00:00Z 1 1 kept a\tb\\n\\x\\; ",
		},
		"a last line": {
			head + strings.TrimSuffix(when("2025-01-15"), "\n"),
			"1 2025-01-15T00:00:00Z 1 1 kept x; ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := results.Parse([]byte(c.text))
			require.NoError(t, err)
			var got strings.Builder
			for _, r := range table.Rows() {
				fmt.Fprintf(&got, "%d %s %s %s %s %s; ", r.Iteration, r.Time.Format(time.RFC3339), text(r.Score),
					text(r.Best), r.Action, r.Changelog)
			}
			assert.Equal(t, c.want, got.String())
			want := c.text
			if c.want == "" && !strings.Contains(c.text, "iteration") {
				want = head
			}
			assert.Equal(t, want, string(table.Bytes()))
			require.NoError(t, table.Append(row(9, "1", results.Reverted, "added"), metric.Higher))
			added := strings.TrimSuffix(want, "\n")
			assert.True(t, strings.HasPrefix(string(table.Bytes()), added+"\n9\t"), "%q", table.Bytes())
			again, err := results.Parse(table.Bytes())
			require.NoError(t, err)
			assert.Len(t, again.Rows(), len(table.Rows()))
		})
	}
}

// TestTablesThatAreRefused name the line, and what is wrong with it, in one short line.
func TestTablesThatAreRefused(t *testing.T) {
	t.Parallel()
	const head = results.Header + "\n"
	const when = "1\t2025-01-15\t1\t1\tkept\tx\n"
	long := strings.Repeat("9", 5000)
	for name, c := range map[string]struct{ text, says string }{
		"a header of fewer": {"iteration\ttimestamp\tscore\n", `line 1: it is not the header "iteration`},
		"a header turned": {
			"timestamp\titeration\tscore\tbest_score\taction\tchangelog\n",
			"results line 1: it is not the header",
		},
		"no header":            {when, "line 1: it is not the header"},
		"a percentage":         {head + "1\t2025-01-15\t85%\t1\tkept\tx\n", `the score "85%" is not a number`},
		"below zero":           {head + "-1\t2025-01-15\t1\t1\tkept\tx\n", `the iteration "-1"`},
		"another action":       {head + "1\t2025-01-15\t1\t1\tliked\tx\n", `the action "liked"`},
		"a second header":      {head + head, `line 2: the iteration "iteration" is no`},
		"a mark in the second": {head + "\ufeff1\t2025-01-15\t1\t1\tkept\tx\n", "line 2: the iteration"},
		"a fraction":           {head + "1.5\t2025-01-15\t1\t1\tkept\tx\n", `line 2: the iteration "1.5" is no count`},
		"a count beyond":       {head + long + "\t2025-01-15\t1\t1\tkept\tx\n", "line 2: the iteration \"9999"},
		"four columns":         {head + "\r\n1\t2025-01-15\t1\t1\n", "line 3: 4 columns, where 6 are needed"},
		"no columns":           {head + "text\n", "line 2: 1 columns"},
		"a time of day": {
			head + "1\t10:00\t1\t1\tkept\tx\n",
			"time such as 2025-01-15T10:30:00+00:00",
		},
		"the 30th of February": {head + "1\t2025-02-30\t1\t1\tkept\tx\n", "line 2: the timestamp"},
		"no time":              {head + "1\t\t1\t1\tkept\tx\n", "line 2: the timestamp \"\""},
		"an infinite score": {
			head + "1\t2025-01-15\tinf\t1\tkept\tx\n",
			`line 2: the score "inf" is not a finite`,
		},
		"an endless score": {head + "1\t2025-01-15\t" + long + "\t1\tkept\tx\n", "line 2: the score"},
		"a best of words": {
			head + "1\t2025-01-15\t1\tbest\tkept\tx\n",
			`line 2: the best_score "best" is not a`,
		},
		"no action": {
			head + "1\t2025-01-15\t1\t1\t\tx\n",
			`line 2: the action "" is not baseline,`,
		},
		"an endless action": {head + "1\t2025-01-15\t1\t1\t" + long + "\tx\n", "line 2: the action \"9999"},
		"a line beyond bounds": {
			head + "1\t2025-01-15\t1\t1\tkept\t" + strings.Repeat("x", 1<<20) + "\n",
			"line 2: it has more than 1048576 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.Parse([]byte(c.text))
			require.ErrorContains(t, err, c.says)
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// TestQuotedFieldsAreThoseOfPython: the file is what its csv module writes with tabs between
// fields, and is written so again.
func TestQuotedFieldsAreThoseOfPython(t *testing.T) {
	t.Parallel()
	const file = results.Header + "\n" +
		"0\t2025-01-15T10:30:00+00:00\t0.66\t0.66\tbaseline\tInitial evaluation\n" +
		"1\t2025-01-15T11:30:00+00:00\t0.78\t0.78\tkept\t\"added \"\"Output format\"\"\nwith a\ttab\"\n" +
		"2\t2025-01-15T12:30:00+00:00\t0.72\t0.78\treverted\t\"a \\n b, 5\"\" wide\"\n" +
		"3\t2025-01-15T13:30:00+00:00\t0.85\t0.85\tkept\t\n"
	texts := []string{"Initial evaluation", "added \"Output format\"\nwith a\ttab", `a \n b, 5" wide`, ""}
	table, err := results.ParseQuoted([]byte(file))
	require.NoError(t, err)
	written, err := results.ParseQuoted(nil)
	require.NoError(t, err)
	for i, r := range table.Rows() {
		assert.Equal(t, texts[i], r.Changelog)
		require.NoError(t, written.Append(r, metric.Higher))
	}
	assert.Equal(t, file, string(written.Bytes()))
	require.NoError(t, written.Append(row(3, "0.85", results.Kept, "corrected"), metric.Higher))
	assert.Len(t, written.Rows(), 4, "the last row in place of itself")

	for field, read := range map[string]string{
		`"a""b"`: `a"b`, `a"b`: `a"b`, `a""b`: `a""b`, `""`: "", `"open`: "open",
		"\"two\r\nlines\"": "two\nlines",
	} {
		table, err := results.ParseQuoted(
			[]byte(results.Header + "\r\n1\t2025-01-15\t1\t1\tkept\t" + field + "\tmore\r\n"))
		if field == `"open` {
			read = "open\tmore"
		}
		require.NoError(t, err, field)
		require.Len(t, table.Rows(), 1, field)
		assert.Equal(t, read, table.Rows()[0].Changelog, field)
	}
	_, err = results.ParseQuoted([]byte(file + "x\t2025-01-15\t1\t1\tkept\tx\n"))
	require.ErrorContains(t, err, "line 7: the iteration", "a row may have several lines")
}
