package schedule_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// one judges a single program.
func one(t *testing.T, front string, ledger string, rows ...string) *schedule.Standing {
	t.Helper()
	in := schedule.Input{
		Programs: []*program.Program{programFile("p", front)},
		Ledger:   func(string) (*history.Log, error) { return history.Parse([]byte(ledger)) },
	}
	if rows != nil {
		in.States = map[string][]byte{"p": stateFile(rows...)}
	}
	return choose(t, in).Standings[0]
}

func notBefore(d time.Duration) string { return "Not Before=" + now.Add(d).Format(time.RFC3339) }

// TestConditions: rows of the state are separated by semicolons, and "-" is no state.
func TestConditions(t *testing.T) {
	t.Parallel()
	const (
		spent    = `{"event":"decided","iteration":1,"outcome":"rejected","time":"2026-03-04T02:00:00Z"}` + "\n"
		budget   = "budget: {iterations: 1, per: day}"
		rejected = "; Recent Statuses=rejected, rejected, rejected, rejected, rejected"
		pending  = "; Recent Statuses=accepted, pending-ci"
		limited  = "paused: the agent's service has a "
	)
	hour := ago(time.Hour)
	for name, c := range map[string]struct {
		front, ledger, rows string
		want                schedule.Condition
		skip                string
	}{
		"never ran":   {"schedule: weekly", "", "-", schedule.Due, ""},
		"no schedule": {"metric: x", "", ago(time.Second), schedule.Due, ""},
		"completed before paused": {
			"metric: x", "", "Completed=true; Completed Reason=done; Paused=true", schedule.Completed,
			"completed: done",
		},
		"paused": {
			"metric: x", "", "Paused=`true`; Pause Reason=rest", schedule.Paused, "paused: rest",
		},
		"pending whatever the budget": {budget, spent, hour + pending, schedule.Pending, ""},
		"pending is not resolved if paused": {
			"metric: x", "", "Paused=true" + pending, schedule.Paused, "paused: by hand",
		},
		"a rate limit": {
			"metric: x", "", hour + "; " + notBefore(time.Minute), schedule.Paused, limited,
		},
		"a rate limit before the budget": {
			budget, spent, hour + "; " + notBefore(time.Minute), schedule.Paused, limited,
		},
		"a rate limit that is over": {"metric: x", "", hour + "; " + notBefore(0), schedule.Due, ""},
		"a rate limit of a clock gone wild": {
			"metric: x", "", hour + "; " + notBefore(90*24*time.Hour), schedule.Due, "",
		},
		"budget before plateau": {
			budget, spent, hour + rejected, schedule.OverBudget,
			"budget: 1 of 1 iterations used ",
		},
		"plateau before not due": {"schedule: weekly", "", hour + rejected, schedule.Plateau, "plateau: "},
		"no plateau":             {"plateau: off", "", hour + rejected, schedule.Due, ""},
		"a longer plateau":       {"plateau: 50", "", hour + rejected, schedule.Due, ""},
		"four rejections": {
			"metric: x", "", hour + "; Recent Statuses=accepted, rejected, rejected, rejected, rejected", schedule.Due,
			"",
		},
		"not due": {"schedule: weekly", "", hour, schedule.NotDue, "not due yet"},
		"within five minutes": {
			"schedule: every 6h", "", ago(6*time.Hour - 5*time.Minute), schedule.Due, "",
		},
		"before five minutes": {
			"schedule: every 6h", "", ago(6*time.Hour - 5*time.Minute - time.Second), schedule.NotDue, "not due yet",
		},
		"cron within the grace": {`schedule: "4 12 * * *"`, "", ago(20 * time.Hour), schedule.Due, ""},
		"cron before the grace": {
			`schedule: "6 12 * * *"`, "", ago(20 * time.Hour), schedule.NotDue, "not due yet",
		},
		"a ledger that cannot be read": {budget, "hello\n", hour, schedule.InError, ""},
		"a little in the future": {
			"schedule: hourly", "", ago(-time.Minute), schedule.NotDue, "not due yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := strings.Split(c.rows, "; ")
			if c.rows == "-" {
				rows = nil
			}
			s := one(t, c.front, c.ledger, rows...)
			assert.Equal(t, c.want, s.Condition)
			assert.True(t, strings.HasPrefix(s.Skip, c.skip), s.Skip)
			assert.Equal(t, c.skip == "", s.Skip == "")
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

func TestNearest(t *testing.T) {
	names := []string{"function-minimization", "speed", "coverage"}
	for name, want := range map[string]string{
		"sped": "speed", "Speed": "speed", "covrage": "coverage", "function-minimisation": "function-minimization",
		"minimization": "function-minimization",
		"x":            "", "": "", strings.Repeat("speed", 100): "",
	} {
		assert.Equal(t, want, schedule.Nearest(name, names), name)
	}
}

// TestStatusesInTheOrderOfTheHistory: a plateau, and a wait for CI, of statuses as other tools write them. The history
// shows their order, unless there is a ledger, whose order they have.
func TestStatusesInTheOrderOfTheHistory(t *testing.T) {
	t.Parallel()
	const ledger = `{"event":"started","time":"2025-01-01T00:00:00Z","run_id":"r","iteration":1}` + "\n"
	const first = "accepted, rejected, rejected, rejected, rejected, rejected"
	for name, c := range map[string]struct {
		statuses, newest, ledger string
		want                     schedule.Condition
		skip                     string
	}{
		"the newest first": {first, "✅ Accepted", "", schedule.Due, ""},
		"a plateau, the newest last": {
			first, "❌ Rejected", "", schedule.Plateau, "the last 5 iterations kept nothing",
		},
		"nothing shows it":            {first, "", "", schedule.Plateau, "Recent Statuses end with 5 rejections"},
		"waiting, the newest first":   {"pending-ci, rejected", "⏳ Pending CI", "", schedule.Pending, ""},
		"waited once, and not now":    {"accepted, rejected, pending-ci", "✅ Accepted", "", schedule.Due, ""},
		"a ledger, and waited before": {"pending-ci, rejected", "⏳ Pending CI", ledger, schedule.Due, ""},
		"a ledger, and waits":         {"accepted, pending-ci", "✅ Accepted", ledger, schedule.Pending, ""},
	} {
		text := ""
		if c.newest != "" {
			text = "\n## Iteration History\n\n### Iteration 7\n\n- **Status**: " + c.newest + "\n\n"
			for i := 6; i > 1; i-- {
				text += "### Iteration " + strconv.Itoa(i) + "\n\n- **Status**: ❌ Rejected\n\n"
			}
		}
		s := choose(t, schedule.Input{
			Programs: []*program.Program{programFile("p", "metric: x")},
			States:   map[string][]byte{"p": append(stateFile(ago(time.Hour), "Recent Statuses="+c.statuses), text...)},
			Ledger:   func(string) (*history.Log, error) { return history.Parse([]byte(c.ledger)) },
		}).Standings[0]
		assert.Equal(t, c.want, s.Condition, name)
		assert.Contains(t, s.Skip, c.skip, name)
	}
}
