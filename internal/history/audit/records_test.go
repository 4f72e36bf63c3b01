package audit_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// written are the texts of a state file and a table, as they are written from a ledger.
func written(t *testing.T, events []history.Event) (doc, table string) {
	t.Helper()
	rows, err := results.Parse(nil)
	require.NoError(t, err)
	var v history.Summary
	for _, e := range events {
		if row := v.Show(e); row != nil {
			rows.Append(*row, metric.Lower)
		}
	}
	d := state.New("p")
	d.SetEntries(v.Entries, "https://github.com/o/r/actions/runs/")
	d.SetMachine(v.Machine(state.Machine{Direction: metric.Lower}, "autoloop/p"))
	return string(d.Render()), string(rows.Bytes())
}

// read are the findings in a state file and in a table.
func read(t *testing.T, events []history.Event, text, table string) string {
	t.Helper()
	doc, err := state.Parse([]byte(text))
	require.NoError(t, err)
	rows, err := results.Parse([]byte(table))
	require.NoError(t, err)
	records := audit.Records{State: doc, Rows: rows.Rows(), Branch: "autoloop/p"}
	return strings.Join(append(found(audit.State, events, records), found(audit.Results, events, records)...), "\n")
}

// TestHandEditsAreFound changes one place of the state or of the results.
func TestHandEditsAreFound(t *testing.T) {
	t.Parallel()
	line := "set key=issue value=\"3\" | "
	for n := 1; n <= 12; n++ {
		outcome, more := `outcome=rejected verdict=regressed metric=11 delta="-1"`, ""
		switch n {
		case 1:
			more = `measured role=baseline metric=10 direction=lower time="2026-01-02T12:01:30Z" | `
		case 11:
			outcome = `outcome=accepted verdict=improved metric=9 best=9 delta="-1" commit=0123456789abcdef0123`
		case 12:
			more = `set iteration=11 key=pull value="8" | `
		}
		head := fmt.Sprintf(`run_id=77-1-abcd%c iteration=%d time="2026-01-02T12:%02d:`, 'a'+n, n, n)
		line += more + "started " + head + `00Z" lease={"actions_run":"77/1"} | decided ` + head + `59Z" ` + outcome +
			` previous_best=10 summary=tidied ` +
			`reasons=[{"kind":"said","words":"slow"},{"kind":"said","words":"twice"}] | ` +
			"finished " + head + "59Z\" | "
	}
	list := events(t, line)
	text, table := written(t, list)
	require.Empty(t, read(t, list, text, table), text)
	const entry = "### Iteration 11 — 2026-01-02 12:11 UTC — [Run](https://github.com/o/r/actions/runs/77)"
	between := func(text, from, to string) string {
		begin := strings.Index(text, from)
		require.GreaterOrEqual(t, begin, 0, "%s in %s", from, text)
		return text[begin : begin+strings.Index(text[begin:], to)]
	}
	eleven := between(text, "### Iteration 11", "### Iteration 10")
	ten := between(text, "### Iteration 10", "### Iteration 9")
	row := between(table, "\n10\t", "\n11\t")
	golden.Table(t, map[string]string{
		"rows change places": row + between(
			table,
			"\n11\t",
			"\n12\t",
		) + "→" + between(
			table,
			"\n11\t",
			"\n12\t",
		) + row,
		"the last run":          "| Last Run | 2026-01-02→| Last Run | 2026-01-01",
		"no last run":           between(text, "| Last Run", "| Iteration") + "→| Last Run | — |\n",
		"the count":             "| Iteration Count | 12 |→| Iteration Count | 13 |",
		"the first number":      "| Initial Metric | 10 |→| Initial Metric | 12 |",
		"no first number":       "| Initial Metric | 10 |→| Initial Metric | — |",
		"the best number":       "| Best Metric | 9 |→| Best Metric | 8 |",
		"the direction":         "| Metric Direction | lower→| Metric Direction | higher",
		"the branch":            "`autoloop/p`→`autoloop/q`",
		"the pull request":      "| PR | #8 |→| PR | #9 |",
		"no pull request":       "| PR | #8 |→| PR | — |",
		"the issue":             "| Issue | #3 |→| Issue | #4 |",
		"the errors":            "| Consecutive Errors | 0 |→| Consecutive Errors | 2 |",
		"the statuses":          "accepted, rejected |→rejected, rejected |",
		"a wait":                "| Paused |→| Not Before | 2026-01-02T12:00:00Z |\n| Paused |",
		"an entry's number":     "### Iteration 11 —→### Iteration 13 —",
		"an entry's date":       entry + "→" + strings.Replace(entry, "12:11", "12:35", 1),
		"an entry's link":       entry + "→" + strings.Replace(entry, "github.com/o", "example.com/o", 1),
		"an entry's kind":       "### Iteration 11 —→### Iteration 11 (new baseline) —",
		"an entry's status":     "✅ Accepted\n→❌ Rejected\n",
		"an entry's change":     "- **Change**: tidied→- **Change**: untidied",
		"an entry's metric":     "- **Metric**: 9 →- **Metric**: 8 ",
		"an entry's commit":     "0123456789ab→1123456789ab",
		"no commit":             "- **Commit**: 0123456789ab\n→",
		"a note":                "  - slow→  - fast",
		"a note less":           "  - twice\n→",
		"a note more":           "  - twice\n→  - twice\n  - thrice\n",
		"an entry is missing":   eleven + "→",
		"an entry twice":        eleven + "→" + eleven + eleven,
		"entries change places": eleven + ten + "→" + ten + eleven,
		"a line of older ones":  "❌ 2 /→❌ 3 /",
		"all entries":           "<!-- autoloop: end -->→",
		"a row's number":        "\n11\t→\n13\t",
		"a row's time":          "T12:11→T12:43",
		"a row's score":         "\t9\t9\tkept→\t8\t9\tkept",
		"a row's best score":    "\t9\t9\tkept→\t9\t8\tkept",
		"a row's action":        "\tkept\t→\treverted\t",
		"a row's changelog":     "kept\ttidied→kept\tuntidied",
		"a row more":            "\n11\t→\n10\t2026-01-02\t1\t1\tkept\tx\n11\t",
		"a row less":            between(table, "\n11\t", "\n12\t") + "→",
		"a person's words":      "<!-- autoloop: end -->→<!-- autoloop: end -->\n\nMine.",
		"a pause":               "| Paused | false |→| Paused | true |",
	}, func(t *testing.T, edit string) any {
		from, to, _ := strings.Cut(edit, "→")
		one, other := strings.Replace(text, from, to, 1), strings.Replace(table, from, to, 1)
		require.NotEqual(t, text+table, one+other)
		return read(t, list, one, other)
	})
}

// TestEarlierToolsStateMayHaveMore than the ledger: what was adopted, and the program's direction.
func TestEarlierToolsStateMayHaveMore(t *testing.T) {
	t.Parallel()
	adopted := events(t, `set key=adopted-iteration value="7" | set key=adopted-statuses value=rejected,error`)
	doc := state.New("p")
	doc.SetMachine(state.Machine{
		IterationCount: 7, RecentStatuses: []string{"rejected", "error"}, Branch: "b", PR: 4, Issue: 3,
		Direction: metric.Lower,
	})
	doc, err := state.Parse(doc.Render())
	require.NoError(t, err)
	assert.Empty(t, found(audit.State, adopted, audit.Records{State: doc, Branch: "b"}))
	assert.Empty(t, found(audit.State, nil, audit.Records{State: doc}), "nothing is known")
}

// TestRowsOfBeforeTheLedgerStay as they are, and no other row is there that it does not give.
func TestRowsOfBeforeTheLedgerStay(t *testing.T) {
	t.Parallel()
	list := events(
		t,
		`set key=adopted-iteration value="5" | measured iteration=6 role=baseline metric=10 direction=lower`,
	)
	doc, table := written(t, list)
	const row = "\t2026-01-02\t1\t1\tkept\tx\n"
	for rows, says := range map[string]string{
		table: "", strings.Replace(table, "\n", "\n3"+row+"5"+row, 1): "",
		results.Header + "\n5" + row: "6: a row is \"\"",
		table + "6" + row:            "6: a row is", table + "7" + row: "7: a row is",
	} {
		found := read(t, list, doc, rows)
		assert.True(t, strings.HasPrefix(found, says) && (found == "") == (says == ""), "%s: %s", rows, found)
	}
}

// TestCommitsAreThoseThatWereKept: each commit of the ledger is there, the program's branch is at the last, and each
// that says so was kept. What was merged and squashed may be there by another name.
func TestCommitsAreThoseThatWereKept(t *testing.T) {
	t.Parallel()
	const (
		base     = "measured role=baseline metric=10 direction=lower | "
		one      = "decided iteration=1 outcome=accepted metric=9 best=9 commit=c9 | "
		two      = "decided iteration=2 outcome=accepted metric=8 best=8 commit=c8 incumbent=c9 | "
		kept     = base + one + two
		pending  = "decided iteration=3 outcome=pending-ci best=7 commit=c7 | "
		again    = "measured role=baseline metric=8 | "
		beside   = again + "measured role=incumbent metric=8 | "
		both     = "// c9 1 9,c8 2 8,"
		replayed = "// new 2 8,"
	)
	merged := func(commit string) string { return `set key=pull-ended value="2" commit=` + commit + " | " }
	golden.Table(t, map[string]string{
		"as recorded":                kept + both + "// c8",
		"in another order":           kept + "// c8 2 8,c9 1 9 // c8",
		"nothing was kept":           base + " //  // somewhere",
		"somebody moved the branch":  kept + both + " // somewhere",
		"a commit is gone":           kept + "// c8 2 8 // c8",
		"a commit of nobody":         kept + both + "c123456789abcdef 3 7 // c8",
		"a commit without number":    kept + both + "x three 7 // c8",
		"another metric in it":       kept + "// c9 1 9,c8 2 5 // c8",
		"another iteration in it":    kept + "// c9 1 9,c8 02 8 // c8",
		"rebased, by another name":   kept + both + "rebased 1 9 // c8",
		"a pending one may be there": kept + pending + both + "c7 3 7 // c7",
		"not at the pending one":     kept + pending + both + "// c8",
		"a rejected one": kept + "decided iteration=4 outcome=rejected commit=c6 best=6" + both +
			"c6 4 6 // c8",
		"a new line":                     kept + again + "// c8 2 8 // elsewhere",
		"a new line, and the old beside": kept + beside + "// c8 2 8",
		"never measured":                 "decided iteration=1 outcome=accepted commit=c // c 1 — // c",
		"merged, and replayed":           kept + merged("c9") + beside + replayed,
		"merged, and not replayed":       kept + merged("c9") + beside + " // ",
		"replayed with another number":   kept + merged("c9") + beside + " // new 2 7",
		"all of it was merged":           kept + merged("c8") + beside + " // ",
		"merged after the default branch": kept + again + "measured role=incumbent metric=8 commit=m8 | " +
			merged("m8") + beside + " // ",
		"merged from elsewhere":       kept + merged("c3") + beside + " // ",
		"merged before, and replayed": base + one + merged("c9") + two + beside + replayed,
		"merged before, and not":      base + one + merged("c9") + two + beside + " // ",
		"merged while CI was waited for": base + strings.Replace(one, "accepted", "pending-ci", 1) + merged("c9") +
			one + two + beside + replayed,
	}, func(t *testing.T, row string) any {
		parts := append(strings.Split(row, "//"), "", "")
		var commits []audit.Commit
		for _, text := range strings.Split(strings.Trim(parts[1], " ,"), ",") {
			if f := strings.Fields(text); len(f) > 0 {
				commits = append(commits, audit.Commit{ID: f[0], Iteration: f[1], Metric: f[2]})
			}
		}
		list := events(t, parts[0])
		sum := history.Replay(list)
		records := audit.Records{Commits: commits, Head: cmp.Or(strings.TrimSpace(parts[2]), sum.Head())}
		return strings.Join(found(audit.Branch, list, records), "\n")
	})
}

// TestCommitsOfOthersAreNoForgery where the branch goes on from what was kept.
func TestCommitsOfOthersAreNoForgery(t *testing.T) {
	t.Parallel()
	report := audit.Of(audit.Records{
		Events: events(t, "measured role=baseline metric=10 direction=lower | "+
			"decided iteration=1 outcome=accepted metric=9 best=9 commit=c9 | pushed iteration=1 commit=c9"),
		Commits: []audit.Commit{{ID: "c9", Iteration: "1", Metric: "9"}}, Head: "theirs", Beyond: 2,
	}, nil)
	for _, finding := range report.Findings {
		assert.NotEqual(t, audit.Branch, finding.Where, finding.Message)
	}
	golden.Equal(t, "beyond.golden", strings.Join(report.Unseen, "\n")+"\n")
}

// TestCommitChangesWhatItClaims, as far as it is in this clone.
func TestCommitChangesWhatItClaims(t *testing.T) {
	t.Parallel()
	list := events(t, `decided iteration=1 outcome=accepted best=9 commit=c9 changed=["a.go","b.go"]`)
	golden.Table(t, map[string]string{ // the files that differ, and the numbers of findings and of what is not seen
		"one of the files":   "b.go c.go => 0 0",
		"nothing":            " => 1 0",
		"another file":       "c.go => 1 0",
		"a commit elsewhere": "- => 0 1",
	}, func(t *testing.T, files string) any {
		records := audit.Records{Events: list, Commits: []audit.Commit{{"c9", "1", "9"}}, Head: "c9"}
		if strings.TrimSpace(files) != "-" {
			records.Changed = map[string][]string{"c9": strings.Fields(files)}
		}
		return fmt.Sprintln(len(found(audit.Branch, list, records)), len(audit.Of(records, nil).Unseen))
	})
}

// TestReportFollowsRecords, and a list without findings is a list.
func TestReportFollowsRecords(t *testing.T) {
	t.Parallel()
	report := audit.Of(audit.Records{
		Events: events(t, "decided iteration=4 outcome=accepted commit=c best=9"), State: state.New("p"), Head: "c9",
		Rewritten: []string{"rewritten"}, Unknown: []string{"unsigned"}, Unseen: []string{"the clone is shallow", "it is fresh"},
	}, nil)
	var places []string
	for _, finding := range report.Findings {
		if len(places) == 0 || places[len(places)-1] != string(finding.Where) {
			places = append(places, string(finding.Where))
		}
	}
	assert.Equal(t, []string{"ledger", "state", "results", "branch", "memory branch"}, places)
	assert.Equal(t, []audit.Finding{{audit.Memory, 4, "rewritten"}, {audit.Memory, 4, "unsigned"}},
		report.Findings[len(report.Findings)-2:])
	assert.Len(t, report.Unseen, 3)
	text, err := json.Marshal(audit.Of(audit.Records{}, nil))
	require.NoError(t, err)
	assert.JSONEq(t, `{"decisions": 0, "repeated": 0, "findings": [], "unseen": []}`, string(text))
}

// TestReportInWords.
func TestReportInWords(t *testing.T) {
	t.Parallel()
	r := audit.Report{Decisions: 3, Repeated: 2}
	assert.Equal(t, "3 iterations, 2 decisions computed again: the records agree\n", r.String())
	r.Findings = []audit.Finding{{"state", 2, "odd"}}
	assert.Equal(t, "3 iterations, 2 decisions computed again: 1 disagreements\n  state, iteration 2: odd\n",
		r.String())
}
