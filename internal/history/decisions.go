package history

import "time"

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
}

// Read goes through the events of a ledger.
func (d *Decisions) Read(events []Event) error {
	d.Undone = map[int]*Set{}
	seconds := map[int]float64{}
	var began *Started // of the one that is meant
	for _, event := range events {
		meant := d.Only == event.Header().Iteration
		switch e := event.(type) {
		case *Started:
			if meant {
				began = e
			}
		case *Measured:
			if e.Role == Candidate {
				seconds[e.Iteration] = e.Seconds
			}
			// A baseline with which its run began is recorded with the iteration before.
			first := e.Stage == "" && e.Role != Candidate && began != nil && began.Run == e.Run && d.Found == nil
			if d.Only > 0 && (meant || first) {
				d.Measured = append(d.Measured, e)
			}
		case *Decided:
			if d.Only > 0 && !meant {
				continue
			}
			if d.Only > 0 {
				if d.Found == nil && began != nil { // before CI had its say
					d.Took = e.Time.Sub(began.Time)
				}
				d.Found = e
			}
			if err := d.Each(e, seconds[e.Iteration]); err != nil {
				return err
			}
		case *Set:
			if number := UndoneBy(e); number > 0 {
				d.Undone[number] = e
			}
		}
	}
	d.Seconds = seconds[d.Only]
	return nil
}
