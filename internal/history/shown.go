package history

import (
	"bytes"
	"encoding/json"
	"slices"
)

const (
	// shownDecided is how many of the latest iterations are shown with all that was
	// decided on them, shownKept how many of those whose change was put onto the branch.
	shownDecided = 32
	shownKept    = 30
	// shownEnds is how many of the latest ends of a pull request are known.
	shownEnds = 32
	// MostPoints is how many iterations a chart has at most.
	MostPoints = 40
)

// PointsEvery is of how many iterations one is drawn when so many were decided: a power
// of two, so that what is drawn of more of them was drawn of fewer too.
func PointsEvery(iterations int) int {
	every := 1
	for iterations/every >= MostPoints {
		every *= 2
	}
	return every
}

// Promoted reports whether a decision put its change onto the program's branch.
func Promoted(e *Decided) bool { return e.Outcome == Accepted || e.Outcome == PendingCI }

// show chooses from the events that were shown before, and those after them, what
// people are shown of them: so many, however long the ledger is; decided is how many
// iterations it has. Choosing in between does not change what is chosen at the end.
func show(before, added []Event, decided int) ([]json.RawMessage, error) {
	var lines []json.RawMessage
	for _, e := range choose(append(before, added...), decided) {
		line, err := Line(e)
		if err != nil {
			return nil, err
		}
		if line, err = condenseLine(bytes.TrimSpace(line)); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// choose are the events that are shown, in their order, when so many iterations were
// decided.
func choose(events []Event, decided int) []Event {
	last := map[int]*Decided{} // by iteration
	var order []int
	for e := range Of[*Decided](slices.All(events)) {
		if last[e.Iteration] == nil {
			order = append(order, e.Iteration)
		}
		last[e.Iteration] = e
	}
	whole := map[int]bool{}
	for _, n := range order[max(len(order)-shownDecided, 0):] {
		whole[n] = true
	}
	kept := 0
	for _, n := range slices.Backward(order) {
		if last[n].Outcome == PendingCI {
			whole[n] = true // it counts once CI decided
		} else if Promoted(last[n]) && kept < shownKept {
			kept++
			whole[n] = true
		}
	}
	every := PointsEvery(decided)
	chosen := make([]bool, len(events))
	ends, stops := 0, true
	for i, e := range slices.Backward(events) {
		switch e := e.(type) {
		case *Decided:
			chosen[i] = whole[e.Iteration] || e == last[e.Iteration] && e.Iteration%every == 0
		case *Paused, *Completed:
			chosen[i], stops = stops, false
		case *Resumed:
			stops = false
		case *Set:
			if e.Key == PullEnded && ends < shownEnds {
				ends++
				chosen[i] = true
			}
		}
	}
	first := func(is func(Event) bool) {
		if i := slices.IndexFunc(events, is); i >= 0 {
			chosen[i] = true
		}
	}
	first(func(e Event) bool { m, is := e.(*Measured); return is && m.Role == Baseline && m.Metric != nil })
	for e := range Of[*Decided](slices.All(events)) {
		if Promoted(e) {
			first(func(other Event) bool { return other == Event(e) })
			first(func(other Event) bool { return other == Event(last[e.Iteration]) }) // CI may have said no
			break
		}
	}
	first(func(e Event) bool { set, is := e.(*Set); return is && set.Key == AdoptedIteration })
	var list []Event
	for i, e := range events {
		if !chosen[i] {
			continue
		}
		if e, is := e.(*Decided); is && !whole[e.Iteration] {
			list = append(list, point(e))
			continue
		}
		list = append(list, e)
	}
	return list
}

// point is what a chart has of a decision.
func point(e *Decided) *Decided {
	return &Decided{
		Head:    Head{Schema: e.Schema, Time: e.Time, Run: e.Run, Iteration: e.Iteration},
		Outcome: e.Outcome, Metric: e.Metric, PreviousBest: e.PreviousBest, Best: e.Best,
	}
}

// Shown are events of what is sealed, condensed: those that people are shown however
// long the ledger is, in their order. Of iterations long ago they have some, and only
// the numbers.
func (c *Checkpoint) Shown() ([]Event, error) {
	var events []Event
	for _, line := range c.shown {
		e, err := ParseEvent(line)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
