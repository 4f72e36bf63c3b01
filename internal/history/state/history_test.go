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
		Iteration: n, Time: at("2025-01-15T10:30:00Z").Add(time.Duration(n) * time.Hour), RunURL: "https://github.com/o/r/actions/runs/1",
		Status: state.Rejected, Change: fmt.Sprintf("Try step %d", n), Metric: value(fmt.Sprint(1000 - n + 1)), PreviousBest: value(fmt.Sprint(1000 - n/3*3)),
		Delta: "+1", Notes: []string{"not better"},
	}
	switch {
	case n == 0:
		e.Status, e.Baseline, e.PreviousBest, e.Delta, e.Notes, e.Metric = state.Baseline, true, nil, "", nil, value("1000")
	case n%3 == 0:
		e.Status, e.Metric, e.PreviousBest, e.Delta, e.Commit, e.PR, e.Notes = state.Accepted, value(fmt.Sprint(1000-n)), value(fmt.Sprint(1000-n+3)), "-3", "0123abc", 4, nil
	case n%10 == 1:
		e.Status, e.Metric, e.Delta = state.Failed, nil, ""
	}
	return e
}

func TestHistoryGolden(t *testing.T) {
	doc := state.New("function-minimization")
	m := doc.Machine()
	m.LastRun, m.IterationCount, m.BestMetric, m.InitialMetric = at("2025-01-15T10:30:00Z"), 2, value("1.3"), value("1.5")
	m.RecentStatuses = []string{"accepted", "rejected"}
	doc.SetMachine(m)
	doc.AddEntry(state.HistoryEntry{Time: *at("2025-01-15T09:30:00Z"), Baseline: true, Metric: value("1.5"), Change: "Initial evaluation"})
	doc.AddEntry(state.HistoryEntry{
		Iteration: 1, Time: *at("2025-01-15T10:30:00Z"), RunURL: "https://github.com/o/r/actions/runs/1", Status: state.Accepted,
		Change: "Halve the step", Metric: value("1.3"), PreviousBest: value("1.5"), Delta: "-0.2", PR: 3, Commit: "0123abc", CIFixAttempts: 2,
		Notes: []string{"improved", "2 files | 10 lines"},
	})
	doc.AddEntry(state.HistoryEntry{
		Iteration: 2, Time: *at("2025-01-15T10:30:00Z"), RunURL: "javascript:alert(1)", Status: state.Rejected,
		Change: "# x\n## Machine State\n| Paused | true |\n<!-- AUTOLOOP:STATUS --> thanks @octocat", PreviousBest: value("1.3"),
		Notes: []string{"", "evil ![](http://x)", "\x00"},
	})
	golden.Equal(t, "history.md", string(doc.Render()))
	assert.False(t, parse(t, string(doc.Render())).Machine().Paused)
}

func TestRecordingTwiceDoublesNothing(t *testing.T) {
	doc := state.New("x")
	for n := range 4 {
		doc.AddEntry(entry(n))
	}
	once := string(doc.Render())
	for _, n := range []int{2, 0, 3, 1} {
		doc.AddEntry(entry(n))
	}
	assert.Equal(t, once, string(doc.Render()))
	changed := entry(2)
	changed.Status = state.Accepted
	doc.AddEntry(changed)
	assert.Equal(t, 1, strings.Count(string(doc.Render()), "### Iteration 2 "))
	doc.AddEntry(state.HistoryEntry{Iteration: 3, Baseline: true, Time: *at("2025-02-01T00:00:00Z"), Metric: value("7")})
	text := string(doc.Render())
	assert.Contains(t, text, "### Iteration 3 (new baseline) — 2025-02-01 00:00 UTC\n\n- **Status**: 📏 Baseline\n- **Metric**: 7\n\n### Iteration 3 — ")
}

func TestAnEntryOfOthersIsNotReplaced(t *testing.T) {
	for name, theirs := range map[string]string{
		"one line":           "### Iteration 3 — ✅ interpolate (31→32)\n",
		"with a line more":   "### Iteration 3 — 2026-01-02 03:04 UTC\n\n- **Status**: ✅ Accepted\n- mine\n",
		"without a baseline": "### Iter 3\r\ntext\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			doc := parse(t, table+"| Iteration Count | 2 |\n\n## Iteration History\n\n"+theirs)
			doc.AddEntry(entry(3))
			doc.AddEntry(entry(3))
			text := string(doc.Render())
			assert.Contains(t, text, theirs)
			assert.Equal(t, 1, strings.Count(text, "Try step 3"))
		})
	}
}

func TestPullRequestIsNotedOnce(t *testing.T) {
	for _, newline := range []string{"\n", "\r\n"} {
		doc := state.New("x")
		doc.AddEntry(state.HistoryEntry{Iteration: 1, Time: *at("2025-02-01T00:00:00Z"), Status: state.Accepted, Change: "Go", Commit: "0123abc"})
		doc.AddEntry(state.HistoryEntry{Iteration: 2, Time: *at("2025-02-01T00:00:00Z"), Status: state.Rejected, Change: "Stop"})
		doc = parse(t, strings.ReplaceAll(string(doc.Bytes()), "\n", newline))
		doc.SetPull(1, 0)
		doc.SetPull(1, 12)
		doc.SetPull(1, 13)
		doc.SetPull(2, 12)
		doc.SetPull(7, 12)
		text := string(doc.Bytes())
		assert.Equal(t, 1, strings.Count(text, "Pull request"))
		assert.Contains(t, text, strings.Join([]string{"- **Metric**: —", "- **Pull request**: #12", "- **Commit**: 0123abc", ""}, newline))
	}
}

func TestFoldGolden(t *testing.T) {
	doc := state.New("long")
	doc.SetSection(state.Lessons, "- keep me")
	for n := range 121 {
		doc.AddEntry(entry(n))
		doc = parse(t, string(doc.Render()))
	}
	golden.Equal(t, "folded.md", string(doc.Render()))
	text := string(doc.Render())
	assert.Equal(t, 10, strings.Count(text, "### Iteration "))
	assert.Less(t, len(text), state.MaxBytes)
}

func TestFoldCountsEverything(t *testing.T) {
	doc := state.New("x")
	for n := range 41 {
		doc.AddEntry(entry(n))
	}
	assert.Contains(t, string(doc.Render()), "### Iters 0–30 — ✅ 10 / ❌ 18 / ⚠️ 2 (metrics 1000→970): Try step 30; Try step 27; ")
}

// foreign is a history as other tools wrote it.
const foreign = table + "| Iteration Count | 400 |\n\n---\n\n## 📊 Iteration History\n\nAll iterations (newest first).\n\n" +
	"### Iter 402 — 2026-07-10 — [Run](https://x)\n⚠️ Phantom\n\n### Iteration 401 — 2026-04-16 22:46 UTC — ✅ | metric=404\n- Added 8 pairs.\n\n" +
	"### Iters 398–400 — ❌ Phantom (never pushed)\n### Iters 1–397 — (0→191): Core, stats\n\n### A note of a person\n\nkeep \xff this\n\n---\n\n## Appendix\n\nmine\n"

func TestForeignHistoryIsKept(t *testing.T) {
	doc := parse(t, foreign)
	assert.Equal(t, foreign, string(doc.Render()))
	for n := 403; n < 415; n++ {
		doc.AddEntry(entry(n))
	}
	text := string(doc.Render())
	assert.Contains(t, text, "All iterations (newest first).\n\n### Iteration 414 — ")
	assert.Contains(t, text, "### Iters 398–400 — ❌ Phantom (never pushed)\n### Iters 1–397 — (0→191): Core, stats\n")
	assert.Contains(t, text, "### Iter 402 — 2026-07-10 — [Run](https://x)\n⚠️ Phantom\n\n### Iteration 401 — 2026-04-16 22:46 UTC — ✅ | metric=404\n- Added 8 pairs.\n\n")
	assert.Contains(t, text, "### A note of a person\n\nkeep \xff this\n\n---\n\n## Appendix\n\nmine\n")
	assert.Contains(t, text, "\n\n### Iters 403–404 — ✅ 0 / ❌ 2 (metrics 598→598)\n\n### Iter 402 ")
	assert.Equal(t, text, string(parse(t, text).Render()), "stable")
}

func TestWhatOthersWroteIsNeverFolded(t *testing.T) {
	const before = "## 📊 Iteration History\r\n\r\n"
	own := func(n int, end string) string {
		return strings.ReplaceAll(fmt.Sprintf("### Iteration %d — 2026-01-02 03:04 UTC\n\n- **Status**: ✅ Accepted\n- **Change**: step %d\n- **Metric**: %d\n", n, n, n), "\n", end)
	}
	oneLine := "### Iteration 2 — ✅ interpolate (31→32)\n"
	remark := strings.Replace(own(3, "\r\n"), "- **Metric**", "- mine: see the chart\r\n- **Metric**", 1)
	var entries []string
	for n := 14; n > 3; n-- {
		entries = append(entries, own(n, "\n"))
	}
	entries = append(entries, remark, oneLine, own(1, "\r\n"))
	text := string(parse(t, table+"| Iteration Count | 14 |\n\n"+before+strings.Join(entries, "\n")).Render())
	assert.Contains(t, text, remark, "an entry that a person added to stays, with its line endings")
	assert.Contains(t, text, "\n\n"+oneLine, "and so does an entry of another form, with its metrics")
	assert.Contains(t, text, before+entries[0], "and the line endings of the rest")
	assert.Contains(t, text, "### Iter 4 — ✅ 1 / ❌ 0 (metrics 4→4): step 4\n\n### Iteration 3 ", "one iteration is no range; it stands where it was")
	assert.True(t, strings.HasSuffix(text, "### Iter 1 — ✅ 1 / ❌ 0 (metrics 1→1): step 1\n"), text[len(text)-100:])
	assert.NotContains(t, text, "–")
	assert.Equal(t, text, string(parse(t, text).Render()), "stable")

	earlier := strings.Replace(text, "### Iter 4 —", "### Iters 4–4 —", 1)
	doc := parse(t, earlier)
	doc.AddEntry(entry(15))
	assert.Contains(t, string(doc.Render()), "### Iters 4–5 — ✅ 2 / ❌ 0 (metrics 4→5): step 5; step 4", "what earlier versions wrote is read on")
}

func TestSizeIsHeld(t *testing.T) {
	long := strings.Repeat("wörds ", 200)
	doc := state.New("x")
	for n := range 200 {
		e := entry(n)
		e.Change = long
		for range 12 {
			e.Notes = append(e.Notes, long)
		}
		doc.AddEntry(e)
		text := doc.Render()
		require.LessOrEqual(t, len(text), state.MaxBytes)
		doc = parse(t, string(text))
	}
	assert.Contains(t, string(doc.Render()), "### Iteration 199 ")

	huge := strings.Replace(foreign, "Core, stats", strings.Repeat("x", 40_000), 1)
	assert.Contains(t, string(parse(t, huge).Render()), strings.Repeat("x", 40_000), "what others wrote is never folded")

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
		whole, warnings, problem := state.ParseMachine(data)
		head, headWarnings, headProblem := state.ParseMachine(state.Head(data))
		require.Equal(t, whole, head)
		require.Equal(t, warnings, headWarnings)
		require.Equal(t, problem, headProblem)
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
		doc.AddEntry(state.HistoryEntry{Iteration: n, Change: text, Status: state.Status(text), RunURL: text, Notes: []string{text}})
		rendered := doc.Render()
		again, err := state.Parse(rendered)
		require.NoError(t, err)
		require.Equal(t, once, again.Machine())
		require.Equal(t, string(rendered), string(again.Render()))
		require.True(t, bytes.Contains(rendered, human))
	})
}

// TestAnEntryLeavesWhatStandsBeforeItAlone, with the line endings that it has.
func TestAnEntryLeavesWhatStandsBeforeItAlone(t *testing.T) {
	const head = "# x\r\n\r\n## Machine State\n\n| Field | Value |\n|---|---|\n| Iteration Count | 2 |\n\n## Iteration History\n"
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
			assert.Regexp(t, "\n\r?\n### Iteration 3", got)
		})
	}
}

// TestWhatWasThereBeforeTheLedgerIsNeverFolded, though the original writes entries and
// ranges in the form that ours have; and neither is an entry that a person changed.
func TestWhatWasThereBeforeTheLedgerIsNeverFolded(t *testing.T) {
	own := func(n int, more string) string {
		return fmt.Sprintf("### Iteration %d — 2026-01-02 03:04 UTC — [Run](https://github.com/o/r/actions/runs/%d)\n\n- **Status**: ✅ Accepted\n- **Change**: step %d\n- **Metric**: %d\n%s\n", n, n, n, n, more)
	}
	const adopted, newest = 20, 36
	const summed = "### Iters 1–18 — ✅ 4 / ❌ 14 (metrics 20→8): summed up by hand\n"
	for name, c := range map[string]struct {
		entry string // in place of iteration 22
		folds bool
	}{
		"as it was written":      {own(22, ""), true},
		"with what is on record": {own(22, "- **Notes**: it was 22 ms\n"), true},
		"with Windows' line end": {strings.ReplaceAll(own(22, ""), "\n", "\r\n"), true},
		"another change":         {strings.Replace(own(22, ""), "step 22", "step 22 (31→32)", 1), false},
		"a note":                 {own(22, "- **Notes**: see the chart (31→32)\n"), false},
		"a note below":           {own(22, "- **Notes**:\n  - it was 22 ms\n  - mine\n"), false},
		"a line of another kind": {own(22, "- ✅ interpolate (31→32)\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString(table + "| Iteration Count | 36 |\n\n## 📊 Iteration History\n\n")
			for n := newest; n > adopted; n-- {
				if n == 22 {
					text.WriteString(c.entry)
					continue
				}
				text.WriteString(own(n, ""))
			}
			theirs := own(20, "- **Notes**: learned that 31→32 costs p99\n") + own(19, "") + summed
			if name == "as it was written" {
				theirs = strings.Replace(summed, "18", "20", 1)
			}
			text.WriteString(theirs)
			doc := parse(t, text.String())
			doc.Adopted(adopted)
			for n := adopted + 1; n <= newest; n++ {
				doc.Said(state.HistoryEntry{Iteration: n, Change: fmt.Sprintf("step %d", n), Notes: []string{fmt.Sprintf("it was %d ms", n)}})
				doc.Said(state.HistoryEntry{Iteration: n, Change: fmt.Sprintf("step %d", n)})
			}
			got := string(doc.Render())
			assert.Contains(t, got, theirs)
			assert.Equal(t, !c.folds, strings.Contains(got, c.entry), got)
			assert.NotContains(t, got, "step 24\n")
		})
	}
}
