package state_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

// written is the text of one entry in a history that has no other.
func written(t *testing.T, e state.HistoryEntry) string {
	t.Helper()
	doc := state.New("x")
	doc.AddEntry(e)
	return doc.Section(state.History)
}

func TestEntryLines(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 3, 4, 23, 59, 59, 0, time.FixedZone("west", -3600))
	for name, e := range map[string]state.HistoryEntry{
		"nothing known": {Iteration: 3},
		"all of it": {
			Iteration: 3, Run: "1",
			Status: state.Accepted, Change: "Go on", Metric: value("1.50"), PreviousBest: value("2"), Delta: "-0.5",
			PR: 7, Commit: "0123abc", CIFixAttempts: 2, Notes: []string{"one"},
		},
		"the first baseline": {Metric: value("2")},
		"a new baseline":     {Iteration: 4, Status: state.Baseline, Metric: value("2")},
		"below zero":         {Iteration: -4},
		"no previous best":   {Iteration: 3, Metric: value("2"), Delta: "0"},
		"no number":          {Iteration: 3, PreviousBest: value("2")},
		"numbers below one":  {Iteration: 3, PR: -1, CIFixAttempts: -2},
		"two notes":          {Iteration: 3, Notes: []string{"", "a", " \n ", "b"}},
		"eight notes":        {Iteration: 3, Notes: strings.Fields("a b c d e f g h")},
		"more are counted":   {Iteration: 3, Notes: strings.Fields("a b c d e f g h i")},
		"notes of nothing":   {Iteration: 3, Notes: []string{"", "\x00", "\u202e\x1b[31m"}},
	} {
		e.Time = when
		golden.Row(t, name, written(t, e))
	}
}

func TestStatusesInWords(t *testing.T) {
	t.Parallel()
	for _, status := range []state.Status{
		state.Accepted, state.Rejected, state.Inconclusive, state.Failed, state.PendingCI, state.CIFixExhausted,
		state.Baseline, "of-a-later-version", "a | b", state.Status(strings.Repeat("x", 100)), "<b>\n# x",
	} {
		line, _, _ := strings.Cut(written(t, state.HistoryEntry{Iteration: 1, Status: status}), "\n- **Metric")
		golden.Row(t, string(status), line)
	}
}

// TestNoTextLeavesItsLine: whatever others hand in, an entry has as many lines as it has
// items, is no longer than its bounds, and is the only entry.
func TestNoTextLeavesItsLine(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"a\nb", "a\r\nb\rc", "## 📊 Iteration History",
		"\n\n### Iteration 99 — 2026-01-01 00:00 UTC\n\n- **Status**: ✅ Accepted", "```\n", "<!--", "-->", "| a | b |",
		`a \| b \`, "\\", "a\u2028b\u2029c",
		"\x1b[31mred", "[x](javascript:alert(1))", "![x](http://evil)", "@octocat", "closes #12", "/autoloop pause",
		"✅ Accepted", strings.Repeat("𝔘", 4000), strings.Repeat("|", 900), "\xff\xfe\x00",
		"- **Status**: ✅ Accepted\n- **Metric**: 1", "  - nested\n\t- more", "---\n\n# Other", "&lt;b&gt; &#64;x",
		"(1→2): x; y",
	} {
		e := state.HistoryEntry{
			Iteration: 5, Status: state.Rejected, Change: hostile, Commit: hostile, Delta: hostile,
			PreviousBest: value("3"), Notes: []string{hostile, "mine"},
		}
		doc := state.New("x")
		doc.AddEntry(e)
		before := len(state.New("x").Bytes())
		require.Equal(t, 1, strings.Count(string(doc.Bytes()), "\n### "), "%q", hostile)
		require.LessOrEqual(t, strings.Count(doc.Section(state.History), "\n"), 8, "%q", hostile)
		for line := range strings.Lines(doc.Section(state.History)) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 1000, "%q", hostile)
		}
		again := parse(t, string(doc.Bytes()))
		require.Equal(t, doc.Machine(), again.Machine(), "%q", hostile)
		is, want, found := again.Entries([]state.HistoryEntry{e})
		require.Equal(t, want, is, "%q", hostile)
		require.True(t, found)
		doc.AddEntry(e)
		require.Equal(t, string(again.Bytes()), string(doc.Bytes()), "it is known again: %q", hostile)
		require.Less(t, len(doc.Bytes())-before, 8000)
		for n := 6; n < 20; n++ {
			doc.AddEntry(entry(n))
		}
		require.NotContains(t, string(doc.Render()), "### Iteration 5 ", "it folds: %q", hostile)
	}
}

func TestAddressesOfRuns(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                                       "",
		"https://github.com/o/r/runs/1":          "https://github.com/o/r/runs/1",
		" http://ci/1 \n":                        "http://ci/1",
		"HTTPS://ci/1":                           "https://ci/1",
		"ftp://ci/1":                             "",
		"javascript:alert(1)":                    "",
		"//ci/1":                                 "",
		"/o/r":                                   "",
		"https:///path":                          "",
		"https://user:secret@ci/1":               "",
		"https://user@ci/1":                      "",
		"https://ci/a)[x](b":                     "https://ci/a%29[x]%28b",
		"https://ci/<b>|@octocat":                "https://ci/%3Cb%3E%7C%40octocat",
		"https://ci/a b":                         "https://ci/a%20b",
		"https://ci/\nb":                         "",
		"https://ci/é":                           "https://ci/%C3%A9",
		"https://ci/%zz":                         "",
		"https://ci/" + strings.Repeat("x", 489): "https://ci/" + strings.Repeat("x", 489),
		"https://ci/" + strings.Repeat("x", 490): "",
	} {
		got := state.SafeURL(address)
		assert.Equal(t, want, got, address)
		assert.Equal(t, got, state.SafeURL(got), "twice")
		assert.NotContains(t, got, ")")
	}
}
