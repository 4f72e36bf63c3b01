package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

func TestWhyAProgramIsStopped(t *testing.T) {
	t.Parallel()
	const resume = "; go on with `iterate resume speed`"
	for name, c := range map[string]struct {
		machine state.Machine
		says    string
	}{
		"it is not":      {state.Machine{PauseReason: "left over", CompletedReason: "left over"}, ""},
		"paused by hand": {state.Machine{Paused: true}, "paused: by hand" + resume},
		"paused with a reason": {
			state.Machine{Paused: true, PauseReason: "three errors in a row"},
			"paused: three errors in a row" + resume,
		},
		"with an issue": {
			state.Machine{Paused: true, Issue: 7},
			"paused: by hand; go on with `/autoloop resume` or `iterate resume speed`",
		},
		"with a pull request": {
			state.Machine{Paused: true, PR: 7},
			"paused: by hand; go on with `/autoloop resume` or `iterate resume speed`",
		},
		"completed": {state.Machine{Completed: true}, "completed: its target is reached" + resume},
		"completed with a reason": {
			state.Machine{Completed: true, CompletedReason: "7 reached 7"},
			"completed: 7 reached 7" + resume,
		},
		"completed comes first": {
			state.Machine{Completed: true, Paused: true, PauseReason: "rest"},
			"completed: its target is reached" + resume,
		},
		"a reason that is not seen": {
			state.Machine{Paused: true, PauseReason: "\u200b\x1b[31m"},
			"paused: by hand" + resume,
		},
		"a reason of several lines": {
			state.Machine{Paused: true, PauseReason: "a\n\nb\x1b[2Jc\u202ed"},
			"paused: a bcd" + resume,
		},
		"a reason of a person's own": {
			state.Machine{Paused: true, PauseReason: "| pipes | and `code`"},
			"paused: | pipes | and `code`" + resume,
		},
	} {
		assert.Equal(t, c.says, c.machine.Stopped("speed"), name)
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
