package workspace

import "github.com/org/autoloop/internal/history/results"

// Run is one that has begun and not ended: After is the iteration before it, Count
// how many it was asked for.
type Run struct {
	After int `json:"after"`
	Count int `json:"count"`
}

// Resumes reports whether a run of so many iterations finishes this one; nil is
// none.
func (r *Run) Resumes(count int) bool { return r != nil && r.Count == count }

// Done counts the iterations of the run that the table has, and how many of the
// last were reverted.
func (r *Run) Done(rows []results.Row) (iterations, reverts int) {
	for _, row := range rows {
		switch {
		case row.Iteration <= r.After || row.Action == results.Baseline:
		case row.Action == results.Reverted:
			iterations, reverts = iterations+1, reverts+1
		default:
			iterations, reverts = iterations+1, 0
		}
	}
	return iterations, reverts
}
