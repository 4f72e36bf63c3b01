package state_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

const table = "## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n"

func TestPlateauAndPending(t *testing.T) {
	m := state.Machine{RecentStatuses: []string{"accepted", "rejected", "rejected", "rejected"}}
	for n, is := range map[int]bool{3: true, 4: false, 5: false, 0: false} {
		assert.Equal(t, is, m.Plateau(n), n)
	}
	assert.False(t, m.Pending())
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

// TestWhetherTheOrderOfStatusesMatters asks both orders, of all lists of up to six.
func TestWhetherTheOrderOfStatusesMatters(t *testing.T) {
	t.Parallel()
	words := []string{"accepted", "rejected", "pending-ci"}
	lists := [][]string{nil}
	for begin := 0; len(lists[begin]) < 6; begin++ {
		for _, word := range words {
			lists = append(lists, append(slices.Clone(lists[begin]), word))
		}
	}
	mattered := 0
	for _, list := range lists {
		m, turned := state.Machine{RecentStatuses: list}, state.Machine{RecentStatuses: slices.Clone(list)}
		slices.Reverse(turned.RecentStatuses)
		for n := -1; n <= 7; n++ {
			want := m.Pending() != turned.Pending() || m.Plateau(n) != turned.Plateau(n)
			assert.Equal(t, want, m.OrderMatters(n), "%v, plateau of %d", list, n)
			if want {
				mattered++
			}
		}
	}
	assert.Greater(t, mattered, 100)
}

// TestStatusesThatAreCutOff: of more than ten the order says which of them are known.
func TestStatusesThatAreCutOff(t *testing.T) {
	t.Parallel()
	for count, matters := range map[int]bool{9: false, 10: false, 11: true, 30: true} {
		cell := strings.TrimSuffix(strings.Repeat("error, ", count), ", ")
		m := parse(t, table+"| Recent Statuses | "+cell+" |\n").Machine()
		assert.Len(t, m.RecentStatuses, min(count, state.MaxStatuses))
		assert.Equal(t, matters, m.OrderMatters(3), count)
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
