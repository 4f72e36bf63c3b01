package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

// TestCellsThatPeopleWrite are read as testdata says, or refused. Times are read in UTC, those without a zone as UTC
// already.
func TestCellsThatPeopleWrite(t *testing.T) {
	t.Parallel()
	const number = "7;`7`;**7**;007;+7;0;;—;— (first run);n/a;--;1000000000;1000000001;-1;7.0;7 iterations;1e3;" +
		"99999999999999999999;seven;(12);none;x;pending CI"
	const text = "rest;a | b;a \\| b;a \\\\| b;**bold** and `code`;;—;none;(none);— (no run yet);pending CI;a|;a\\|;" +
		"a\\|b\\\\c \\| d;\xff"
	for row, texts := range map[string]string{
		"Last Run": "— |\n| Iteration Count | 12;2026-03-04T12:00:00Z;" +
			"2026-03-04t12:00:00z;2026-03-04T14:00:00+02:00;2026-03-04T12:00:00.999Z;" +
			"2026-03-04T12:00:00;2026-03-04 12:00:00Z;2026-03-04 12:00:00 +00:00;2026-03-04 07:00:00-05:00;" +
			"2026-03-04 12:00:00;2026-03-04T12:00Z;2026-03-04 14:00+02:00;2026-03-04T12:00;2026-03-04 12:00;" +
			"2026-03-04 12:00 UTC;2026-03-04 12:00 gmt;2026-03-04 12:00:00 UTC;2026-03-04 12:00:00UTC;" +
			"2026-03-04T12:00:00+0000;2026-03-04 07:00:00 -0500;2026-03-04;2026-03-04 UTC;**2026-03-04**;" +
			"_`2026-03-04T12:00Z`_;2024-02-29;2026-02-29;2026-3-4;04.03.2026;12:00;March 4, 2026;2026-03-04T25:00:00Z;" +
			"2026-03-04T12:00:00Z (run 7);2026-03-04T12:00:00Z UTC;1772625600;2026-03-04 12:00 CET;" +
			strings.Repeat("2026-03-04 ", 9),
		"Iteration Count":    number,
		"Consecutive Errors": number,
		"Best Metric": "0.850;-3;1e-300;`1.5`;1.5 ms;9007199254740993;;null;N/A;pending ci;*Pending CI*;— (was 3);1 000;" +
			"85%;1,5;ms 1.5;inf;nan;0x10;(0.95);— (was 3) 4;— 4;(new PR this run, #135 was previous);3.5 seconds",
		"Target Metric": "0.9;pending CI",
		"Paused": "true;True;YES;yes, by Ana;`true`;true (since Monday);(true);**TRUE** (by Ana);false;no;No.;;—;" +
			"1;on;trueish;maybe;ja;✅;pending CI",
		"Metric Direction": "higher;;—;LOWER;`lower`;up;lower is better;(lower)",
		"PR": "#12;12;PR #12;[#12](https://github.com/o/r/pull/12);https://github.com/o/r/pull/12;o/r#12;#12, #13;# 12;" +
			"(#12);#12 (open);(new PR, #135);https://github.com/o/r/pull/12/;#0;#-1;-12;#1000000001;#;draft;;pending CI;" +
			"(new PR this run, #135 was previous)",
		"Pull Request": "#12",
		"Issue":        "#7;pending CI;#99999999999999999999 |\n| PR | #1",
		"Branch":       "`autoloop/x`;autoloop/x;**autoloop/x**;a b;;—;-;- (not pushed)",
		"Pause Reason": text,
		"Recent Statuses": "accepted, rejected;Accepted,REJECTED;✅, ❌, ⚠️, ⏳;✅ accepted (31→32);accepted,, ,—;pending CI;" +
			"`error`, **error**;baseline;rejected (tie), accepted;;❌ (iter 38);⚠️ **rejected**;ci-fix-exhausted, inconclusive",
	} {
		for _, text := range strings.Split(texts, ";") {
			m, warnings, err := state.ParseMachine([]byte(table + "| " + row + " | " + text + " |\n"))
			if problem, is := errors.AsType[*state.Problem](err); is {
				golden.Row(t, fmt.Sprintf("%s %q", row, text), fmt.Sprintf("line %d: %s", problem.Line, problem))
				continue
			}
			require.NoError(t, err)
			var says []string
			if m.DirectionGiven {
				says = append(says, "direction given")
			}
			m.Compare(state.Machine{}, func(row, is, _ string) { says = append(says, row+" "+is) })
			for _, warning := range warnings {
				says = append(says, fmt.Sprintf("line %d: %s", warning.Line, warning.Message))
			}
			golden.Row(t, fmt.Sprintf("%s %q", row, text), strings.Join(says, ", "))
		}
	}
	m, _, err := state.ParseMachine([]byte(table + "| Pause Reason | it waits\n"))
	require.NoError(t, err)
	assert.Equal(t, "it waits", m.PauseReason, "without a pipe at the end")
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
