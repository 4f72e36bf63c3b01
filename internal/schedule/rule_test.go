package schedule_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/golden"
)

// one judges a single program.
func one(t *testing.T, front string, ledger string, rows ...string) *schedule.Standing {
	t.Helper()
	in := schedule.Input{
		Programs: []*program.Program{programFile("p", front)},
		Ledger:   func(string) (*history.Log, error) { return testrepo.Ledger([]byte(ledger)) },
	}
	if len(rows) > 0 {
		in.States = map[string][]byte{"p": stateFile(rows...)}
	}
	return choose(t, in).Standings[0]
}

func notBefore(d time.Duration) string { return "Not Before=" + now.Add(d).Format(time.RFC3339) }

// TestConditions of a program with a line of frontmatter and with rows in its state, behind the
// date of the last run or "-" for no state: what it is in, and why it does not run.
func TestConditions(t *testing.T) {
	t.Parallel()
	const (
		spent    = `{"event":"decided","iteration":1,"outcome":"rejected","time":"2026-03-04T02:00:00Z"}` + "\n"
		budget   = "budget: {iterations: 1, per: day}"
		five     = "Recent Statuses=rejected, rejected, rejected, rejected, rejected"
		pending  = "Recent Statuses=accepted, pending-ci"
		sixHours = "schedule: every 6h"
	)
	hour := ago(time.Hour)
	for name, c := range map[string][]string{
		"never ran":                         {"schedule: weekly", ""},
		"no schedule":                       {"metric: x", "", ago(time.Second)},
		"completed before paused":           {"metric: x", "", "Completed=true", "Completed Reason=done", "Paused=true"},
		"paused":                            {"metric: x", "", "Paused=`true`", "Pause Reason=rest"},
		"pending whatever the budget":       {budget, spent, hour, pending},
		"pending is not resolved if paused": {"metric: x", "", "Paused=true", pending},
		"a rate limit":                      {"metric: x", "", hour, notBefore(time.Minute)},
		"a rate limit before the budget":    {budget, spent, hour, notBefore(time.Minute)},
		"a rate limit that is over":         {"metric: x", "", hour, notBefore(0)},
		"a rate limit of a clock gone wild": {"metric: x", "", hour, notBefore(90 * 24 * time.Hour)},
		"budget before plateau":             {budget, spent, hour, five},
		"plateau before not due":            {"schedule: weekly", "", hour, five},
		"no plateau":                        {"plateau: off", "", hour, five},
		"a longer plateau":                  {"plateau: 50", "", hour, five},
		"four rejections":                   {"metric: x", "", hour, strings.Replace(five, "rejected", "accepted", 1)},
		"not due":                           {"schedule: weekly", "", hour},
		"within five minutes":               {sixHours, "", ago(6*time.Hour - 5*time.Minute)},
		"before five minutes":               {sixHours, "", ago(6*time.Hour - 5*time.Minute - time.Second)},
		"cron within the grace":             {`schedule: "4 12 * * *"`, "", ago(20 * time.Hour)},
		"cron before the grace":             {`schedule: "6 12 * * *"`, "", ago(20 * time.Hour)},
		"a ledger that cannot be read":      {budget, "hello\n", hour},
		"a little in the future":            {"schedule: hourly", "", ago(-time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := one(t, c[0], c[1], c[2:]...)
			golden.Line(t, fmt.Sprint(s.Condition, " ", s.Skip))
		})
	}
}

func TestDue(t *testing.T) {
	s := one(t, "schedule: every 6h", "", ago(8*time.Hour))
	assert.Equal(t, 2*time.Hour, s.Lateness)
	assert.Equal(t, now.Add(-2*time.Hour), *s.NextDue)
	s = one(t, `schedule: "0 3 * * *"`, "", ago(48*time.Hour))
	assert.Equal(t, 33*time.Hour, s.Lateness, "since the first missed tick")
	assert.Equal(t, 24*time.Hour, s.Interval)
	s = one(t, "metric: x", "", ago(time.Hour))
	assert.Equal(t, time.Hour, s.Lateness)
	assert.Nil(t, s.NextDue, "due at every tick")
	s = one(t, "budget: {iterations: 1, per: week}",
		`{"event":"decided","iteration":1,"outcome":"rejected","time":"2026-03-02T00:00:00Z"}`+"\n", ago(time.Hour))
	assert.Equal(t, "2026-03-09T00:00:00Z", s.NextDue.Format(time.RFC3339), "weeks begin on Monday")
}

func TestDidYouMeanTheNearest(t *testing.T) {
	names := []string{"function-minimization", "speed", "coverage"}
	for name, want := range map[string]string{
		"sped": "speed", "Speed": "speed", "covrage": "coverage", "function-minimisation": "function-minimization",
		"minimization": "function-minimization",
		"x":            "", "": "", strings.Repeat("speed", 100): "",
	} {
		if want != "" {
			want = `; did you mean "` + want + `"?`
		}
		assert.Equal(t, want, schedule.DidYouMean(name, names), name)
	}
}

// TestStatusesInTheOrderOfTheHistory: a plateau, and a wait for CI, of statuses as other tools write them. The history
// shows their order, unless there is a ledger, whose order they have.
func TestStatusesInTheOrderOfTheHistory(t *testing.T) {
	t.Parallel()
	const ledger = `{"event":"started","time":"2025-01-01T00:00:00Z","run_id":"r","iteration":1}` + "\n"
	const first = "accepted, rejected, rejected, rejected, rejected, rejected"
	for name, c := range map[string][3]string{ // the statuses, the newest of the history, the ledger
		"the newest first":            {first, "✅ Accepted", ""},
		"a plateau, the newest last":  {first, "❌ Rejected", ""},
		"nothing shows it":            {first, "", ""},
		"waiting, the newest first":   {"pending-ci, rejected", "⏳ Pending CI", ""},
		"twelve, the newest first":    {"accepted" + strings.Repeat(", rejected", 11), "✅ Accepted", ""},
		"waited once, and not now":    {"accepted, rejected, pending-ci", "✅ Accepted", ""},
		"a ledger, and waited before": {"pending-ci, rejected", "⏳ Pending CI", ledger},
		"a ledger, and waits":         {"accepted, pending-ci", "✅ Accepted", ledger},
	} {
		text := ""
		if c[1] != "" {
			text = "\n## Iteration History\n\n### Iteration 7\n\n- **Status**: " + c[1] + "\n\n"
			for i := 6; i > 1; i-- {
				text += "### Iteration " + strconv.Itoa(i) + "\n\n- **Status**: ❌ Rejected\n\n"
			}
		}
		s := choose(t, schedule.Input{
			Programs: []*program.Program{programFile("p", "metric: x")},
			States:   map[string][]byte{"p": append(stateFile(ago(time.Hour), "Recent Statuses="+c[0]), text...)},
			Ledger:   func(string) (*history.Log, error) { return testrepo.Ledger([]byte(c[2])) },
		}).Standings[0]
		golden.Row(t, name, fmt.Sprint(s.Condition, " ", s.Skip))
	}
}

// TestProgramKeepsDirectionOfState: where its file leaves that open, and its
// state can be read.
func TestProgramKeepsDirectionOfState(t *testing.T) {
	t.Parallel()
	const head = "# Autoloop: p\n\n## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"
	const lower, higher = head + "| Metric Direction | lower |\n", head + "| Metric Direction | higher |\n"
	const none = "none"
	for name, states := range map[string][2]string{ // of the program, and of another
		"no state":                   {none, higher},
		"lower":                      {lower, higher},
		"higher":                     {higher, lower},
		"no direction in it":         {head + "| Iteration Count | 2 |\n"},
		"a state of before it ran":   {string(state.New("p").Render())},
		"a cell that cannot be read": {higher + "| Iteration Count | many |\n"},
		"no table":                   {"# mine\n"},
		"an empty state":             {},
		"others cannot be read":      {none, "# mine\n"},
	} {
		p := &program.Program{Name: "p", Evaluation: program.Metric, Direction: metric.Lower}
		known := map[string][]byte{"q": []byte(states[1])}
		if states[0] != none {
			known["p"] = []byte(states[0])
		}
		in := schedule.Input{States: known, Branch: memory.MemoryBranch}
		says := ""
		for _, problem := range in.Read(p).Problems {
			says += problem.String()
		}
		golden.Row(t, name, string(p.Direction)+" "+says)
	}
}
