package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
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
	for name, c := range map[string]struct {
		entry state.HistoryEntry
		want  string
	}{
		"nothing known": {
			state.HistoryEntry{Iteration: 3, Time: when},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: —",
		},
		"all of it": {
			state.HistoryEntry{
				Iteration: 3, Time: when, Run: "1",
				Status: state.Accepted, Change: "Go on", Metric: value("1.50"), PreviousBest: value("2"), Delta: "-0.5",
				PR: 7, Commit: "0123abc", CIFixAttempts: 2, Notes: []string{"one"},
			},
			"### Iteration 3 — 2026-03-05 00:59 UTC — [Run](https://github.com/o/r/actions/runs/1)\n\n" +
				"- **Status**: ✅ Accepted\n" +
				"- **Change**: Go on\n- **Metric**: 1.5 (previous best: 2, delta: -0.5)\n- **Pull request**: #7\n" +
				"- **Commit**: 0123abc\n- **CI fix attempts**: 2\n- **Notes**: one",
		},
		"the first baseline": {
			state.HistoryEntry{Time: when, Metric: value("2")},
			"### Iteration 0 — 2026-03-05 00:59 UTC\n\n- **Status**: 📏 Baseline\n- **Metric**: 2",
		},
		"a new baseline": {
			state.HistoryEntry{Iteration: 4, Baseline: true, Time: when, Metric: value("2")},
			"### Iteration 4 (new baseline) — 2026-03-05 00:59 UTC\n\n- **Status**: 📏 Baseline\n- **Metric**: 2",
		},
		"a baseline's status": {
			state.HistoryEntry{Iteration: 4, Baseline: true, Time: when, Status: state.Failed},
			"### Iteration 4 (new baseline) — 2026-03-05 00:59 UTC\n\n- **Status**: ⚠️ Error\n- **Metric**: —",
		},
		"below zero": {
			state.HistoryEntry{Iteration: -4, Time: when},
			"### Iteration 0 — 2026-03-05 00:59 UTC\n\n- **Status**: 📏 Baseline\n- **Metric**: —",
		},
		"no previous best": {
			state.HistoryEntry{Iteration: 3, Time: when, Metric: value("2"), Delta: "0"},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: 2 (delta: 0)",
		},
		"no number": {
			state.HistoryEntry{Iteration: 3, Time: when, PreviousBest: value("2")},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: — (previous best: 2)",
		},
		"numbers below one": {
			state.HistoryEntry{Iteration: 3, Time: when, PR: -1, CIFixAttempts: -2},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: —",
		},
		"two notes": {
			state.HistoryEntry{Iteration: 3, Time: when, Notes: []string{"", "a", " \n ", "b"}},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: —\n- **Notes**:\n  - a\n  - b",
		},
		"notes of nothing": {
			state.HistoryEntry{
				Iteration: 3, Time: when,
				Notes: []string{"", "\x00", "\u202e\x1b[31m"},
			},
			"### Iteration 3 — 2026-03-05 00:59 UTC\n\n- **Metric**: —",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, written(t, c.entry))
		})
	}
}

func TestStatusesInWords(t *testing.T) {
	t.Parallel()
	for status, label := range map[state.Status]string{
		state.Accepted: "✅ Accepted", state.Rejected: "❌ Rejected", state.Inconclusive: "❔ Inconclusive",
		state.Failed: "⚠️ Error", state.PendingCI: "⏳ Pending CI",
		state.CIFixExhausted: "❌ CI fix attempts exhausted", state.Baseline: "📏 Baseline",
		"of-a-later-version": "of-a-later-version", "a | b": `a \| b`,
		state.Status(strings.Repeat("x", 100)): strings.Repeat("x", 39) + "…", "<b>\n# x": "&lt;b&gt; # x",
	} {
		assert.Contains(t, written(t, state.HistoryEntry{Iteration: 1, Status: status}),
			"- **Status**: "+label+"\n", status)
	}
}

// TestNotesAreBounded: eight at most, the last of which counts the others.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]string{
		7: "  - note 7", 8: "  - note 8", 9: "  - … and 2 more",
		100: "  - … and 93 more",
	} {
		var notes []string
		for n := range count {
			notes = append(notes, fmt.Sprint("note ", n+1), "")
		}
		text := written(t, state.HistoryEntry{Iteration: 1, Notes: notes})
		assert.True(t, strings.HasSuffix(text, want), text)
		assert.LessOrEqual(t, strings.Count(text, "\n  - "), 8)
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
