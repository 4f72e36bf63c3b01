package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/tests/golden"
)

func TestStatusSaysWhatToDo(t *testing.T) {
	t.Parallel()
	ran := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		standing      schedule.Standing
		state, reason string
	}{
		"due":       {schedule.Standing{Condition: schedule.Due, LastRun: &ran}, "due", ""},
		"never ran": {schedule.Standing{Condition: schedule.Due}, "due", "it never ran"},
		"not due":   {schedule.Standing{Condition: schedule.NotDue, Skip: "not due yet"}, "waiting", "not due yet"},
		"paused":    {schedule.Standing{Condition: schedule.Paused, Skip: "paused: why"}, "paused", "paused: why"},
		"unconfigured": {
			schedule.Standing{Condition: schedule.Unconfigured},
			"unconfigured",
			"replace the placeholders in p.md",
		},
		"in error": {schedule.Standing{
			Condition: schedule.InError,
			Problems:  []program.Problem{{File: "p.md", Line: 3, Message: "bad"}},
		}, "error", "p.md:3: bad"},
	} {
		c.standing.Program = &program.Program{Name: "p", File: "p.md"}
		status := c.standing.Status("")
		assert.Equal(t, c.state, status.State, name)
		assert.Equal(t, c.reason, status.Reason, name)
	}
}

func TestStatusIsLinked(t *testing.T) {
	t.Parallel()
	s := &schedule.Standing{Program: &program.Program{Issue: 3}, Machine: state.Machine{PR: 4}}
	assert.Empty(t, s.Status("").PRURL)
	linked := s.Status("https://github.com/me/it")
	assert.Equal(t, "https://github.com/me/it/pull/4", linked.PRURL)
	assert.Equal(t, "https://github.com/me/it/issues/3", linked.IssueURL)
}

func TestStatusTable(t *testing.T) {
	t.Parallel()
	now, late, best := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), int64(7200), metric.MustValue("1.5")
	before := now.AddDate(-1, 0, 0)
	assert.Equal(t, "program  state    runs  last run          next due     late  best  target  reason\n"+
		"a        due         2  2025-01-02 03:04  01-02 03:04   2 h   1.5   ≤ 1.5  why https://x/pull/1\n"+
		"b        waiting     0  —                 —               —     —       —\n",
		schedule.StatusTable([]schedule.Status{
			{
				Name: "a", State: "due", Iterations: 2, LastRun: &before, NextDue: &now, LatenessSeconds: &late,
				Best: &best, Target: &best,
				Direction: "lower", Reason: "why", PRURL: "https://x/pull/1", IssueURL: "https://x/issues/1",
			},
			{Name: "b", State: "waiting"},
		}, now).String())
}

func TestPlanText(t *testing.T) {
	t.Parallel()
	selected, next := "a", time.Date(2026, 1, 2, 5, 0, 0, 0, time.UTC)
	plan := &schedule.Plan{
		GeneratedAt: next.Add(-2 * time.Hour), Selected: &selected, Reason: "it is 2h late",
		Deferred: []string{"b", "c"}, Unconfigured: []string{"d"},
		Errors:  []schedule.Failure{{Name: "e", Problem: program.Problem{File: "e.md", Line: 2, Message: "bad"}}},
		Skipped: []schedule.Skipped{{Name: "f", Reason: "paused: why"}},
	}
	for range 22 {
		plan.Skipped = append(plan.Skipped, schedule.Skipped{Name: "g", Reason: "not due yet", NextDue: &next})
	}
	golden.Line(t, plan.Text())
}

func TestCompatText(t *testing.T) {
	t.Parallel()
	in := schedule.Input{Programs: []*program.Program{{Name: "a", Unconfigured: true}}}
	plan, err := schedule.Choose(in)
	require.NoError(t, err)
	text, failed := plan.CompatText(in, nil)
	assert.False(t, failed, "one that is not configured is to be worked on")
	assert.Contains(t, text, "Programs unconfigured: ['a']\n")

	in.Forced = "b"
	plan, err = schedule.Choose(in)
	text, failed = plan.CompatText(in, err)
	assert.True(t, failed)
	assert.Equal(t, "requested program 'b' not found\nERROR: requested program 'b' not found. Available programs: "+
		"['a']\n", text)

	empty, err := schedule.Choose(schedule.Input{})
	require.NoError(t, err)
	text, failed = empty.CompatText(schedule.Input{}, nil)
	assert.False(t, failed)
	assert.Equal(t, "NO_PROGRAMS_FOUND\n", text)
}
