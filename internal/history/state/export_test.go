package state

import "slices"

// AddEntry writes one more entry, or another one of the same iteration.
func (d *Doc) AddEntry(e HistoryEntry) {
	if e.Iteration <= 0 {
		e.Status = Baseline
	}
	list := slices.Clone(d.entries)
	at := slices.IndexFunc(list, func(o HistoryEntry) bool {
		return o.Iteration == e.Iteration && (o.Status == Baseline) == (e.Status == Baseline)
	})
	if at >= 0 {
		list[at] = e
	} else {
		list = append(list, e)
	}
	d.SetEntries(list, "https://github.com/o/r/actions/runs/")
	d.write(d.entries, 20, d.runs)
}

// Again is the file that Render writes, read again, with the same entries.
func (d *Doc) Again() (*Doc, error) {
	again, err := Parse(d.Render())
	if err == nil {
		again.SetEntries(d.entries, d.runs)
	}
	return again, err
}
