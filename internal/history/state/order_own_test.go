package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

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
