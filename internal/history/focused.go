package history

import (
	"maps"
	"slices"
)

// keptFocuses is how many failing tests are counted, those that were worked on last.
const keptFocuses = 400

// Focused is on which failing tests the earlier attempts under one definition worked: as
// much as a strategy needs to choose the next.
type Focused struct {
	Definition string
	// Counts is how many attempts each had, "" counts those without.
	Counts map[string]int `json:",omitempty"`
	// Latest are the tests, the one that was worked on last at the end.
	Latest []string `json:",omitempty"`
	// Row is how many attempts the last of them had without a break.
	Row int `json:",omitempty"`
}

// after is what is known after one more attempt; f stays as it is. Nothing is until one
// had a test to work on.
func (f *Focused) after(a *Attempt) *Focused {
	if f == nil && a.Focus == "" {
		return nil
	}
	next := &Focused{Definition: a.Definition, Counts: map[string]int{}}
	if f != nil && f.Definition == a.Definition {
		next.Counts, next.Latest, next.Row = maps.Clone(f.Counts), slices.Clone(f.Latest), f.Row
	}
	last := len(next.Latest) - 1
	if last < 0 || next.Latest[last] != a.Focus {
		next.Row = 0
		next.Latest = append(slices.DeleteFunc(next.Latest, func(name string) bool { return name == a.Focus }), a.Focus)
	}
	next.Counts[a.Focus]++
	next.Row++
	if more := len(next.Latest) - keptFocuses; more > 0 {
		for _, name := range next.Latest[:more] {
			delete(next.Counts, name)
		}
		next.Latest = slices.Clone(next.Latest[more:])
	}
	return next
}

// Focuses are the failing tests that the attempts under a definition worked on, "" for
// one without. Of the earlier ones the order is lost but of the last row.
func (b *Summary) Focuses(definition string) []string {
	var list []string
	if f := b.Earlier.Focus; f != nil && f.Definition == definition {
		last := len(f.Latest) - 1
		add := func(name string, n int) { list = append(list, slices.Repeat([]string{name}, n)...) }
		add(f.Latest[last], f.Counts[f.Latest[last]]-f.Row)
		for _, name := range f.Latest[:last] {
			add(name, f.Counts[name])
		}
		add(f.Latest[last], f.Row)
	}
	for i := range b.Attempts {
		if a := &b.Attempts[i]; !a.folded && a.Definition == definition {
			list = append(list, a.Focus)
		}
	}
	return list
}
