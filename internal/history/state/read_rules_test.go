package state_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

// TestTimesThatPeopleWrite are read in UTC, those without a zone as UTC already.
func TestTimesThatPeopleWrite(t *testing.T) {
	t.Parallel()
	const noon = "2026-03-04T12:00:00Z"
	for text, want := range map[string]string{
		"2026-03-04T12:00:00Z":           noon,
		"2026-03-04t12:00:00z":           noon,
		"2026-03-04T14:00:00+02:00":      noon,
		"2026-03-04T12:00:00.999Z":       "2026-03-04T12:00:00Z",
		"2026-03-04T12:00:00":            noon,
		"2026-03-04 12:00:00Z":           noon,
		"2026-03-04 12:00:00 +00:00":     noon,
		"2026-03-04 07:00:00-05:00":      noon,
		"2026-03-04 12:00:00":            noon,
		"2026-03-04T12:00Z":              noon,
		"2026-03-04 14:00+02:00":         noon,
		"2026-03-04T12:00":               noon,
		"2026-03-04 12:00":               noon,
		"2026-03-04 12:00 UTC":           noon,
		"2026-03-04 12:00 gmt":           noon,
		"2026-03-04 12:00:00 UTC":        noon,
		"2026-03-04 12:00:00UTC":         "", // no word of its own
		"2026-03-04T12:00:00+0000":       noon,
		"2026-03-04 07:00:00 -0500":      noon,
		"2026-03-04":                     "2026-03-04T00:00:00Z",
		"2026-03-04 UTC":                 "2026-03-04T00:00:00Z",
		"**2026-03-04**":                 "2026-03-04T00:00:00Z",
		"_`2026-03-04T12:00Z`_":          noon,
		"2024-02-29":                     "2024-02-29T00:00:00Z",
		"2026-02-29":                     "",
		"2026-3-4":                       "",
		"04.03.2026":                     "",
		"12:00":                          "",
		"March 4, 2026":                  "",
		"2026-03-04T25:00:00Z":           "",
		"2026-03-04T12:00:00Z (run 7)":   "",
		"2026-03-04T12:00:00Z UTC":       noon,
		"1772625600":                     "",
		"2026-03-04 12:00 CET":           "",
		strings.Repeat("2026-03-04 ", 9): "",
	} {
		m, _, err := state.ParseMachine([]byte(table + "| Last Run | " + text + " |\n"))
		if want == "" {
			require.ErrorContains(t, err, "not a time such as 2025-01-15T10:30:00Z", text)
			continue
		}
		require.NoError(t, err, text)
		require.NotNil(t, m.LastRun, text)
		assert.Equal(t, want, m.LastRun.Format(time.RFC3339), text)
		assert.Equal(t, time.UTC, m.LastRun.Location(), text)
	}
}

// TestValuesThatPeopleWrite of the other kinds of rows.
func TestValuesThatPeopleWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, field, want, texts string }{ // ! is an error, and semicolons separate texts
		{"Iteration Count", "IterationCount", "7", "7;`7`;**7**;007;+7"},
		{"Iteration Count", "IterationCount", "0", "0;;—;— (first run);n/a;--"},
		{"Iteration Count", "IterationCount", "1000000000", "1000000000"},
		{
			"Iteration Count", "IterationCount", "!",
			"1000000001;-1;7.0;7 iterations;1e3;99999999999999999999;seven;(12)",
		},
		{"Consecutive Errors", "ConsecutiveErrors", "3", "3"},
		{"Consecutive Errors", "ConsecutiveErrors", "0", ";none"},
		{"Consecutive Errors", "ConsecutiveErrors", "!", "x;pending CI;-1"},
		{"Best Metric", "BestMetric", "0.85", "0.850"},
		{"Best Metric", "BestMetric", "-3", "-3"},
		{"Best Metric", "BestMetric", "1e-300", "1e-300"},
		{"Best Metric", "BestMetric", "1.5", "`1.5`;1.5 ms"},
		{"Best Metric", "BestMetric", "9007199254740993", "9007199254740993"},
		{"Best Metric", "BestMetric", "<nil>", ";null;N/A;pending ci;*Pending CI*;— (was 3)"},
		{"Best Metric", "BestMetric", "1", "1 000"},
		{
			"Best Metric", "BestMetric", "!",
			"85%;1,5;ms 1.5;inf;nan;0x10;(0.95);— (was 3) 4;— 4;(new PR this run, #135 was previous)",
		},
		{"Target Metric", "TargetMetric", "0.9", "0.9"},
		{"Target Metric", "TargetMetric", "!", "pending CI"},
		{"Paused", "Paused", "true", "true;True;YES;yes, by Ana;`true`;true (since Monday);(true);**TRUE** (by Ana)"},
		{"Paused", "Paused", "false", "false;no;No.;;—"},
		{"Paused", "Paused", "!", "1;on;trueish;maybe;ja;✅;pending CI"},
		{"Metric Direction", "Direction", "higher", "higher;;—"},
		{"Metric Direction", "Direction", "lower", "LOWER;`lower`"},
		{"Metric Direction", "Direction", "!", "up;lower is better;(lower)"},
		{"Metric Direction", "DirectionGiven", "true", "higher;LOWER"},
		{"Metric Direction", "DirectionGiven", "false", ";—"},
		{
			"PR", "PR", "12",
			"#12;12;PR #12;[#12](https://github.com/o/r/pull/12);" +
				"https://github.com/o/r/pull/12;o/r#12;#12, #13;# 12;(#12);#12 (open)",
		},
		{"PR", "PR", "135", "(new PR, #135)"},
		{
			"PR", "PR", "0",
			"https://github.com/o/r/pull/12/;#0;#-1;-12;#1000000001;#;draft;;pending CI;" +
				"(new PR this run, #135 was previous)",
		},
		{"Pull Request", "PR", "12", "#12"},
		{"Issue", "Issue", "7", "#7"},
		{"Issue", "Issue", "0", "pending CI"},
		{"Branch", "Branch", "autoloop/x", "`autoloop/x`;autoloop/x;**autoloop/x**"},
		{"Branch", "Branch", "a b", "a b"},
		{"Branch", "Branch", "", ";—;-;- (not pushed)"},
		{"Pause Reason", "PauseReason", "rest", "rest"},
		{"Pause Reason", "PauseReason", "a | b", `a | b;a \| b`},
		{"Pause Reason", "PauseReason", `a \| b`, `a \\| b`},
		{"Pause Reason", "PauseReason", "**bold** and `code`", "**bold** and `code`"},
		{"Pause Reason", "PauseReason", "", ";—;none;(none)"},
		{"Pause Reason", "PauseReason", "— (no run yet)", "— (no run yet)"},
		{"Pause Reason", "PauseReason", "pending CI", "pending CI"},
		{"Pause Reason", "PauseReason", "a|", `a|;a\|`},
		{"Pause Reason", "PauseReason", `a|b\c | d`, `a\|b\\c \| d`},
		{"Recent Statuses", "RecentStatuses", "[accepted rejected]", "accepted, rejected;Accepted,REJECTED"},
		{"Recent Statuses", "RecentStatuses", "[accepted rejected error pending-ci]", "✅, ❌, ⚠️, ⏳"},
		{"Recent Statuses", "RecentStatuses", "[accepted]", "✅ accepted (31→32);accepted,, ,—"},
		{"Recent Statuses", "RecentStatuses", "[pending-ci]", "pending CI"},
		{"Recent Statuses", "RecentStatuses", "[error error]", "`error`, **error**"},
		{"Recent Statuses", "RecentStatuses", "[baseline]", "baseline"},
		{"Recent Statuses", "RecentStatuses", "[rejected accepted]", "rejected (tie), accepted"},
		{"Recent Statuses", "RecentStatuses", "[]", ""},
		{"Recent Statuses", "RecentStatuses", "[rejected]", "❌ (iter 38);⚠️ **rejected**"},
		{"Recent Statuses", "RecentStatuses", "[ci-fix-exhausted inconclusive]", "ci-fix-exhausted, inconclusive"},
		{"Pause Reason", "PauseReason", "\uFFFD", "\xff"},
	} {
		for _, text := range strings.Split(c.texts, ";") {
			m, _, err := state.ParseMachine([]byte(table + "| " + c.row + " | " + text + " |\n"))
			if c.want == "!" {
				var problem *state.Problem
				require.ErrorAs(t, err, &problem, "%s: %s", c.row, text)
				assert.Equal(t, 5, problem.Line)
				assert.Contains(t, problem.Message, c.row+" is ")
				assert.Contains(t, problem.Message, "correct the cell, or write — for none")
				continue
			}
			require.NoError(t, err, "%s: %s", c.row, text)
			got := reflect.ValueOf(m).FieldByName(c.field).Interface()
			assert.Equal(t, c.want, fmt.Sprint(got), "%s: %s", c.row, text)
		}
	}
}

// TestPlacesOfRows: in the first section of that name, in any table or line with a pipe,
// and nowhere else.
func TestPlacesOfRows(t *testing.T) {
	t.Parallel()
	const head = "## Machine State\n"
	for name, c := range map[string]struct {
		text  string
		count int // -1 for no table
	}{
		"no emoji's selector":  {"# ⚙ machine STATE ##\r\n| Iteration Count | 7 |\r\n", 7},
		"a byte order mark":    {"\ufeff" + head + "| Iteration Count | 7 |\n", 7},
		"an open fence before": {"```\n" + head + "| Iteration Count | 7 |\n", 7},
		"a fence before":       {"```\n" + head + "| Iteration Count | 9 |\n```\n" + head + "Iteration Count | 7\n", 7},
		"no text":              {"\x00\x01\xff\xfe", -1},
		"in a table":           {head + "| Iteration Count | 7 |\n", 7},
		"without pipes around": {head + "Iteration Count | 7\n", 7},
		"in a list":            {head + "- Iteration Count | 7\n", 7},
		"indented":             {head + "   | Iteration Count | 7 |\n", 7},
		"with more columns":    {head + "| Iteration Count | 7 | 8 | 9 |\n", 7},
		"in bold":              {head + "| **Iteration Count** | 7 |\n", 7},
		"with a sign":          {head + "| 🔢 Iteration-Count: | 7 |\n", 7},
		"in capitals":          {head + "| ITERATION COUNT | 7 |\n", 7},
		"after prose and another": {head +
			"\nsome | prose\n\n| Own | 3 |\n|---|---|\n\ntext\n\n| Iteration Count | 7 |\n", 7},
		"of another name": {head + "| Iteration Counts | 7 |\n| Paused | no |\n", 0},
		"of a longer name": {head +
			"| Iteration Count of all the runs that this program ever had | 7 |\n| Paused | no |\n", 0},
		"in a fence":                   {head + "```\n| Iteration Count | 7 |\n```\n| Paused | no |\n", 0},
		"in a comment":                 {head + "<!-- | Iteration Count | 7 | -->\n| Paused | no |\n", 0},
		"in a fence that is not ended": {head + "~~~\n| Iteration Count | 7 |\n", 7},
		"behind the next heading":      {head + "| Paused | no |\n###### x\n| Iteration Count | 7 |\n", 0},
		"behind seven signs":           {head + "| Paused | no |\n####### x\n| Iteration Count | 7 |\n", 7},
		"in the second section":        {head + "| Paused | no |\n" + head + "| Iteration Count | 7 |\n", 0},
		"in front of the section":      {"| Iteration Count | 7 |\n" + head + "| Paused | no |\n", 0},
		"a cell without an end":        {head + "| Iteration Count | 7", 7},
		"no cell":                      {head + "| Iteration Count |\n", 0},
		"no pipe":                      {head + "Iteration Count 7\n", -1},
		"an escaped pipe":              {head + "| Iteration Count \\| 7 |\n", -1},
		"no row that is known":         {head + "| Own | 7 |\n", -1},
		"no section":                   {"# Notes\n| Iteration Count | 7 |\n", -1},
		"a heading of more words":      {"## Machine State (kept by Autoloop)\n| Iteration Count | 7 |\n", 7},
		"a heading of other words":     {"## State Machine\n| Iteration Count | 7 |\n", -1},
		"a heading without a space":    {"##Machine State\n| Iteration Count | 7 |\n", -1},
		"a heading that is indented":   {"    ## Machine State\n| Iteration Count | 7 |\n", -1},
	} {
		m, _, err := state.ParseMachine([]byte(c.text))
		if c.count < 0 {
			require.ErrorContains(t, err, "no Machine State table with known rows", name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.count, m.IterationCount, name)
	}
}

// TestFileTooLargeForState is refused, and what to do is said.
func TestFileTooLargeForState(t *testing.T) {
	t.Parallel()
	most := []byte(table + "| Iteration Count | 7 |\n" + strings.Repeat("x", 1<<20))[:1<<20]
	m, _, err := state.ParseMachine(most)
	require.NoError(t, err)
	assert.Equal(t, 7, m.IterationCount)
	more := append(most, 'x')
	_, _, err = state.ParseMachine(more)
	golden.Row(t, "the state file has", err)
	_, known := state.OldestFirst(more)
	assert.False(t, known)
}

// TestHostileMarkdownIsReadInTime: fences and comments that nothing closes are not looked
// for again and again.
func TestHostileMarkdownIsReadInTime(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"fences": "```\n", "longer fences": "~~~~~~~\n", "comments": "<!--\n",
		"headings": "## Machine State\n", "rows": "| Iteration Count | 7 |\n", "pipes": "||||||||||\\|\n",
	} {
		text := table + "| Paused | no |\n" + strings.Repeat(line, (1<<19)/len(line))
		doc, err := state.Parse([]byte(text))
		require.NoError(t, err, name)
		doc.AddEntry(entry(3))
		assert.Contains(t, string(doc.Bytes()), "### Iteration 3 ", name)
	}
}
