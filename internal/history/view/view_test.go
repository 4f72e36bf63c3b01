package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/history/view"
	"github.com/org/autoloop/internal/metric"
)

func told(e state.HistoryEntry) string {
	return fmt.Sprintf("entry %d %v %s %s %q %s #%d %s %d %q", e.Iteration, e.Baseline,
		e.Time.Format("15:04"), e.Status, e.Change, e.MetricText(), e.PR, e.Commit, e.CIFixAttempts, e.Notes)
}

// TestWhatPeopleReadOfEvents: an entry and a row of each decision and each baseline.
func TestWhatPeopleReadOfEvents(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	value := func(text string) *metric.Value { v := metric.MustValue(text); return &v }
	start := func(n int) history.Event { return &history.Started{Head: history.Head{Iteration: n, Run: "a"}} }
	baseline := &history.Measured{Role: history.Baseline, Metric: value("10"), Samples: []metric.Value{*value("10")}}
	again := &history.Measured{
		Head: history.Head{Iteration: 1}, Role: history.Baseline, Metric: value("8"), Noisy: true,
		Reason:  &decision.Reason{Kind: decision.ProgramChanged},
		Samples: []metric.Value{*value("8"), *value("8")},
	}
	own := &history.Measured{
		Head: again.Head, Role: history.Incumbent, Metric: value("6"),
		Samples: []metric.Value{*value("5"), *value("6"), *value("8")},
	}
	set := func(key, value string) history.Event { return &history.Set{Key: key, Value: value} }
	decided := func(outcome history.Outcome, commit, summary string, reasons ...string) *history.Decided {
		return &history.Decided{
			Head: history.Head{Iteration: 1, Run: "a"}, Outcome: outcome, Commit: commit,
			Work: history.Work{Summary: summary}, Reasons: decision.Says(reasons...),
			Metric: value("9"), Verdict: decision.Improved,
		}
	}
	unmeasured := decided(history.Error, "", "", "it broke")
	unmeasured.Verdict, unmeasured.Run = "", "another"
	off := decided(history.Rejected, "", "s")
	off.Disagreement = &decision.Reason{Kind: decision.Said, Words: "d"}
	why := decision.Text(again.Reason)
	for name, c := range map[string]struct {
		events []history.Event
		told   []string
	}{
		"the first baseline": {[]history.Event{baseline}, []string{
			`entry 0 true 03:00  "Initial evaluation" 10 #0  0 []`, `row 0 03:00 10 baseline "Initial evaluation"`,
		}},
		"what a trial measures": {[]history.Event{&history.Measured{
			Role: history.Incumbent, Stage: "pairs",
			Metric: value("1"),
		}, &history.Measured{Role: history.Candidate, Metric: value("1")}}, nil},
		"a baseline that failed": {[]history.Event{&history.Measured{Role: history.Baseline}}, nil},
		"a new baseline, and the incumbent's": {[]history.Event{baseline, again, own}, []string{
			`entry 0 true 03:00  "Initial evaluation" 10 #0  0 []`, `row 0 03:00 10 baseline "Initial evaluation"`,
			fmt.Sprintf(`entry 1 true 03:01  "New baseline: %[1]s" 8 #0  0 [%[1]q "the best before was 10" "noisy: `+
				`the median of 2 runs, with a spread of 0 between the quartiles"]`, why),
			`row 1 03:01 8 baseline "New baseline: ` + why + `"`,
			fmt.Sprintf(`entry 1 true 03:02  "New baseline: %[1]s" 6 #0  0 [%[1]q "the best before was 10" "noisy: `+
				`the median of 3 runs, with a spread of 3 between the quartiles"]`, why),
			`row 1 03:02 6 baseline "New baseline: ` + why + `"`,
		}},
		"kept": {[]history.Event{start(1), decided(history.Accepted, commit, "s", "r")}, []string{
			`entry 1 false 03:00 accepted "s" 9 #0 0123456789ab 0 ["r"]`, `row 1 03:01 9 kept "s"`,
		}},
		"rejected": {
			[]history.Event{decided(history.Rejected, "", "s", "r", "q")},
			[]string{`entry 1 false 03:00 rejected "s" 9 #0  0 ["r" "q"]`, `row 1 03:00 9 reverted "s — r"`},
		},
		"rejected for no reason": {
			[]history.Event{decided(history.Rejected, "", "s")},
			[]string{`entry 1 false 03:00 rejected "s" 9 #0  0 []`, `row 1 03:00 9 reverted "s"`},
		},
		"nothing was compared": {[]history.Event{start(1), unmeasured}, []string{
			`entry 1 false 03:01 error "" 9 #0  0 ["it broke"]`, `row 1 03:01 — reverted "it broke"`,
		}},
		"another incumbent than on record": {
			[]history.Event{off},
			[]string{`entry 1 false 03:00 rejected "s" 9 #0  0 ["d"]`, `row 1 03:00 9 reverted "s"`},
		},
		"CI let it through": {[]history.Event{
			set(history.PullNumber, "8"), decided(history.PendingCI, commit, "s"),
			decided(history.Accepted, commit, "s", "green"),
		}, []string{
			`entry 1 false 03:01 pending-ci "s" 9 #8 0123456789ab 0 []`,
			`entry 1 false 03:02 accepted "s" 9 #8 0123456789ab 0 ["green"]`, `row 1 03:02 9 kept "s"`,
		}},
		"CI turned it down": {[]history.Event{
			set(history.PullNumber, "8"), decided(history.PendingCI, commit, "s"),
			&history.Checked{Head: history.Head{Iteration: 1}}, decided(history.CIFixExhausted, "", "s", "red"),
		}, []string{
			`entry 1 false 03:01 pending-ci "s" 9 #8 0123456789ab 0 []`,
			`entry 1 false 03:03 ci-fix-exhausted "s" 9 #8  1 ["red"]`, `row 1 03:03 9 reverted "s"`,
		}},
		"a pull request opens": {[]history.Event{
			decided(history.Accepted, commit, "s"), set(history.PullNumber, "8"), set(history.PullEnded, "8"),
			set(history.PullNumber, "8"), set(history.PullNumber, "x"),
		}, []string{
			`entry 1 false 03:00 accepted "s" 9 #0 0123456789ab 0 []`, `row 1 03:00 9 kept "s"`,
			`entry 1 false 03:00 accepted "s" 9 #8 0123456789ab 0 []`,
		}},
		"a pull request of nothing": {[]history.Event{set(history.PullNumber, "8")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v view.View
			var says []string
			before := history.Replay(nil)
			for i, e := range c.events {
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
			assert.Equal(t, c.told, says)
		})
	}
}
