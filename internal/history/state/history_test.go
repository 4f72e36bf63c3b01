package state_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

// entry is iteration n: every third one is accepted.
func entry(n int) state.HistoryEntry {
	e := state.HistoryEntry{
		Iteration: n, Time: at("2025-01-15T10:30:00Z").Add(time.Duration(n) * time.Hour),
		Run:    "1",
		Status: state.Rejected, Change: fmt.Sprintf("Try step %d", n), Metric: value(fmt.Sprint(1000 - n + 1)),
		PreviousBest: value(fmt.Sprint(1000 - n/3*3)),
		Delta:        "+1", Notes: []string{"not better"},
	}
	switch {
	case n == 0:
		e.Status, e.PreviousBest, e.Delta, e.Notes, e.Metric = state.Baseline, nil, "", nil,
			value("1000")
	case n%3 == 0:
		e.Status, e.Metric, e.PreviousBest, e.Delta, e.Commit, e.PR, e.Notes = state.Accepted,
			value(fmt.Sprint(1000-n)), value(fmt.Sprint(1000-n+3)), "-3", "0123abc", 4, nil
	case n%10 == 1:
		e.Status, e.Metric, e.Delta = state.Failed, nil, ""
	}
	return e
}

func TestHistoryGolden(t *testing.T) {
	doc := state.New("function-minimization")
	m := doc.Machine()
	m.LastRun, m.IterationCount, m.BestMetric, m.InitialMetric = at("2025-01-15T10:30:00Z"), 2, value("1.3"),
		value("1.5")
	m.RecentStatuses = []string{"accepted", "rejected"}
	doc.SetMachine(m)
	for n := range 2 {
		doc.AddEntry(entry(n))
	}
	doc.AddEntry(state.HistoryEntry{
		Iteration: 2, Time: *at("2025-01-15T10:30:00Z"), Status: state.Rejected,
		Change:       "# x\n## Machine State\n| Paused | true |\n<!-- AUTOLOOP:STATUS --> thanks @octocat",
		PreviousBest: value("1.3"),
		Notes:        []string{"", "evil ![](http://x)", "\x00"},
	})
	golden.Equal(t, "history.md", string(doc.Render()))
	assert.False(t, parse(t, string(doc.Render())).Machine().Paused)
}

func TestFoldGolden(t *testing.T) {
	doc := state.New("long")
	doc.SetSection(state.Lessons, "- keep me")
	for n := range 121 {
		doc.AddEntry(entry(n))
		again, err := doc.Again()
		require.NoError(t, err)
		doc = again
	}
	golden.Equal(t, "folded.md", string(doc.Render()))
	text := string(doc.Render())
	assert.Equal(t, 10, strings.Count(text, "### Iteration "))
	assert.Less(t, len(text), state.MaxBytes)
}

// foreign is a history as other tools wrote it.
const foreign = table + "| Iteration Count | 400 |\n\n---\n\n## 📊 Iteration History\n\n" +
	"All iterations (newest first).\n\n" +
	"### Iter 402 — 2026-07-10 — [Run](https://x)\n⚠️ Phantom\n\n" +
	"### Iteration 401 — 2026-04-16 22:46 UTC — ✅ | metric=404\n- Added 8 pairs.\n\n" +
	"### Iters 398–400 — ❌ Phantom (never pushed)\n### Iters 1–397 — (0→191): Core, stats\n\n### A note of a person\n" +
	"\nkeep \xff this\n\n---\n\n## Appendix\n\nmine\n"

func TestForeignHistoryIsKept(t *testing.T) {
	doc := parse(t, foreign)
	assert.Equal(t, foreign, string(doc.Render()))
	for n := 403; n < 415; n++ {
		doc.AddEntry(entry(n))
	}
	text := string(doc.Render())
	golden.Equal(t, "foreign.md", text)
	assert.Equal(t, text, string(parse(t, text).Render()), "stable")
}

// TestOnlyWhatStandsBetweenTheMarkersIsOurs: what a person writes above or below stays,
// and so do entries whose markers were removed.
func TestOnlyWhatStandsBetweenTheMarkersIsOurs(t *testing.T) {
	doc := state.New("x")
	for n := 1; n <= 12; n++ {
		doc.AddEntry(entry(n))
	}
	text := strings.Replace(string(doc.Render()), "<!-- autoloop: end -->\n",
		"<!-- autoloop: end -->\n\n### Iteration 12 — mine\r\n\n- a\n", 1)
	text = strings.Replace(text, "Try step 3", "by hand", 1)
	upTo := func(text string, last int) string {
		doc := parse(t, text)
		assert.Equal(t, text, string(doc.Render()), "nothing is to be written")
		var list []state.HistoryEntry
		for n := 1; n <= last; n++ {
			list = append(list, entry(n))
		}
		doc.SetEntries(list, "")
		return string(doc.Render())
	}
	got := upTo(text, 13)
	assert.Contains(t, got, "<!-- autoloop: end -->\n\n### Iteration 12 — mine\r\n\n- a\n")
	assert.NotContains(t, got, "by hand", "the third is counted now")
	assert.Contains(t, got, "### Iters 1–3 — ✅ 1 / ")

	theirs := strings.Replace(got, "<!-- autoloop: end -->\n", "", 1)
	got = upTo(theirs, 14)
	assert.Equal(t, 2, strings.Count(got, "<!-- autoloop: the entries"))
	assert.Contains(t, got, theirs[strings.Index(theirs, "### Iteration 13 "):])
	assert.Equal(t, 1, strings.Count(upTo(got, 15), "### Iteration 15 "))
}

func TestSizeIsHeld(t *testing.T) {
	long := strings.Repeat("öööö ", 60)
	doc := state.New("x")
	var list []state.HistoryEntry
	for n := range 60 {
		e := entry(n)
		e.Change = long
		for range 12 {
			e.Notes = append(e.Notes, long)
		}
		list = append(list, e)
		doc.SetEntries(list, "")
		text := doc.Render()
		require.LessOrEqual(t, len(text), state.MaxBytes)
		doc = parse(t, string(text))
	}
	assert.Contains(t, string(doc.Render()), "### Iteration 59 ")
	assert.Less(t, strings.Count(string(doc.Render()), "### Iteration "), 10, "fewer, where ten do not fit")
	is, want, _ := doc.Entries(list)
	assert.Equal(t, want, is, "and so many are to be there")

	huge := strings.Replace(foreign, "Core, stats", strings.Repeat("x", 40_000), 1)
	assert.Contains(t, string(parse(t, huge).Render()), strings.Repeat("x", 40_000),
		"what others wrote is never folded")

	human := parse(t, foreign)
	human.SetSection(state.Lessons, strings.Repeat("- mine\n", 6000))
	kept := human.Render()
	assert.Contains(t, string(kept), strings.Repeat("- mine\n", 6000), "human text is never folded")
	_, _, err := state.ParseMachine(kept)
	assert.NoError(t, err)
}

func FuzzDoc(f *testing.F) {
	f.Add([]byte(foreign), "change | <!-- @x", 403)
	f.Add(state.New("x").Render(), "a\nb", 0)
	f.Add([]byte(table+"| Paused | a"), "```\n", 7)
	f.Add([]byte("## Machine State\r\n|PR|\r\n# Iteration History\n# Iteration 5\n```\n# Iters 1-3"), "x", 5)
	f.Add([]byte("```\n## Machine State\n"+table+"<!--\n# A\n```\n"+table+"~~~\n# B\n~~~~ -->\n# C\n"), "x", 6)
	f.Fuzz(func(t *testing.T, data []byte, text string, n int) {
		_, _, _ = state.ParseMachine(data)
		doc, err := state.Parse(data)
		if err != nil {
			return
		}
		var human []byte
		if at := bytes.Index(data, []byte("## Mine")); at >= 0 && !bytes.Contains(data, []byte("teration")) {
			human = data[at:]
		}
		m := doc.Machine()
		m.IterationCount, m.PauseReason, m.RecentStatuses = n, text, append(m.RecentStatuses, text)
		doc.SetMachine(m)
		once := doc.Machine()
		doc.SetMachine(once)
		require.Equal(t, once, doc.Machine())
		doc.AddEntry(state.HistoryEntry{
			Iteration: n, Change: text, Status: state.Status(text),
			Notes: []string{text},
		})
		rendered := doc.Render()
		again, err := state.Parse(rendered)
		require.NoError(t, err)
		require.Equal(t, once, again.Machine())
		require.Equal(t, string(rendered), string(again.Render()))
		require.True(t, bytes.Contains(rendered, human))
	})
}

// TestEntryKeepsTextBeforeIt, with the line endings that it has.
func TestEntryKeepsTextBeforeIt(t *testing.T) {
	const head = "# x\r\n\r\n## Machine State\n\n| Field | Value |\n|---|---|\n| Iteration Count | 2 |\n\n" +
		"## Iteration History\n"
	for name, c := range map[string]struct{ before, after string }{
		"one-line entries":     {"\n- ✅ interpolate (31→32)\r\n- ❌ cache (32→30)\n", "\n### Iteration 2\r\n- text\n"},
		"without a blank line": {"- a\n- b\r\n", "### Iteration 2\n- text\r\n"},
		"with blank lines":     {"\r\n\r\n- a\n\n\n", "### Iteration 2\n- text\r\n"},
		"nothing behind":       {"\n- a\n- b\r\n", ""},
		"no line feed":         {"\n- a\n- b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := state.Parse([]byte(head + c.before + c.after))
			require.NoError(t, err)
			doc.AddEntry(state.HistoryEntry{Iteration: 3, Status: state.Accepted})
			got := string(doc.Render())
			assert.Contains(t, got, head+c.before)
			assert.True(t, strings.HasSuffix(got, c.after), got)
			assert.Regexp(t, "\n\r?\n<!-- .* -->\r?\n\r?\n### Iteration 3", got)
		})
	}
}
