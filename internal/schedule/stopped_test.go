package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/golden"
)

func TestStopForEverybody(t *testing.T) {
	for _, value := range []string{
		"", "false", "0", "no", "off", "Off", " FALSE ", "n",
		"true", " True ", "1",
		"yes", "ON", "y",
		"maybe",
		"a\x1b",
	} {
		golden.Row(t, value, schedule.Stopped(value))
	}
}

func TestRefusedProgramKeepsNoOtherWaiting(t *testing.T) {
	var asked []string
	in := schedule.Input{
		Programs: []*program.Program{
			programFile("broken", "metric: x"), programFile("good", "metric: x"),
			programFile("later", "metric: x"), programFile("worse", "metric: x"),
		},
		States: map[string][]byte{"good": stateFile(ago(5 * 60e9)), "later": stateFile(ago(1 * 60e9))},
		Refusals: func(s *schedule.Standing) []program.Problem {
			asked = append(asked, s.Program.Name)
			if s.Program.Name == "broken" || s.Program.Name == "worse" {
				return []program.Problem{{File: s.Program.File, Line: 3, Severity: program.Error, Message: "no target"}}
			}
			return nil
		},
	}
	plan := choose(t, in)
	assert.Equal(t, "good", *plan.Selected)
	assert.Equal(t, []string{"later"}, plan.Deferred)
	assert.Equal(t, []string{"broken", "worse", "good"}, asked, "in the order of selection, and no more than needed")
	assert.Equal(t, []schedule.Failure{
		{"broken", program.Problem{File: ".autoloop/programs/broken.md", Line: 3, Severity: program.Error, Message: "no target"}},
		{"worse", program.Problem{File: ".autoloop/programs/worse.md", Line: 3, Severity: program.Error, Message: "no target"}},
	}, plan.Errors)
	in.Max = 3
	plan = choose(t, in)
	assert.Equal(t, []string{"good", "later"}, plan.Matrix.Program)
	assert.Empty(t, plan.Deferred)
	in.Forced = "broken"
	_, err := schedule.Choose(in)
	var forced *schedule.ForcedError
	require.ErrorAs(t, err, &forced)
	assert.ErrorContains(t, err, "no target")
}

func TestBudgetsAreLookedAtInTheOrderOfSelection(t *testing.T) {
	used := `{"event":"started","run_id":"r","iteration":1,"time":"2026-03-04T10:30:00Z"}` + "\n" +
		`{"event":"decided","run_id":"r","iteration":1,"time":"2026-03-04T10:31:00Z","outcome":"rejected"}` + "\n"
	const front = "budget: {iterations: 1, per: day}\nschedule: every 1h"
	var read []string
	in := schedule.Input{
		Programs: []*program.Program{
			programFile("fresh", front), programFile("later", front),
			programFile("spent", front), programFile("waits", front),
		},
		States: map[string][]byte{
			"spent": stateFile(ago(5 * time.Hour)), "fresh": stateFile(ago(4 * time.Hour)),
			"later": stateFile(ago(2 * time.Hour)), "waits": stateFile(ago(time.Minute)),
		},
		Ledger: func(name string) (*history.Log, error) {
			read = append(read, name)
			if name == "spent" {
				return testrepo.Ledger([]byte(used))
			}
			return nil, nil
		},
	}
	plan := choose(t, in)
	assert.Equal(t, "fresh", *plan.Selected)
	assert.Equal(t, []string{"spent", "fresh"}, slices.Compact(read), "no ledger is read that decides nothing")
	assert.Equal(t, []string{"later"}, plan.Deferred)
	require.Len(t, plan.Skipped, 2)
	golden.Row(t, "budget: 1 of 1", plan.Skipped[0].Reason)
	assert.Equal(t, "2026-03-05T00:00:00Z", plan.Skipped[0].NextDue.Format(time.RFC3339))
	assert.Equal(t, "not due yet", plan.Skipped[1].Reason)

	in.All = true
	for _, s := range choose(t, in).Standings {
		if s.Program.Name == "spent" {
			assert.Equal(t, schedule.OverBudget, s.Condition, "status looks at all")
		}
	}
	in.All, in.Forced = false, "spent"
	assert.Equal(t, "spent", *choose(t, in).Selected, "whoever asks for it by name knows")
}
