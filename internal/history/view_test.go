package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
)

func told(e state.HistoryEntry) string {
	return fmt.Sprintf("entry %d %v %s %s %q %s #%d %s %d %q", e.Iteration, e.Status == state.Baseline,
		e.Time.Format("15:04"), e.Status, e.Change, e.MetricText(), e.PR, e.Commit, e.CIFixAttempts, e.Notes)
}

// TestTextOfEvents: an entry and a row of each decision and each baseline.
func TestTextOfEvents(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	const (
		why     = `"iteration":1,"reason":{"kind":"program-changed"}`
		first   = `{"event":"measured","role":"baseline","metric":10,"samples":[10]}` + "\n"
		again   = `{"event":"measured","role":"baseline","metric":8,"noisy":true,"samples":[8,8],` + why + "}\n"
		own     = `{"event":"measured","role":"incumbent","metric":6,"samples":[5,6,8],` + why + "}\n"
		start   = `{"event":"started","iteration":1,"run_id":"a"}` + "\n"
		decided = `{"event":"decided","iteration":1,"run_id":"a","metric":9,"verdict":"improved","summary":"s","outcome":`
		commit  = `,"commit":"0123456789abcdef0123456789abcdef01234567"`
		kept    = decided + `"accepted"` + commit + "}\n"
		waits   = decided + `"pending-ci"` + commit + "}\n"
		pull    = `{"event":"set","key":"pull","value":"8"}` + "\n"
		checked = `{"event":"checked","iteration":1}` + "\n"
		said    = `,"reasons":[{"kind":"said","words":"r"},{"kind":"said","words":"q"}]}`
	)
	golden.Table(t, map[string]string{
		"the first baseline": first,
		"what a trial measures": `{"event":"measured","role":"incumbent","stage":"pairs","metric":1}` + "\n" +
			`{"event":"measured","role":"candidate","metric":1}`,
		"a baseline that failed":              `{"event":"measured","role":"baseline"}`,
		"a new baseline, and the incumbent's": first + again + own,
		"kept":                                start + kept,
		"rejected":                            decided + `"rejected"` + said,
		"rejected for no reason":              decided + `"rejected"}`,
		"nothing was compared": start + `{"event":"decided","iteration":1,"run_id":"b","metric":9,"outcome":"error"` +
			said,
		"another incumbent than on record": decided + `"rejected","disagreement":{"kind":"said","words":"d"}}`,
		"CI let it through":                pull + waits + decided + `"accepted"` + commit + said,
		"CI turned it down":                pull + waits + checked + decided + `"ci-fix-exhausted"` + said,
		"a pull request opens": kept + pull + `{"event":"set","key":"pull-ended","value":"8"}` + "\n" +
			pull,
		"a pull request of nothing": pull,
	}, func(t *testing.T, lines string) any {
		log, err := testrepo.Ledger([]byte(lines))
		require.NoError(t, err)
		var v history.Summary
		var says []string
		for i, e := range log.Events {
			e = history.Stamp(e, e.Header().Run, at.Add(time.Duration(i)*time.Minute))
			entries := fmt.Sprint(v.Entries)
			row := v.Show(e)
			if fmt.Sprint(v.Entries) != entries {
				says = append(says, told(v.Entries[len(v.Entries)-1]))
			}
			if row != nil {
				says = append(says, fmt.Sprintf("row %d %s %s %s %q", row.Iteration, row.Time.Format("15:04"),
					history.ValueText(row.Score), row.Action, row.Changelog))
			}
		}
		return strings.Join(says, ", ")
	})
}
