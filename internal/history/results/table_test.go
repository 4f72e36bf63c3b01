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
	"github.com/org/autoloop/tests/golden"
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
			table.Append(r, metric.Higher)
		}
		return &table
	}
	later := row(2, "4", results.Reverted, "two")
	later.Time = later.Time.Add(300 * time.Millisecond)
	moved := row(2, "4", results.Reverted, "two")
	moved.Time = moved.Time.In(time.FixedZone("east", 3600))
	for name, r := range map[string]results.Row{
		"the last again":           row(2, "4", results.Reverted, "two"),
		"in the same second":       later,
		"in another zone":          moved,
		"the last, another text":   row(2, "4", results.Reverted, "2"),
		"the last, another score":  row(2, "4.5", results.Reverted, "two"),
		"the last, no score":       row(2, "", results.Reverted, "two"),
		"the last, kept after all": row(2, "7", results.Kept, "three"),
		"an earlier one, another":  row(1, "9", results.Kept, "new"),
		"an earlier baseline":      row(0, "9", results.Baseline, "new"),
		"a baseline of the last":   row(2, "3", results.Baseline, "new"),
		"an iteration of before":   row(1, "9", results.Reverted, "odd"),
		"kept, and no better":      row(3, "5", results.Kept, "cheaper"),
		"a best of its own is no one": {
			Iteration: 3, Action: results.Reverted, Best: row(0, "99", results.Kept, "").Score, Time: start(),
		},
	} {
		table := begin()
		before := table.Bytes()
		held := string(before)
		table.Append(r, metric.Higher)
		golden.Row(t, name, string(table.Bytes()[len(results.Header):]))
		assert.Equal(t, held, string(before), "what was handed out stays")
		again, err := results.Parse([]byte(held))
		require.NoError(t, err)
		again.Append(r, metric.Higher)
		assert.Equal(t, string(table.Bytes()), string(again.Bytes()), "it is the same for a table that was read")
	}
}

// TestTablesThatOthersWrite are read as far as they are tables, and stay as they are.
func TestTablesThatOthersWrite(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"nothing":            "",
		"blank lines":        "\n \n\t\n",
		"a header alone":     "HEAD\n",
		"a header, no end":   "HEAD",
		"a header with more": "HEAD\tnote\n1\t2025-01-15\t1\t1\tkept\tx\n2\t2025-01-15\t\t\treverted\ty\tnote\n",
		"a byte order mark":  "\ufeffHEAD\n1\t2025-01-15\t1\t1\tkept\tx\n",
		"Windows":            "HEAD\r\n1\t2025-01-15T10:00:00Z\t1\t1\tkept\tx\r\n1\t2025-01-15T11:00:00+01:00\t1\t1\tkept\tx\r\n",
		"without a zone":     "HEAD\n1\t2025-01-15T10:00:00\t1\t1\tkept\tx\n1\t2025-01-15 10:00:00\t1\t1\tkept\tx\n",
		"spaces":             "HEAD\n 1 \t 2025-01-15 \t 1.50 \t +2 \t KEPT \t x \n",
		"null signs":         "HEAD\n1\t2025-01-15\t—\tnull\treverted\tx\n1\t2025-01-15\t-\t—\treverted\tx\n",
		"no changelog":       "HEAD\n1\t2025-01-15\t1\t1\tkept\n",
		"escapes":            "HEAD\n1\t2025-01-15\t1\t1\tkept\ta\\tb\\\\n\\x\\\n",
		"a last line":        "HEAD\n1\t2025-01-15\t1\t1\tkept\tx",
	}, func(t *testing.T, row string) any {
		whole := strings.ReplaceAll(row, "HEAD", results.Header)
		table, err := results.Parse([]byte(whole))
		require.NoError(t, err)
		rows := table.Rows()
		if len(rows) == 0 && !strings.Contains(whole, "iteration") {
			whole = results.Header + "\n"
		}
		assert.Equal(t, whole, string(table.Bytes()))
		table.Append(results.Row{Iteration: 9, Action: results.Reverted}, metric.Higher)
		added := strings.TrimSuffix(whole, "\n")
		assert.True(t, strings.HasPrefix(string(table.Bytes()), added+"\n9\t"), "%q", table.Bytes())
		again, err := results.Parse(table.Bytes())
		require.NoError(t, err)
		assert.Len(t, again.Rows(), len(rows)+1)
		var got strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&got, "%d %s %s %s %s %q; ", r.Iteration, r.Time.Format(time.RFC3339), text(r.Score),
				text(r.Best), r.Action, r.Changelog)
		}
		return got.String()
	})
}

// TestTablesThatAreRefused name the line, and what is wrong with it, in one short line.
func TestTablesThatAreRefused(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"a header of fewer":    "iteration\ttimestamp\tscore\n",
		"a header turned":      "timestamp\titeration\tscore\tbest_score\taction\tchangelog\n",
		"no header":            "1\t2025-01-15\t1\t1\tkept\tx\n",
		"a percentage":         "HEAD\n1\t2025-01-15\t85%\t1\tkept\tx\n",
		"below zero":           "HEAD\n-1\t2025-01-15\t1\t1\tkept\tx\n",
		"another action":       "HEAD\n1\t2025-01-15\t1\t1\tliked\tx\n",
		"a second header":      "HEAD\nHEAD\n",
		"a mark in the second": "HEAD\n\ufeff1\t2025-01-15\t1\t1\tkept\tx\n",
		"a fraction":           "HEAD\n1.5\t2025-01-15\t1\t1\tkept\tx\n",
		"a count beyond":       "HEAD\nLONG\t2025-01-15\t1\t1\tkept\tx\n",
		"four columns":         "HEAD\n\r\n1\t2025-01-15\t1\t1\n",
		"no columns":           "HEAD\ntext\n",
		"a time of day":        "HEAD\n1\t10:00\t1\t1\tkept\tx\n",
		"the 30th of February": "HEAD\n1\t2025-02-30\t1\t1\tkept\tx\n",
		"no time":              "HEAD\n1\t\t1\t1\tkept\tx\n",
		"an infinite score":    "HEAD\n1\t2025-01-15\tinf\t1\tkept\tx\n",
		"an endless score":     "HEAD\n1\t2025-01-15\tLONG\t1\tkept\tx\n",
		"a best of words":      "HEAD\n1\t2025-01-15\t1\tbest\tkept\tx\n",
		"no action":            "HEAD\n1\t2025-01-15\t1\t1\t\tx\n",
		"an endless action":    "HEAD\n1\t2025-01-15\t1\t1\tLONG\tx\n",
		"a line beyond bounds": "HEAD\n1\t2025-01-15\t1\t1\tkept\tLONGER\n",
	}, func(t *testing.T, text string) any {
		_, err := results.Parse([]byte(strings.NewReplacer("HEAD", results.Header, "LONGER", strings.Repeat("x", 1<<20),
			"LONG", strings.Repeat("9", 5000)).Replace(text)))
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 400)
		return err
	})
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
		written.Append(r, metric.Higher)
	}
	assert.Equal(t, file, string(written.Bytes()))
	written.Append(row(3, "0.85", results.Kept, "corrected"), metric.Higher)
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
