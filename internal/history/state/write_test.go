package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

func parse(t *testing.T, text string) *state.Doc {
	t.Helper()
	doc, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return doc
}

func TestSetMachineTouchesOnlyWhatChanges(t *testing.T) {
	before := "# Autoloop: x\r\n\r\n### Machine State\r\n> keep \xe9\r\n\r\n" +
		"|Field|Value|\r\n|:-|-:|\r\n| **Last Run** | 2025-01-15 |\r\n|Iteration Count|  7  |\r\n" +
		"| Best Metric | 0.850 |\r\n| Strategy | wild \\| odd |\r\n|PR||\r\n| Paused | `false` |\r\n\r\n" +
		"## Notes of mine\r\n\tkeep\x00this  \r\n## Lessons Learned\r\n- one"
	doc := parse(t, before)
	assert.Equal(t, before, string(doc.Render()), "nothing was changed")
	m := doc.Machine()
	m.IterationCount, m.PR, m.Direction = 8, 12, metric.Lower
	doc.SetMachine(m)
	after := strings.NewReplacer(
		"|  7  |", "|  8  |",
		"|PR||", "|PR| #12 |",
		"| Best Metric | 0.850 |\r\n", "| Best Metric | 0.850 |\r\n| Metric Direction | lower |\r\n",
		"| Paused | `false` |\r\n", "| Paused | `false` |\r\n| Completed | false |\r\n| Consecutive Errors | 0 |\r\n",
	).Replace(before)
	assert.Equal(t, after, string(doc.Render()))
	assert.Equal(t, metric.Lower, doc.Machine().Direction)
	assert.True(t, doc.Machine().DirectionGiven)
}

func TestMissingDirectionIsHigherAndIsAdded(t *testing.T) {
	doc := parse(t, table+"| Target Metric | — |\n| Branch | `autoloop/x` |\n")
	assert.Equal(t, metric.Higher, doc.Machine().Direction)
	assert.False(t, doc.Machine().DirectionGiven)
	doc.SetMachine(doc.Machine())
	assert.Contains(t, string(doc.Render()),
		"| Target Metric | — |\n| Metric Direction | higher |\n| Branch | `autoloop/x` |\n")
}

func TestRowsInOrderWhateverIsThere(t *testing.T) {
	doc := parse(t, table+"| Paused | false |")
	m := doc.Machine()
	m.LastRun, m.RecentStatuses = at("2025-01-15T10:30:00Z"), []string{"accepted"}
	doc.SetMachine(m)
	assert.Equal(t, table+"| Last Run | 2025-01-15T10:30:00Z |\n| Iteration Count | 0 |\n"+
		"| Metric Direction | higher |\n| Paused | false |\n"+
		"| Completed | false |\n| Consecutive Errors | 0 |\n| Recent Statuses | accepted |", string(doc.Render()))
}

func TestMachineRoundTrip(t *testing.T) {
	m := state.Machine{
		LastRun: at("2025-01-15T10:30:00Z"), IterationCount: 3, InitialMetric: value("1.5"),
		BestMetric:   value("-1e-300"),
		TargetMetric: value("9007199254740993"), Direction: metric.Lower, DirectionGiven: true, Branch: "autoloop/a|b",
		PR: 4, Issue: 5,
		Paused: true, PauseReason: `a \| b \`, Completed: true, CompletedReason: "target 0.9 reached",
		ConsecutiveErrors: 2,
		RecentStatuses:    []string{"accepted", "error"},
	}
	doc := state.New("x")
	doc.SetMachine(m)
	m.Branch = `autoloop/a\|b`
	assert.Equal(t, m, parse(t, string(doc.Render())).Machine())
	other, rows := m, map[string]string{}
	other.PR, other.BestMetric = 7, nil
	m.Compare(other, func(row, is, other string) { rows[row] = is + " " + other })
	assert.Equal(t, map[string]string{"PR": "#4 #7", "Best Metric": m.BestMetric.String() + " —"}, rows)
	m = state.Machine{Direction: metric.Higher, DirectionGiven: true}
	doc.SetMachine(m)
	assert.Equal(t, m, doc.Machine())
	assert.Equal(t, string(state.New("x").Render()), string(doc.Render()))
}

func TestNotBeforeIsThereOnlyWhenItSaysSomething(t *testing.T) {
	t.Parallel()
	doc := state.New("p")
	assert.NotContains(t, string(doc.Render()), "Not Before")
	m, later := doc.Machine(), time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	m.NotBefore = &later
	doc.SetMachine(m)
	assert.Contains(t, string(doc.Render()), "| Recent Statuses | — |\n| Not Before | 2026-01-02T03:00:00Z |\n")
	again, err := state.Parse(doc.Render())
	require.NoError(t, err)
	require.NotNil(t, again.Machine().NotBefore)
	assert.Equal(t, later, *again.Machine().NotBefore)
	m.NotBefore = nil
	again.SetMachine(m)
	assert.Contains(t, string(again.Render()), "| Not Before | — |\n")
}
