package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

const table = "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"

func TestPending(t *testing.T) {
	assert.False(t, state.Machine{RecentStatuses: []string{"accepted", "rejected"}}.Pending())
	assert.True(t, state.Machine{RecentStatuses: []string{"pending-ci"}}.Pending())
	assert.False(t, state.Machine{}.Pending())
}

func TestWhyAProgramIsStopped(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]state.Machine{
		"it is not":                  {PauseReason: "left over", CompletedReason: "left over"},
		"paused by hand":             {Paused: true},
		"paused with a reason":       {Paused: true, PauseReason: "three errors in a row"},
		"with an issue":              {Paused: true, Issue: 7},
		"with a pull request":        {Paused: true, PR: 7},
		"completed":                  {Completed: true},
		"completed with a reason":    {Completed: true, CompletedReason: "7 reached 7"},
		"completed comes first":      {Completed: true, Paused: true, PauseReason: "rest"},
		"a reason that is not seen":  {Paused: true, PauseReason: "\u200b\x1b[31m"},
		"a reason of several lines":  {Paused: true, PauseReason: "a\n\nb\x1b[2Jc\u202ed"},
		"a reason of a person's own": {Paused: true, PauseReason: "| pipes | and `code`"},
	} {
		golden.Row(t, name, m.Stopped("speed"))
	}
}

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

func at(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &t
}
