package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/history/view"
)

func told(e state.HistoryEntry) string {
	return fmt.Sprintf("entry %d %v %s %s %q %s #%d %s %d %q", e.Iteration, e.Baseline,
		e.Time.Format("15:04"), e.Status, e.Change, e.MetricText(), e.PR, e.Commit, e.CIFixAttempts, e.Notes)
}

// TestTextOfEvents: an entry and a row of each decision and each baseline.
func TestTextOfEvents(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	const (
		first   = `{"event":"measured","role":"baseline","metric":10,"samples":[10]}`
		why     = `"iteration":1,"reason":{"kind":"program-changed"}`
		again   = `{"event":"measured","role":"baseline","metric":8,"noisy":true,"samples":[8,8],` + why + `}`
		own     = `{"event":"measured","role":"incumbent","metric":6,"samples":[5,6,8],` + why + `}`
		start   = `{"event":"started","iteration":1,"run_id":"a"}`
		decided = `{"event":"decided","iteration":1,"run_id":"a","metric":9,"verdict":"improved","summary":"s"`
		commit  = `,"commit":"0123456789abcdef0123456789abcdef01234567"`
		kept    = decided + `,"outcome":"accepted"` + commit + `}`
		waits   = decided + `,"outcome":"pending-ci"` + commit + `}`
		pull    = `{"event":"set","key":"pull","value":"8"}`
		base    = `entry 0 true 03:00  "Initial evaluation" 10 #0  0 [], row 0 03:00 10 baseline "Initial evaluation"`
	)
	because := decision.Text(&decision.Reason{Kind: decision.ProgramChanged})
	said := func(words ...string) string {
		for i, one := range words {
			words[i] = `{"kind":"said","words":"` + one + `"}`
		}
		return `,"reasons":[` + strings.Join(words, ",") + `]}`
	}
	for name, c := range map[string]struct {
		events []string
		told   string
	}{
		"the first baseline": {[]string{first}, base},
		"what a trial measures": {[]string{
			`{"event":"measured","role":"incumbent","stage":"pairs","metric":1}`,
			`{"event":"measured","role":"candidate","metric":1}`,
		}, ""},
		"a baseline that failed": {[]string{`{"event":"measured","role":"baseline"}`}, ""},
		"a new baseline, and the incumbent's": {[]string{first, again, own}, base + fmt.Sprintf(
			`, entry 1 true 03:01  "New baseline: %[1]s" 8 #0  0 [%[1]q "the best before was 10" "noisy: the `+
				`median of 2 runs, with a spread of 0 between the quartiles"], `+
				`row 1 03:01 8 baseline "New baseline: %[1]s", `+
				`entry 1 true 03:02  "New baseline: %[1]s" 6 #0  0 [%[1]q "the best before was 10" "noisy: the `+
				`median of 3 runs, with a spread of 3 between the quartiles"], `+
				`row 1 03:02 6 baseline "New baseline: %[1]s"`,
			because)},
		"kept": {
			[]string{start, kept}, `entry 1 false 03:00 accepted "s" 9 #0 0123456789ab 0 [], row 1 03:01 9 kept "s"`,
		},
		"rejected": {
			[]string{decided + `,"outcome":"rejected"` + said("r", "q")},
			`entry 1 false 03:00 rejected "s" 9 #0  0 ["r" "q"], row 1 03:00 9 reverted "s — r"`,
		},
		"rejected for no reason": {
			[]string{decided + `,"outcome":"rejected"}`},
			`entry 1 false 03:00 rejected "s" 9 #0  0 [], row 1 03:00 9 reverted "s"`,
		},
		"nothing was compared": {
			[]string{start, `{"event":"decided","iteration":1,"run_id":"b","metric":9,"outcome":"error"` +
				said("it broke")},
			`entry 1 false 03:01 error "" 9 #0  0 ["it broke"], row 1 03:01 — reverted "it broke"`,
		},
		"another incumbent than on record": {
			[]string{decided + `,"outcome":"rejected","disagreement":{"kind":"said","words":"d"}}`},
			`entry 1 false 03:00 rejected "s" 9 #0  0 ["d"], row 1 03:00 9 reverted "s"`,
		},
		"CI let it through": {
			[]string{pull, waits, decided + `,"outcome":"accepted"` + commit + said("green")},
			`entry 1 false 03:01 pending-ci "s" 9 #8 0123456789ab 0 [], ` +
				`entry 1 false 03:02 accepted "s" 9 #8 0123456789ab 0 ["green"], row 1 03:02 9 kept "s"`,
		},
		"CI turned it down": {
			[]string{
				pull, waits, `{"event":"checked","iteration":1}`,
				decided + `,"outcome":"ci-fix-exhausted"` + said("red"),
			},
			`entry 1 false 03:01 pending-ci "s" 9 #8 0123456789ab 0 [], ` +
				`entry 1 false 03:03 ci-fix-exhausted "s" 9 #8  1 ["red"], row 1 03:03 9 reverted "s"`,
		},
		"a pull request opens": {
			[]string{kept, pull, `{"event":"set","key":"pull-ended","value":"8"}`, pull},
			`entry 1 false 03:00 accepted "s" 9 #0 0123456789ab 0 [], row 1 03:00 9 kept "s", ` +
				`entry 1 false 03:00 accepted "s" 9 #8 0123456789ab 0 []`,
		},
		"a pull request of nothing": {[]string{pull}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v view.View
			var says []string
			before := history.Replay(nil)
			for i, line := range c.events {
				e, err := history.ParseEvent([]byte(line))
				require.NoError(t, err)
				e = history.Stamp(e, e.Header().Run, at.Add(time.Duration(i)*time.Minute))
				entries := fmt.Sprint(v.Entries)
				row := v.Add(&before, e)
				before.Add(e)
				if fmt.Sprint(v.Entries) != entries {
					says = append(says, told(v.Entries[len(v.Entries)-1]))
				}
				if row != nil {
					says = append(says, fmt.Sprintf("row %d %s %s %s %q", row.Iteration, row.Time.Format("15:04"),
						history.ValueText(row.Score), row.Action, row.Changelog))
				}
			}
			assert.Equal(t, c.told, strings.Join(says, ", "))
		})
	}
}
