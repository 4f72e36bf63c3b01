package state_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

func TestStatesThatOthersWriteAreRead(t *testing.T) {
	const head = "## Machine State\n\n| Field | Value |\n|---|---|\n"
	m, warnings, err := state.ParseMachine(
		[]byte(head + "| Paused | true |\n| Best Metric | 3 |\n| Paused | false |\n"))
	require.NoError(t, err)
	assert.False(t, m.Paused, "the last of a row that is given twice counts")
	require.Len(t, warnings, 1)
	assert.Equal(t, 7, warnings[0].Line)
	assert.Contains(t, warnings[0].Message, "Paused is there twice (also in line 5);")
	doc, err := state.Parse([]byte(head + "| Iteration Count | 1 |\n| Iteration Count | 2 |\n"))
	require.NoError(t, err)
	changed := doc.Machine()
	changed.IterationCount = 3
	doc.SetMachine(changed)
	assert.Contains(t, string(doc.Render()), "| Iteration Count | 1 |\n| Iteration Count | 3 |\n")

	m, _, err = state.ParseMachine(
		[]byte(head + "| Recent Statuses | accepted, pending-ci |\n| Pause Reason | (a person, by hand) |\n"))
	require.NoError(t, err)
	assert.True(t, m.Pending())
	assert.Equal(t, "(a person, by hand)", m.PauseReason)
}

func TestStatusesInTheOrderOfTheHistory(t *testing.T) {
	const accepted, rejected, failed, pending = "✅ Accepted", "❌ Rejected", "⚠️ Error", "⏳ Pending CI"
	entries := func(form string, outcomes ...string) string {
		var all strings.Builder
		for i, outcome := range outcomes {
			sign, _, _ := strings.Cut(outcome, " ")
			all.WriteString(strings.NewReplacer("N", strconv.Itoa(40-i), "OUTCOME", outcome, "SIGN",
				sign).Replace(form))
		}
		return all.String()
	}
	const (
		full = "### Iteration N — 2026-02-03 12:00 UTC — [Run](https://github.com/o/r/actions/runs/1)\n\n" +
			"- **Status**: OUTCOME\n- **Change**: a step\n\n"
		newest = "accepted, rejected, rejected, error" // newest first
		oldest = "error, rejected, rejected, accepted"
	)
	four := []string{accepted, rejected, rejected, failed}
	whole := entries(full, four...)
	golden.Table(t, map[string]string{
		"newest first":          whole,
		"newest last":           oldest + " // " + whole,
		"line feeds of Windows": strings.ReplaceAll(whole, "\n", "\r\n"),
		"a sign in the heading": entries("### Iter N — SIGN step (31→32)\n", four...),
		"a date before the number": "" +
			entries("### 2026-02-03T12:00Z — Iteration N: OUTCOME\n\n", four...),
		"a number sign": entries("#### Iteration #N\n\nStatus: OUTCOME\n\n", four...),
		"bullets":       entries("- **Iteration N** (2026-02-03): OUTCOME, a step (31→32)\n", four...),
		"bold lines":    entries("**Iter N** — OUTCOME\n\n", four...),
		"rows of a table": "| # | When | Status |\n|---|---|---|\n" +
			entries("| N | 2026-02-03 | OUTCOME |\n", four...),
		"rows that say Iteration": entries("| Iteration N | OUTCOME |\n", four...),
		"an entry below another's": whole +
			"- Iteration 99 would be ❌ Rejected\n",
		"the newest below": "accepted, rejected // ### Iteration 3\n\n- **Status**: rejected\n\n### Iteration 9\n\n- " +
			"**Status**: accepted\n",
		"a range": "rejected, rejected, error, accepted // ### Iters 39–40 — ❌ both did nothing\n\n### Iteration " +
			"38 — ⚠️\n\n### Iteration 37 — ✅\n",
		"a range of several outcomes": "accepted, rejected, rejected, error // ### Iteration 40 — ✅\n\n### Iters " +
			"38–39 — ✅ 1 / ❌ 1\n\n### Iteration 37 — ⚠️\n",
		"a sign of something else": "accepted, rejected, rejected // " + entries(full, accepted) +
			"### Iteration 39 — ❌ Rejected\n\nTests ✅, was accepted before\n\n### Iteration 38 — ❌\n",
		"a status that names another": "rejected, accepted, accepted // " +
			entries(full, "❌ Rejected (the last accepted one was better)", accepted, accepted),
		"not accepted": "rejected, accepted, accepted // " +
			entries("### Iteration N\n\n- Status: OUTCOME\n\n", "not accepted", "accepted", "accepted"),
		"a baseline": "### Iteration 40 (new baseline) — 2026-02-03\n\n- **Status**: 📏 Baseline\n\n" +
			whole,
		"CI is waited for": "pending-ci, rejected, accepted // " + entries(full, pending, rejected, accepted),
		"signs":            "✅ accepted, ❌ rejected, ❌ (iter 38), ⚠️ **error** // " + whole,
		"more than ten, newest first": "accepted" + strings.Repeat(", rejected", 11) + " // " +
			entries(full, accepted, rejected),
		"more than ten, newest last": "accepted" + strings.Repeat(", rejected", 11) + " // " +
			entries(full, rejected, rejected),
		"no history":                   "*(none yet)*\n",
		"a history without outcomes":   entries("### Iteration N\n\ntext\n\n", four...),
		"a history of something else":  entries(full, pending),
		"the same in either direction": "rejected, rejected // ",
	}, func(t *testing.T, row string) any {
		cell, history, other := strings.Cut(row, " // ")
		if !other {
			cell, history = newest, row
		}
		got, known := state.OldestFirst(
			[]byte("## Machine State\n\n| Field | Value |\n|---|---|\n| Recent Statuses | " +
				cell + " |\n\n## 📊 Iteration History\n\nNewest first.\n\n" + history),
		)
		return fmt.Sprint(known, " ", strings.Join(got, ", "))
	})
}

// TestReasonsComeBackAsOneHarmlessLine of the table, whoever gave them.
func TestReasonsComeBackAsOneHarmlessLine(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"rest":                 "rest",
		"a | b":                "a | b",
		`ends in \`:            `ends in \`,
		`\| and \\|`:           `\| and \\|`,
		" spaces \t around ":   "spaces around",
		"two\nlines":           "two lines",
		"| Paused | false |":   "| Paused | false |",
		"**bold** `code` _it_": "**bold** `code` _it_",
		"— (no run yet)":       "— (no run yet)",
		"x |\n## Machine State\n| Paused | false |\n<!-- @octocat -->": "x | ## Machine State | Paused | false | " +
			"&lt;!-- @\u200boctocat --&gt;",
		"pending CI":                 "pending CI",
		"":                           "",
		"—":                          "", // there is no other way to write nothing
		"|":                          "|",
		"||":                         "||",
		`\`:                          `\`,
		"<!-- x":                     "&lt;!-- x",
		"```":                        "", // marks around nothing
		"# x":                        "# x",
		"\xff":                       "\uFFFD",
		strings.Repeat("é", 600):     strings.Repeat("é", 499) + "…",
		strings.Repeat("|", 600):     strings.Repeat("|", 499) + "…",
		"a" + strings.Repeat(`\`, 9): "a" + strings.Repeat(`\`, 9),
	} {
		for _, end := range []string{"\n", "\r\n"} {
			doc := parse(t, strings.ReplaceAll(string(state.New("x").Bytes()), "\n", end))
			m := doc.Machine()
			m.Paused, m.PauseReason, m.CompletedReason = true, reason, reason
			doc.SetMachine(m)
			again := parse(t, string(doc.Bytes())).Machine()
			assert.Equal(t, want, again.PauseReason, "%q", reason)
			assert.Equal(t, want, again.CompletedReason, "%q", reason)
			assert.True(t, again.Paused)
			before := string(doc.Bytes())
			doc.SetMachine(again)
			assert.Equal(t, before, string(doc.Bytes()), "what was read is not written again: %q", reason)
		}
	}
}

// TestStatusesThatAreNoWords stay apart from each other in their cell.
func TestStatusesThatAreNoWords(t *testing.T) {
	t.Parallel()
	doc := state.New("x")
	m := doc.Machine()
	m.RecentStatuses = []string{"a,b", "c|d", "e\nf", `g\h`, "`i`", "*j*", strings.Repeat("k", 60), "L"}
	doc.SetMachine(m)
	assert.Equal(t, []string{"a-b", "c-d", "e-f", "g-h", "-i-", "-j-", strings.Repeat("k", 39) + "…", "l"},
		doc.Machine().RecentStatuses)
	m.RecentStatuses = slices.Repeat([]string{"error"}, 30)
	doc.SetMachine(m)
	assert.Len(t, doc.Machine().RecentStatuses, state.MaxStatuses)
	m.RecentStatuses = nil
	doc.SetMachine(m)
	assert.Contains(t, string(doc.Bytes()), "| Recent Statuses | — |\n")
}

// TestNumbersBeyondWhatIsRead are written as the nearest that is.
func TestNumbersBeyondWhatIsRead(t *testing.T) {
	t.Parallel()
	doc := state.New("x")
	m := doc.Machine()
	far := at("2026-01-02T03:04:05Z").AddDate(9000, 0, 0)
	m.IterationCount, m.ConsecutiveErrors, m.PR, m.Issue, m.LastRun = 2_000_000_000, -5, 2_000_000_000, -7, &far
	doc.SetMachine(m)
	again := parse(t, string(doc.Bytes())).Machine()
	assert.Equal(t, []int{1_000_000_000, 0, 0, 0},
		[]int{again.IterationCount, again.ConsecutiveErrors, again.PR, again.Issue})
	assert.Nil(t, again.LastRun)
}
