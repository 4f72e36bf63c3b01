package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
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
			require.ErrorContains(t, err, "which is not a time such as 2025-01-15T10:30:00Z", text)
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
	for row, c := range map[string]struct {
		read func(state.Machine) any
		want map[string]any // nil for an error
	}{
		"Iteration Count": {func(m state.Machine) any { return m.IterationCount }, map[string]any{
			"7": 7, "`7`": 7, "**7**": 7, "007": 7, "+7": 7, "0": 0, "1000000000": 1_000_000_000, "": 0, "—": 0,
			"1000000001": nil, "-1": nil, "7.0": nil, "7 iterations": nil, "1e3": nil, "99999999999999999999": nil,
			"seven": nil, "— (first run)": 0, "(12)": nil, "n/a": 0, "--": 0,
		}},
		"Consecutive Errors": {
			func(m state.Machine) any { return m.ConsecutiveErrors },
			map[string]any{"3": 3, "": 0, "none": 0, "x": nil, "pending CI": nil},
		},
		"Best Metric": {func(m state.Machine) any { return metric.Text(m.BestMetric, "none") }, map[string]any{
			"0.850": "0.85", "-3": "-3", "1e-300": "1e-300", "`1.5`": "1.5", "1.5 ms": "1.5",
			"9007199254740993": "9007199254740993", "": "none", "null": "none", "N/A": "none",
			"pending ci": "none", "— (was 3)": "none", "85%": nil, "1,5": nil, "ms 1.5": nil, "inf": nil, "0x10": nil,
			"1 000": "1", "nan": nil, "*Pending CI*": "none", "(0.95)": nil, "— (was 3) 4": nil, "— 4": nil,
			"(new PR this run, #135 was previous)": nil,
		}},
		"Paused": {func(m state.Machine) any { return m.Paused }, map[string]any{
			"true": true, "True": true, "YES": true, "yes, by Ana": true, "`true`": true, "true (since Monday)": true,
			"false": false, "no": false, "No.": false, "": false, "—": false,
			"1": nil, "on": nil, "trueish": nil, "maybe": nil, "ja": nil, "✅": nil,
			"(true)": true, "**TRUE** (by Ana)": true, "pending CI": nil,
		}},
		"Metric Direction": {
			func(m state.Machine) any { return m.Direction.String() + fmt.Sprint(m.DirectionGiven) },
			map[string]any{
				"higher": "highertrue", "LOWER": "lowertrue", "`lower`": "lowertrue", "": "higherfalse",
				"—":  "higherfalse",
				"up": nil, "lower is better": nil, "(lower)": nil,
			},
		},
		"PR": {func(m state.Machine) any { return m.PR }, map[string]any{
			"#12": 12, "12": 12, "PR #12": 12, "[#12](https://github.com/o/r/pull/12)": 12,
			"https://github.com/o/r/pull/12/": 0, "https://github.com/o/r/pull/12": 12, "o/r#12": 12,
			"#0": 0, "#-1": 0, "-12": 0, "#1000000001": 0, "#": 0, "draft": 0, "": 0, "#12, #13": 12, "# 12": 12,
			"pending CI": 0, "(#12)": 12, "(new PR, #135)": 135, "#12 (open)": 12,
			"(new PR this run, #135 was previous)": 0,
		}},
		"Pull Request": {func(m state.Machine) any { return m.PR }, map[string]any{"#12": 12}},
		"Target Metric": {func(m state.Machine) any { return metric.Text(m.TargetMetric, "none") }, map[string]any{
			"0.9": "0.9", "pending CI": nil,
		}},
		"Issue": {func(m state.Machine) any { return m.Issue }, map[string]any{"#7": 7, "pending CI": 0}},
		"Branch": {func(m state.Machine) any { return m.Branch }, map[string]any{
			"`autoloop/x`": "autoloop/x", "autoloop/x": "autoloop/x", "**autoloop/x**": "autoloop/x", "": "", "—": "",
			"a b": "a b", "-": "", "- (not pushed)": "",
		}},
		"Pause Reason": {func(m state.Machine) any { return m.PauseReason }, map[string]any{
			"rest": "rest", "a | b": "a | b", `a \| b`: "a | b", `a \\| b`: `a \| b`,
			"**bold** and `code`": "**bold** and `code`", "—": "", "none": "", "(none)": "",
			"— (no run yet)": "— (no run yet)",
			"pending CI":     "pending CI", "a|": "a|", `a\|`: "a|", "\xff": "\uFFFD", `a\|b\\c \| d`: `a|b\c | d`,
		}},
		"Recent Statuses": {func(m state.Machine) any { return strings.Join(m.RecentStatuses, " ") }, map[string]any{
			"accepted, rejected": "accepted rejected", "Accepted,REJECTED": "accepted rejected",
			"✅, ❌, ⚠️, ⏳": "accepted rejected error pending-ci", "✅ accepted (31→32)": "accepted",
			"pending CI": "pending-ci", "`error`, **error**": "error error", "accepted,, ,—": "accepted",
			"baseline": "baseline", "rejected (tie), accepted": "rejected accepted", "": "", "❌ (iter 38)": "rejected",
			"ci-fix-exhausted, inconclusive": "ci-fix-exhausted inconclusive", "⚠️ **rejected**": "rejected",
		}},
	} {
		for text, want := range c.want {
			m, _, err := state.ParseMachine([]byte(table + "| " + row + " | " + text + " |\n"))
			if want == nil {
				var problem *state.Problem
				require.ErrorAs(t, err, &problem, "%s: %s", row, text)
				assert.Equal(t, 5, problem.Line)
				assert.Contains(t, problem.Message, row+" is ")
				assert.Contains(t, problem.Message, "correct the cell, or write — for none")
				continue
			}
			require.NoError(t, err, "%s: %s", row, text)
			assert.Equal(t, want, c.read(m), "%s: %s", row, text)
		}
	}
}

// TestWhereRowsAre: in the first section of that name, in any table or line with a pipe,
// and nowhere else.
func TestWhereRowsAre(t *testing.T) {
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
			require.ErrorContains(t, err, "there is no Machine State table with known rows in it", name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.count, m.IterationCount, name)
	}
}

// TestAFileThatIsNoStateForItsSize is refused, and what to do is said.
func TestAFileThatIsNoStateForItsSize(t *testing.T) {
	t.Parallel()
	most := []byte(table + "| Iteration Count | 7 |\n" + strings.Repeat("x", 1<<20))[:1<<20]
	m, _, err := state.ParseMachine(most)
	require.NoError(t, err)
	assert.Equal(t, 7, m.IterationCount)
	more := append(most, 'x')
	_, _, err = state.ParseMachine(more)
	require.EqualError(t, err, "the state file has 1048577 bytes, more than 1048576; shorten it")
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
