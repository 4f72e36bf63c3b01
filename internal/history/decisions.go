package history

import (
	"maps"
	"time"
)

// Decisions goes through events and hands on every decision, with how long one run
// of its candidate took, 0 for unknown.
type Decisions struct {
	// Only is the one iteration that is meant, 0 for all.
	Only int
	Each func(e *Decided, seconds float64) error
	// Found is the last decision of the one that is meant, Measured what was measured
	// for it, Seconds how long one run of its last candidate took, and Took how long the
	// run took that measured it, up to the decision; nothing where all are meant.
	Found    *Decided
	Measured []*Measured
	Seconds  float64
	Took     time.Duration
	// Undone are the iterations that were taken back, each with the event that says so.
	Undone map[int]*Set

	seconds map[int]float64
	last    int // the iteration whose candidate was measured last
	began   *Started
}

// begins reports whether an event is of a baseline with which the run of the meant
// iteration began.
func (d *Decisions) begins(e Event) bool {
	m, is := e.(*Measured)
	return is && m.Stage == "" && m.Role != Candidate && d.began != nil && d.began.Run == m.Run && d.Found == nil
}

// Read goes through more events, in their order.
func (d *Decisions) Read(events []Event) error {
	if d.seconds == nil {
		d.seconds, d.Undone = map[int]float64{}, map[int]*Set{}
	}
	maps.DeleteFunc(d.seconds, func(iteration int, _ float64) bool {
		return iteration != d.last &&
			iteration != d.Only
	})
	for _, e := range events {
		if set, is := e.(*Set); is && UndoneBy(e) > 0 {
			d.Undone[UndoneBy(e)] = set
		}
		if d.Only > 0 && e.Header().Iteration != d.Only && !d.begins(e) {
			continue
		}
		switch e := e.(type) {
		case *Started:
			d.began = e
		case *Measured:
			if e.Role == Candidate {
				d.last = e.Iteration
				d.seconds[e.Iteration] = e.Seconds
			}
			if d.Only > 0 {
				d.Measured, d.Seconds = append(d.Measured, e), d.seconds[e.Iteration]
			}
		case *Decided:
			if d.Only > 0 {
				if d.Found == nil && d.began != nil { // before CI had its say
					d.Took = e.Time.Sub(d.began.Time)
				}
				d.Found = e
			}
			if err := d.Each(e, d.seconds[e.Iteration]); err != nil {
				return err
			}
		}
	}
	return nil
}
