package audit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// TestHandEditsAreFound changes one place of the state or of the results.
func TestHandEditsAreFound(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	var events []history.Event
	add := func(iteration int, e history.Event) {
		e.Header().Iteration = iteration
		events = append(events, history.Stamp(e, "77-1-abcd", noon.Add(time.Duration(len(events))*time.Minute)))
	}
	add(0, &history.Set{Key: history.IssueNumber, Value: "3"})
	for n := range 12 {
		add(n+1, &history.Started{Lease: &history.Lease{ActionsRun: "77/1"}})
		events[len(events)-1].Header().Run += string(rune('a' + n))
		if n == 0 {
			add(0, baseline(0, "10"))
		}
		e := ended(n+1, history.Rejected, "11")
		if n == 10 {
			e = ended(n+1, history.Accepted, "9")
			e.Commit = commit
		}
		e.Summary, e.Reasons, e.Delta, e.PreviousBest = "tidy up", decision.Says("too slow", "twice"), "-1",
			number("10")
		add(n+1, e)
		if n == 10 {
			add(n+1, &history.Set{Key: history.PullNumber, Value: "8"})
		}
		add(n+1, &history.Finished{})
		for i := len(events) - 1; events[i].Header().Iteration == n+1 || n == 0 && i > 1; i-- {
			events[i].Header().Run = "77-1-abcd" + string(rune('a'+n))
		}
	}
	sum := history.Replay(events)
	p := pagesOf(t, events, "https://github.com/o/r/actions/runs/")
	last := sum.LastRun
	p.doc.SetMachine(state.Machine{
		LastRun: &last, IterationCount: sum.Iteration, InitialMetric: sum.Initial, BestMetric: sum.Best,
		Direction: metric.Lower, Branch: "autoloop/p", PR: 8, Issue: 3,
		ConsecutiveErrors: sum.ConsecutiveErrors(), RecentStatuses: sum.Statuses(),
	})
	text, table := string(p.doc.Render()), string(p.table.Bytes())
	look := func(text, table string) []string {
		doc, err := state.Parse([]byte(text))
		require.NoError(t, err)
		rows, err := results.Parse([]byte(table))
		require.NoError(t, err)
		records := audit.Records{State: doc, Rows: rows.Rows(), Branch: "autoloop/p"}
		return append(found(audit.State, events, records), found(audit.Results, events, records)...)
	}
	require.Empty(t, look(text, table), text)
	const entry = "### Iteration 11 — 2026-01-02 12:32 UTC — [Run](https://github.com/o/r/actions/runs/77)"
	require.Contains(t, text, entry)
	whole := text[strings.Index(text, entry):strings.Index(text, "### Iteration 10 —")]
	for name, c := range map[string]struct{ from, to, says string }{
		"the last run": {"| Last Run | 2026-01-02", "| Last Run | 2026-01-01", "Last Run is 2026-01-01"},
		"no last run": {text[strings.Index(text, "| Last Run"):strings.Index(text,
			"| Iteration Count")], "| Last Run | — |\n", "Last Run is —"},
		"the count": {
			"| Iteration Count | 12 |", "| Iteration Count | 13 |",
			"Iteration Count is 13",
		},
		"the first number": {"| Initial Metric | 10 |", "| Initial Metric | 12 |", "Initial Metric is 12"},
		"the best number":  {"| Best Metric | 9 |", "| Best Metric | 8 |", "Best Metric is 8"},
		"the direction": {
			"| Metric Direction | lower |", "| Metric Direction | higher |",
			"Metric Direction is higher",
		},
		"the branch":       {"`autoloop/p`", "`autoloop/q`", "Branch is `autoloop/q`"},
		"the pull request": {"| PR | #8 |", "| PR | #9 |", "PR is #9"},
		"no pull request":  {"| PR | #8 |", "| PR | — |", "PR is —"},
		"the issue":        {"| Issue | #3 |", "| Issue | #4 |", "Issue is #4"},
		"no issue":         {"| Issue | #3 |", "| Issue | — |", "Issue is —"},
		"the errors": {
			"| Consecutive Errors | 0 |", "| Consecutive Errors | 2 |",
			"Consecutive Errors is 2",
		},
		"the statuses": {"accepted, rejected |", "rejected, rejected |", "Recent Statuses is"},
		"a wait": {
			"| Paused |", "| Not Before | 2026-01-02T12:00:00Z |\n| Paused |",
			"Not Before is 2026-01-02T12:00:00Z",
		},
		"an entry's number": {
			"### Iteration 11 —", "### Iteration 13 —",
			`11: its history says "### Iteration 13 `,
		},
		"an entry's date": {entry, strings.Replace(entry, "12:32", "12:35", 1), "12:35"},
		"an entry's link": {entry, strings.Replace(entry, "runs/77", "runs/78", 1), "runs/78"},
		"a link to elsewhere": {
			entry,
			strings.Replace(entry, "github.com/o/r/actions/runs/77", "example.com", 1), "example.com",
		},
		"an entry's kind": {
			"### Iteration 11 —", "### Iteration 11 (new baseline) —",
			`11: its history says "### Iteration 11 (new baseline) `,
		},
		"an entry's status": {
			"✅ Accepted\n", "❌ Rejected\n",
			`says "Status: ❌ Rejected", and the ledger gives "Status: ✅ Accepted"`,
		},
		"an entry's change":        {"- **Change**: tidy", "- **Change**: untidy", `says "Change: untidy up"`},
		"an entry's metric":        {"- **Metric**: 9 ", "- **Metric**: 8 ", `says "Metric: 8 (`},
		"an entry's delta":         {"delta: -1", "delta: -2", "delta: -2"},
		"an entry's previous best": {"previous best: 10", "previous best: 12", "previous best: 12"},
		"an entry's pull request":  {"- **Pull request**: #8", "- **Pull request**: #9", `says "Pull request: #9"`},
		"an entry's commit":        {"0123456789ab", "1123456789ab", `says "Commit: 1123456789ab"`},
		"no commit": {
			"- **Commit**: 0123456789ab\n", "",
			`and the ledger gives "Commit: 0123456789ab"`,
		},
		"a note":              {"  - too slow", "  - too fast", `says "  - too fast"`},
		"a note less":         {"  - twice\n", "", `and the ledger gives "  - twice"`},
		"a note more":         {"  - twice\n", "  - twice\n  - thrice\n", `says "  - thrice"`},
		"an entry is missing": {whole, "", `11: its history says "### Iteration 10 `},
		"an entry twice":      {whole, whole + whole, `10: its history says "### Iteration 11 `},
		"the newest entry is missing": {
			text[strings.Index(text, "### Iteration 12"):strings.Index(text, entry)], "",
			`12: its history says "### Iteration 11 `,
		},
		"entries in another order": {whole, "", ""},
		"the line of older ones":   {"❌ 2 /", "❌ 3 /", "1: its history says"},
		"no line of older ones":    {"### Iters ", "Iters ", "1: its history says"},
		"all entries":              {"<!-- autoloop: end -->", "", "it has no history entries any more"},
		"a row's number":           {"\n11\t", "\n13\t", "11: there is no row"},
		"a row's time":             {"T12:33", "T12:43", "11: the timestamp is 2026-01-02T12:43"},
		"a row's score":            {"\t9\t9\tkept", "\t8\t9\tkept", "11: the score is 8"},
		"a row's best score":       {"\t9\t9\tkept", "\t9\t8\tkept", "11: best_score is 8"},
		"a row's action":           {"\tkept\t", "\treverted\t", "11: there is no row"},
		"a row's changelog": {
			"kept\ttidy", "kept\tuntidy",
			`11: the changelog is "untidy up", and the ledger gives "tidy up"`,
		},
		"a baseline's changelog": {"Initial evaluation\n", "A better one\n", `0: the changelog is "A better one"`},
		"a row less": {
			table[strings.Index(table, "\n11\t"):strings.Index(table, "\n12\t")], "",
			"11: there is no row",
		},
		"a person's words above": {"<!-- autoloop: the entries", "Mine.\n\n<!-- autoloop: the entries", ""},
		"a person's words below": {"<!-- autoloop: end -->", "<!-- autoloop: end -->\n\nMine.", ""},
		"a pause":                {"| Paused | false |", "| Paused | true |", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := strings.Replace(text, c.from, c.to, 1), strings.Replace(table, c.from, c.to, 1)
			if name == "entries in another order" {
				one = strings.Replace(one, "### Iteration 9 —", whole+"### Iteration 9 —", 1)
				c.says = `11: its history says "### Iteration 10 `
			}
			require.NotEqual(t, text+table, one+other)
			says := strings.Join(look(one, other), "\n")
			if c.says == "" {
				assert.Empty(t, says)
			} else {
				assert.Contains(t, says, c.says)
			}
		})
	}
}

// TestARunBeginsOneIteration.
func TestARunBeginsOneIteration(t *testing.T) {
	t.Parallel()
	start := func(run string, iteration int) history.Event {
		return &history.Started{Head: history.Head{Run: run, Iteration: iteration}}
	}
	assert.Empty(t, findings([]history.Event{start("a", 1), start("a", 1), start("b", 1), start("c", 2)}))
	assert.Equal(t, []string{"the run a began iteration 1, and no run begins two"},
		findings([]history.Event{start("a", 1), start("b", 2), start("a", 3)}))
}
