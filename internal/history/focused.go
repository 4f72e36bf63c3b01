package history

import (
	"maps"
	"slices"
)

// keptFocuses is how many failing tests are counted, those that were worked on last.
const keptFocuses = 400

// Focused is on which failing tests the attempts under one definition worked: as much as a
// strategy needs to choose the next.
type Focused struct {
	Definition string
	// Counts is how many attempts each had, "" counts those without.
	Counts map[string]int `json:",omitempty"`
	// Latest are the tests, the one that was worked on last at the end.
	Latest []string `json:",omitempty"`
	// Row is how many attempts the last of them had without a break.
	Row int `json:",omitempty"`
	// Before is the same for other definitions, the one that was left last at the end: a
	// program may go back to one. All of them have keptFocuses tests at most.
	Before []Focused `json:",omitempty"`
}

// clone is a copy that shares nothing with f.
func (f *Focused) clone() *Focused {
	if f == nil {
		return nil
	}
	own := *f
	own.Counts, own.Latest, own.Before = maps.Clone(f.Counts), slices.Clone(f.Latest), nil
	for i := range f.Before {
		own.Before = append(own.Before, *f.Before[i].clone())
	}
	return &own
}

// after is what is known after one more attempt, for which f is changed. Nothing is known
// until an attempt had a test to work on.
func (f *Focused) after(a *Attempt) *Focused {
	switch {
	case f == nil && a.Focus == "":
		return nil
	case f == nil:
		f = &Focused{Definition: a.Definition}
	case f.Definition != a.Definition:
		f = f.under(a.Definition)
	}
	last := len(f.Latest) - 1
	if last < 0 || f.Latest[last] != a.Focus {
		f.Row = 0
		f.Latest = append(slices.DeleteFunc(f.Latest, func(name string) bool { return name == a.Focus }), a.Focus)
	}
	if f.Counts == nil {
		f.Counts = map[string]int{}
	}
	f.Counts[a.Focus]++
	f.Row++
	f.forget()
	return f
}

// under is f for another definition: what was known of it when it was left, if anything.
func (f *Focused) under(definition string) *Focused {
	before := f.Before
	left := *f
	left.Before = nil
	next := &Focused{Definition: definition}
	if i := slices.IndexFunc(before, func(other Focused) bool { return other.Definition == definition }); i >= 0 {
		own := before[i]
		next, before = &own, slices.Delete(before, i, i+1)
	}
	next.Before = append(before, left)
	return next
}

// forget leaves out the tests that were worked on first, of the definition that was left
// first, until few enough are counted.
func (f *Focused) forget() {
	count := len(f.Latest)
	for i := range f.Before {
		count += len(f.Before[i].Latest)
	}
	for ; count > keptFocuses; count-- {
		oldest := f
		if len(f.Before) > 0 {
			oldest = &f.Before[0]
		}
		delete(oldest.Counts, oldest.Latest[0])
		oldest.Latest = slices.Delete(oldest.Latest, 0, 1)
		if len(oldest.Latest) == 0 {
			f.Before = slices.Delete(f.Before, 0, 1)
		}
	}
}

// Focuses are the failing tests that the attempts under a definition worked on, "" for
// one without. Their order is lost but of the last row; of very many tests those that
// were worked on last are known. It is the same however much of the ledger is sealed.
func (b *Summary) Focuses(definition string) []string {
	f := b.Earlier.Focus.clone()
	for i := range b.Attempts {
		if a := &b.Attempts[i]; !a.folded {
			f = f.after(a)
		}
	}
	if f != nil && f.Definition != definition {
		f = f.under(definition)
	}
	if f == nil || len(f.Latest) == 0 {
		return nil
	}
	var list []string
	add := func(name string, n int) { list = append(list, slices.Repeat([]string{name}, n)...) }
	last := f.Latest[len(f.Latest)-1]
	add(last, f.Counts[last]-f.Row)
	for _, name := range f.Latest[:len(f.Latest)-1] {
		add(name, f.Counts[name])
	}
	add(last, f.Row)
	return list
}
