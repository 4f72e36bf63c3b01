package state

import (
	"slices"
	"strconv"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// row is how the value of a row is read, written and compared.
type row struct {
	read func(r *reader, f field, m *Machine)
	cell func(m *Machine) string
	same func(a, b *Machine) bool
}

// rows are all of them. There is no second list of what a Machine holds.
var rows = [fieldCount]row{
	lastRun:           timeRow(func(m *Machine) **time.Time { return &m.LastRun }),
	iterationCount:    countRow(func(m *Machine) *int { return &m.IterationCount }),
	initialMetric:     metricRow(func(m *Machine) **metric.Value { return &m.InitialMetric }),
	bestMetric:        metricRow(func(m *Machine) **metric.Value { return &m.BestMetric }),
	targetMetric:      metricRow(func(m *Machine) **metric.Value { return &m.TargetMetric }),
	metricDirection:   directionRow(),
	branch:            textRow(func(m *Machine) *string { return &m.Branch }, func(r *reader, f field) string { return string(r.bare(f)) }, branchCell),
	pullRequest:       numberRow(func(m *Machine) *int { return &m.PR }),
	issue:             numberRow(func(m *Machine) *int { return &m.Issue }),
	paused:            flagRow(func(m *Machine) *bool { return &m.Paused }),
	pauseReason:       textRow(func(m *Machine) *string { return &m.PauseReason }, (*reader).prose, proseCell),
	completed:         flagRow(func(m *Machine) *bool { return &m.Completed }),
	completedReason:   textRow(func(m *Machine) *string { return &m.CompletedReason }, (*reader).prose, proseCell),
	consecutiveErrors: countRow(func(m *Machine) *int { return &m.ConsecutiveErrors }),
	recentStatuses: {
		read: func(r *reader, _ field, m *Machine) {
			all := r.statuses()
			m.RecentStatuses, m.cut = lastStatuses(all), len(all) > MaxStatuses
		},
		cell: func(m *Machine) string { return statusesCell(m.RecentStatuses) },
		same: func(a, b *Machine) bool { return slices.Equal(a.RecentStatuses, b.RecentStatuses) },
	},
	notBefore: timeRow(func(m *Machine) **time.Time { return &m.NotBefore }),
}

// rowOf is a row whose value has a type of its own.
func rowOf[T any](at func(*Machine) *T, read func(*reader, field) T, cell func(T) string, same func(a, b T) bool) row {
	return row{
		read: func(r *reader, f field, m *Machine) { *at(m) = read(r, f) },
		cell: func(m *Machine) string { return cell(*at(m)) },
		same: func(a, b *Machine) bool { return same(*at(a), *at(b)) },
	}
}

func equal[T comparable](a, b T) bool { return a == b }

func timeRow(at func(*Machine) **time.Time) row { return rowOf(at, (*reader).time, timeCell, sameTime) }

func metricRow(at func(*Machine) **metric.Value) row {
	return rowOf(at, (*reader).metric, func(v *metric.Value) string { return metric.Text(v, null) }, sameMetric)
}

func countRow(at func(*Machine) *int) row { return rowOf(at, (*reader).count, countCell, equal) }

func numberRow(at func(*Machine) *int) row { return rowOf(at, (*reader).number, numberCell, equal) }

func flagRow(at func(*Machine) *bool) row {
	return rowOf(at, (*reader).flag, strconv.FormatBool, equal)
}

func textRow(at func(*Machine) *string, read func(*reader, field) string, cell func(string) string) row {
	return rowOf(at, read, cell, equal)
}

// directionRow is written also where it was not given: it always says something.
func directionRow() row {
	return row{
		read: func(r *reader, _ field, m *Machine) { m.Direction, m.DirectionGiven = r.direction() },
		cell: func(m *Machine) string { return m.Direction.String() },
		same: func(a, b *Machine) bool { return a.DirectionGiven && a.Direction.String() == b.Direction.String() },
	}
}

func sameTime(a, b *time.Time) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

func sameMetric(a, b *metric.Value) bool {
	return a == b || a != nil && b != nil && a.Cmp(*b) == 0
}
