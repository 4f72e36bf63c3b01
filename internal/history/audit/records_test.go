package audit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/history/view"
	"github.com/org/autoloop/internal/metric"
)

// found are the findings in one of the records, each with its iteration.
func found(where audit.Where, events []history.Event, records audit.Records) []string {
	records.Events = events
	var list []string
	for _, finding := range audit.Of(records, nil).Findings {
		if finding.Where == where {
			list = append(list, fmt.Sprintf("%d: %s", finding.Iteration, finding.Message))
		}
	}
	return list
}

func baseline(iteration int, text string) *history.Measured {
	return &history.Measured{
		Head: history.Head{Iteration: iteration}, Role: history.Baseline, Metric: number(text),
		Samples: []metric.Value{*number(text)}, Direction: metric.Lower, Commit: "base",
	}
}

func incumbent(iteration int, text string) *history.Measured {
	e := baseline(iteration, text)
	e.Role, e.Direction = history.Incumbent, ""
	return e
}

// ended is the decision of an iteration; text is what its candidate measured.
func ended(iteration int, outcome history.Outcome, text string) *history.Decided {
	e := &history.Decided{Head: history.Head{Iteration: iteration}, Outcome: outcome}
	if text != "" {
		e.Metric, e.Verdict = number(text), decision.Regressed
	}
	if outcome == history.Accepted {
		e.Best, e.Commit, e.Verdict = e.Metric, "c"+text, decision.Improved
	}
	return e
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// pages are a state file and a table, as they are written from a ledger.
type pages struct {
	doc   *state.Doc
	table *results.Table
}

// pagesOf writes what the events give.
func pagesOf(t *testing.T, events []history.Event, runs string) pages {
	t.Helper()
	table, err := results.Parse(nil)
	require.NoError(t, err)
	var v view.View
	before := history.Replay(nil)
	for _, e := range events {
		if row := v.Add(&before, e); row != nil {
			require.NoError(t, table.Append(*row, metric.Lower))
		}
		before.Add(e)
	}
	doc := state.New("p")
	doc.SetEntries(v.Entries, runs)
	return pages{doc, table}
}

// stateOf is the state with the entries that the events give, and this table.
func stateOf(t *testing.T, events []history.Event, m state.Machine) *state.Doc {
	t.Helper()
	doc := pagesOf(t, events, "").doc
	doc.SetMachine(m)
	doc, err := state.Parse(doc.Render())
	require.NoError(t, err)
	return doc
}

func TestNumbersOfTheStateAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		baseline(0, "10"), ended(1, history.Accepted, "9"), ended(2, history.Inconclusive, "9"),
		ended(3, history.Error, ""), ended(4, history.Error, ""),
	}
	right := func() state.Machine {
		return state.Machine{
			IterationCount: 4, InitialMetric: number("10"), BestMetric: number("9.0"), Direction: metric.Lower,
			ConsecutiveErrors: 2,
			RecentStatuses:    []string{"accepted", "rejected", "error", "error"}, Branch: "b",
		}
	}
	for name, c := range map[string]struct {
		change func(*state.Machine)
		says   string
	}{
		"as the ledger says": {func(*state.Machine) {}, ""},
		"an iteration more": {
			func(m *state.Machine) { m.IterationCount = 5 },
			"4: Iteration Count is 5, and the ledger gives 4",
		},
		"another start": {
			func(m *state.Machine) { m.InitialMetric = number("11") },
			"4: Initial Metric is 11, and the ledger gives 10",
		},
		"no start": {
			func(m *state.Machine) { m.InitialMetric = nil },
			"4: Initial Metric is —, and the ledger gives 10",
		},
		"a better best": {
			func(m *state.Machine) { m.BestMetric = number("8.999") },
			"4: Best Metric is 8.999, and the ledger gives 9",
		},
		"no best": {
			func(m *state.Machine) { m.BestMetric = nil },
			"4: Best Metric is —, and the ledger gives 9",
		},
		"fewer errors": {
			func(m *state.Machine) { m.ConsecutiveErrors = 1 },
			"4: Consecutive Errors is 1, and the ledger gives 2",
		},
		"another status": {
			func(m *state.Machine) { m.RecentStatuses[1] = "accepted" },
			"4: Recent Statuses is accepted, accepted, error, error, and the ledger gives accepted, rejected, error, error",
		},
		"no statuses": {
			func(m *state.Machine) { m.RecentStatuses = nil },
			"4: Recent Statuses is —, and the ledger gives accepted, rejected, error, error",
		},
		"another direction": {
			func(m *state.Machine) { m.Direction = metric.Higher },
			"4: Metric Direction is higher, and the ledger gives lower",
		},
		"another branch": {
			func(m *state.Machine) { m.Branch = "main" },
			"4: Branch is `main`, and the ledger gives `b`",
		},
		"a pull request": {func(m *state.Machine) { m.PR = 7 }, "4: PR is #7, and the ledger gives —"},
		"a last run": {
			func(m *state.Machine) { m.LastRun = &noon },
			"4: Last Run is 2026-01-02T12:00:00Z, and the ledger gives —",
		},
		"a wait": {
			func(m *state.Machine) { m.NotBefore = &noon },
			"4: Not Before is 2026-01-02T12:00:00Z, and the ledger gives —",
		},
		"no direction": {
			func(m *state.Machine) { m.Direction = "" },
			"4: Metric Direction is higher, and the ledger gives lower",
		},
		"what people may edit": {func(m *state.Machine) {
			m.Paused, m.PauseReason, m.Completed = true, "rest", true
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := right()
			c.change(&m)
			var says []string
			if c.says != "" {
				says = []string{c.says}
			}
			assert.Equal(t, says, found(audit.State, events, audit.Records{State: stateOf(t, events, m), Branch: "b"}))
		})
	}
	t.Run("before a baseline the direction is the program's", func(t *testing.T) {
		t.Parallel()
		assert.Empty(t, found(audit.State, nil,
			audit.Records{State: stateOf(t, nil, state.Machine{Direction: metric.Lower})}))
	})
	t.Run("a state that was adopted", func(t *testing.T) {
		t.Parallel()
		adopted := []history.Event{
			&history.Set{Key: history.AdoptedIteration, Value: "7"},
			&history.Set{Key: history.AdoptedStatuses, Value: "rejected,error"},
		}
		m := state.Machine{
			IterationCount: 7, RecentStatuses: []string{"rejected", "error"}, Branch: "b",
			PR: 4, Issue: 3,
		}
		assert.Empty(t, found(audit.State, adopted, audit.Records{State: stateOf(t, adopted, m), Branch: "b"}))
	})
}

// rowsOf writes rows as `iteration action score best`, "" for none of the two.
func rowsOf(t *testing.T, lines ...string) []results.Row {
	t.Helper()
	var rows []results.Row
	for _, line := range lines {
		var row results.Row
		var action, score, best string
		_, err := fmt.Sscan(line, &row.Iteration, &action, &score, &best)
		require.NoError(t, err)
		row.Action = results.Action(action)
		if score != "-" {
			row.Score = number(score)
		}
		if best != "-" {
			row.Best = number(best)
		}
		if row.Action == results.Baseline {
			row.Changelog = results.InitialEvaluation
			if slices.ContainsFunc(rows, func(r results.Row) bool { return r.Action == results.Baseline }) {
				row.Changelog = "New baseline:"
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func TestRowsAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	candidate := baseline(1, "3")
	candidate.Role = history.Candidate
	again := incumbent(1, "4")
	again.Stage = "pairs"
	failed := baseline(2, "1")
	failed.Metric = nil
	worse := ended(2, history.Accepted, "12") // accepted for its cost, at a worse number
	plain := []history.Event{
		baseline(0, "10"), ended(1, history.Accepted, "9"), ended(2, history.Rejected, "8"),
		ended(3, history.Error, ""),
	}
	written := []string{"0 baseline 10 10", "1 kept 9 9", "2 reverted 8 9", "3 reverted - 9"}
	with := func(place int, line string) []string {
		rows := slices.Clone(written)
		rows[place] = line
		return rows
	}
	for name, c := range map[string]struct {
		events []history.Event
		rows   []string
		says   []string
	}{
		"as recorded": {plain, written, nil},
		"nothing":     {nil, nil, nil},
		"a row is missing": {
			plain, slices.Delete(slices.Clone(written), 1, 2),
			[]string{`1: there is no row "kept"`},
		},
		"no rows": {
			plain[:2], nil,
			[]string{`0: there is no row "baseline"`, `1: there is no row "kept"`},
		},
		"another score": {
			plain, with(1, "1 kept 8.5 9"),
			[]string{"1: the score is 8.5, and the ledger gives 9"},
		},
		"a score made up": {
			plain, with(3, "3 reverted 7 9"),
			[]string{"3: the score is 7, and the ledger gives —"},
		},
		"a score left out": {
			plain, with(2, "2 reverted - 9"),
			[]string{"2: the score is —, and the ledger gives 8"},
		},
		"another best": {
			plain, with(2, "2 reverted 8 8"),
			[]string{"2: best_score is 8, and the ledger gives 9"},
		},
		"no best": {
			plain, with(2, "2 reverted 8 -"),
			[]string{"2: best_score is —, and the ledger gives 9"},
		},
		"another action": {
			plain, with(1, "1 reverted 9 9"),
			[]string{`1: the ledger has nothing of the row "reverted"`, `1: there is no row "kept"`},
		},
		"another iteration": {
			plain, with(3, "4 reverted - 9"),
			[]string{`4: the ledger has nothing of the row "reverted"`, `3: there is no row "reverted"`},
		},
		"a row twice": {
			plain, append(slices.Clone(written), "1 kept 9 9"),
			[]string{`1: the row "kept" is there twice`},
		},
		"a row more": {
			plain, append(slices.Clone(written), "4 kept 1 1"),
			[]string{`4: the ledger has nothing of the row "kept"`},
		},
		"two rows changed over": {
			plain,
			[]string{written[0], written[2], written[1], written[3]},
			[]string{`1: the row "kept" is not in its place`},
		},
		"turned round": {plain[:3], []string{written[2], written[1], written[0]}, []string{
			`1: the row "kept" is not in its place`, `0: the row "baseline" is not in its place`,
		}},
		"what a candidate measured is in its decision": {[]history.Event{
			baseline(0, "10"), candidate, again,
			ended(1, history.Rejected, "3"),
		}, []string{"0 baseline 10 10", "1 reverted 3 10"}, nil},
		"a baseline that failed": {
			[]history.Event{baseline(0, "10"), failed},
			[]string{"0 baseline 10 10"},
			nil,
		},
		"CI is waited for": {[]history.Event{
			baseline(0, "10"),
			ended(1, history.PendingCI, "9"),
		}, []string{"0 baseline 10 10"}, nil},
		"CI was waited for": {
			[]history.Event{
				baseline(0, "10"),
				ended(1, history.PendingCI, "9"), ended(1, history.Accepted, "9"),
			},
			[]string{"0 baseline 10 10", "1 kept 9 9"},
			nil,
		},
		"CI turned it down": {
			[]history.Event{
				baseline(0, "10"),
				ended(1, history.PendingCI, "9"), ended(1, history.CIFixExhausted, "9"),
			},
			[]string{"0 baseline 10 10", "1 reverted 9 10"},
			nil,
		},
		"a new baseline": {
			append(slices.Clone(plain[:2]), baseline(2, "20"),
				ended(2, history.Rejected, "8")),
			[]string{written[0], written[1], "2 baseline 20 20", "2 reverted 8 20"},
			nil,
		},
		"both sides measured anew, the last counts": {append(slices.Clone(plain[:2]), baseline(2, "20"),
			incumbent(2, "15")), []string{written[0], written[1], "2 baseline 15 15"}, nil},
		"kept, and no better": {
			[]history.Event{baseline(0, "10"), worse},
			[]string{"0 baseline 10 10", "2 kept 12 10"},
			nil,
		},
		"adopted, with rows from before": {
			[]history.Event{&history.Set{Key: history.AdoptedIteration, Value: "5"}, baseline(6, "10")},
			[]string{"3 kept 1 1", "5 kept 1 1", "6 baseline 10 10"},
			nil,
		},
		"adopted, with a row more": {
			[]history.Event{&history.Set{Key: history.AdoptedIteration, Value: "5"}, baseline(6, "10")},
			[]string{"5 kept 1 1", "6 baseline 10 10", "6 kept 1 1"},
			[]string{`6: the ledger has nothing of the row "kept"`},
		},
		"adopted at no number": {
			[]history.Event{&history.Set{Key: history.AdoptedIteration, Value: "five"}},
			[]string{"3 kept 1 1"},
			[]string{`3: the ledger has nothing of the row "kept"`},
		},
		"another setting": {
			[]history.Event{&history.Set{Key: history.PullNumber, Value: "5"}},
			[]string{"3 kept 1 1"},
			[]string{`3: the ledger has nothing of the row "kept"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.says, found(audit.Results, c.events, audit.Records{Rows: rowsOf(t, c.rows...)}))
		})
	}
}

// TestEveryChangedRowIsFound changes each cell of each row of a long table: no change of
// one row goes unnoticed.
func TestEveryChangedRowIsFound(t *testing.T) {
	t.Parallel()
	events := []history.Event{baseline(0, "100")}
	rows := rowsOf(t, "0 baseline 100 100")
	best := 100
	for n := 1; n <= 30; n++ {
		if n%3 > 0 {
			events = append(events, ended(n, history.Rejected, "100"))
			rows = append(rows, rowsOf(t, fmt.Sprintf("%d reverted 100 %d", n, best))...)
			continue
		}
		best--
		events = append(events, ended(n, history.Accepted, fmt.Sprint(best)))
		rows = append(rows, rowsOf(t, fmt.Sprintf("%d kept %d %d", n, best, best))...)
	}
	compare := func(rows []results.Row) int {
		report := audit.Of(audit.Records{Events: events, Rows: rows}, nil)
		return len(slices.DeleteFunc(report.Findings, func(f audit.Finding) bool { return f.Where != audit.Results }))
	}
	require.Zero(t, compare(rows))
	for i := range rows {
		for name, change := range map[string]func(*results.Row){
			"iteration": func(r *results.Row) { r.Iteration += 1000 },
			"score":     func(r *results.Row) { r.Score = number("3") },
			"best":      func(r *results.Row) { r.Best = number("3") },
			"no score":  func(r *results.Row) { r.Score = nil }, "no best": func(r *results.Row) { r.Best = nil },
			"action": func(r *results.Row) {
				r.Action = map[results.Action]results.Action{
					results.Baseline: results.Kept,
					results.Kept:     results.Reverted, results.Reverted: results.Kept,
				}[r.Action]
			},
		} {
			changed := slices.Clone(rows)
			change(&changed[i])
			assert.Positive(t, compare(changed), "%s of row %d", name, i)
		}
		assert.Positive(t, compare(slices.Delete(slices.Clone(rows), i, i+1)), "without row %d", i)
		assert.Positive(t, compare(slices.Insert(slices.Clone(rows), i, rows[i])), "row %d twice", i)
		if i > 0 {
			moved := slices.Clone(rows)
			moved[i-1], moved[i] = moved[i], moved[i-1]
			assert.Positive(t, compare(moved), "row %d too early", i)
		}
	}
}

func TestCommitsAreThoseThatWereKept(t *testing.T) {
	t.Parallel()
	pending := ended(3, history.PendingCI, "7")
	pending.Commit, pending.Best = "c7", number("7")
	rejected := ended(4, history.Rejected, "6")
	rejected.Commit = "c6"
	kept := []history.Event{baseline(0, "10"), ended(1, history.Accepted, "9"), ended(2, history.Accepted, "8")}
	one, two := audit.Commit{ID: "c9", Iteration: "1", Metric: "9"}, audit.Commit{ID: "c8", Iteration: "2", Metric: "8"}
	const moved = "the branch is at somewhere, and the ledger has it at c8: somebody else moved it, and the next run " +
		"measures anew"
	for name, c := range map[string]struct {
		events  []history.Event
		commits []audit.Commit
		head    string
		says    []string
	}{
		"as recorded":                {kept, []audit.Commit{one, two}, "c8", nil},
		"in another order":           {kept, []audit.Commit{two, one}, "c8", nil},
		"nothing was kept":           {kept[:1], nil, "", nil},
		"nothing kept, and a branch": {kept[:1], nil, "somewhere", nil},
		"somebody moved the branch":  {kept, []audit.Commit{one, two}, "somewhere", []string{"2: " + moved}},
		"the branch is gone": {kept, []audit.Commit{one, two}, "", []string{
			"2: the branch is at , and the ledger has it at c8: somebody else moved it, and the next run measures anew",
		}},
		"a commit is gone": {
			kept,
			[]audit.Commit{two},
			"c8",
			[]string{"1: the kept commit c9 is on neither the program branch nor the default branch"},
		},
		"a commit of nobody": {
			kept,
			[]audit.Commit{one, two, {ID: "0123456789abcdef", Iteration: "3", Metric: "7"}},
			"c8",
			[]string{"3: commit 0123456789ab says that it was kept, and the ledger does not"},
		},
		"a commit without number": {
			kept,
			[]audit.Commit{one, two, {ID: "x", Iteration: "three"}},
			"c8",
			[]string{"0: commit x says that it was kept, and the ledger does not"},
		},
		"another metric in it": {
			kept,
			[]audit.Commit{one, {ID: "c8", Iteration: "2", Metric: "5"}},
			"c8",
			[]string{"2: commit c8 says iteration 2 with 5, and the ledger says 2 with 8"},
		},
		"another iteration in it": {
			kept,
			[]audit.Commit{one, {ID: "c8", Iteration: "02", Metric: "8"}},
			"c8",
			[]string{"2: commit c8 says iteration 02 with 8, and the ledger says 2 with 8"},
		},
		"rebased, by another name": {
			kept,
			[]audit.Commit{one, two, {ID: "rebased", Iteration: "1", Metric: "9"}},
			"c8", nil,
		},
		"a pending one may be there": {
			append(slices.Clone(kept), pending),
			[]audit.Commit{one, two, {ID: "c7", Iteration: "3", Metric: "7"}},
			"c7", nil,
		},
		"the branch is not at the pending one": {
			append(slices.Clone(kept), pending),
			[]audit.Commit{one, two},
			"c8",
			[]string{"3: the branch is at c8, and the ledger has it at c7: somebody else moved it, and the next run " +
				"measures anew"},
		},
		"a rejected one": {
			append(slices.Clone(kept), rejected),
			[]audit.Commit{one, two, {ID: "c6", Iteration: "4", Metric: "6"}},
			"c8",
			[]string{"4: commit c6 says that it was kept, and the ledger does not"},
		},
		"a new line from the default branch": {
			append(slices.Clone(kept), baseline(3, "8")),
			[]audit.Commit{two},
			"elsewhere", nil,
		},
		"a new line, and the branch beside it": {
			append(slices.Clone(kept), baseline(3, "8"), incumbent(3, "8")),
			[]audit.Commit{two},
			"base",
			[]string{"1: the kept commit c9 is on neither the program branch nor the default branch"},
		},
		"a number was never measured": {
			[]history.Event{&history.Decided{
				Head: history.Head{Iteration: 1}, Outcome: history.Accepted, Commit: "c",
				Verdict: "improved",
			}},
			[]audit.Commit{{ID: "c", Iteration: "1", Metric: "—"}},
			"c", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.says, found(audit.Branch, c.events, audit.Records{Commits: c.commits, Head: c.head}))
		})
	}
}

// TestACommitChangesWhatItClaims, as far as it is in this clone.
func TestACommitChangesWhatItClaims(t *testing.T) {
	t.Parallel()
	e := ended(1, history.Accepted, "9")
	e.Changed = []string{"a.go", "b.go"}
	commit := []audit.Commit{{ID: "c9", Iteration: "1", Metric: "9"}}
	for name, c := range map[string]struct {
		changed map[string][]string
		says    []string
		unseen  int
	}{
		"one of the files": {map[string][]string{"c9": {"b.go", "c.go"}}, nil, 0},
		"nothing": {
			map[string][]string{"c9": {}},
			[]string{"commit c9 changes none of the files that the ledger says it changed"},
			0,
		},
		"another file": {
			map[string][]string{"c9": {"c.go"}},
			[]string{"commit c9 changes none of the files that the ledger says it changed"},
			0,
		},
		"a commit elsewhere": {nil, nil, 1},
	} {
		report := audit.Of(audit.Records{
			Events: []history.Event{baseline(0, "10"), e}, Commits: commit, Head: "c9",
			Changed: c.changed,
		}, nil)
		var says []string
		for _, finding := range report.Findings {
			if finding.Where == audit.Branch {
				says = append(says, finding.Message)
			}
		}
		assert.Equal(t, c.says, says, name)
		assert.Len(t, report.Unseen, c.unseen, name)
	}
}

// TestAReportIsInTheOrderOfTheRecords, and a list without findings is a list.
func TestAReportIsInTheOrderOfTheRecords(t *testing.T) {
	t.Parallel()
	report := audit.Of(audit.Records{
		Events: []history.Event{ended(4, history.Accepted, "9")}, State: state.New("p"), Head: "c9",
		Rewritten: []string{"rewritten"}, Unknown: []string{"unsigned"},
	}, nil)
	var places []string
	for _, finding := range report.Findings {
		if len(places) == 0 || places[len(places)-1] != string(finding.Where) {
			places = append(places, string(finding.Where))
		}
	}
	assert.Equal(t, []string{"ledger", "state", "results", "branch", "memory branch"}, places)
	last := report.Findings[len(report.Findings)-2:]
	assert.Equal(t, []audit.Finding{{audit.Memory, 4, "rewritten"}, {audit.Memory, 4, "unsigned"}}, last)

	empty := audit.Of(audit.Records{}, nil)
	text, err := json.Marshal(empty)
	require.NoError(t, err)
	assert.JSONEq(t, `{"decisions": 0, "repeated": 0, "findings": [], "unseen": []}`, string(text))
}
