// Package strategy decides what the proposals of an iteration grow from and what
// they work on. A strategy is one value in one file, registered by its name in
// All. It is pure: chance comes from seeds, and the past from the records.
package strategy

import (
	"slices"

	"github.com/org/autoloop/internal/metric"
)

// Strategy is one way to search.
type Strategy interface {
	// SelectParents says which of the past's candidates one proposal grows from.
	SelectParents(Population) Offspring
	// Focus picks the failing test that an iteration works on, "" for none. Output
	// is what the incumbent's evaluation printed; earlier holds the focus of each
	// attempt so far, oldest first, "" for one without a focus.
	Focus(output string, earlier []string) string
}

// Population is what a strategy selects parents from, for one proposal.
type Population struct {
	// Members are the measured candidates of the past, in the order of their
	// measurements.
	Members   []Individual
	Direction metric.Direction
	// Seed, Iteration and Proposal are all that chance may come from.
	Seed                int64
	Iteration, Proposal int
}

// Individual is one measured candidate of the past.
type Individual struct {
	Iteration, Proposal int
	Value               float64
	// Lines are the changed lines of its patch, normalised.
	Lines []string
}

// Offspring is what one proposal grows from: places in the list of members.
type Offspring struct {
	// Parent is -1 for the incumbent.
	Parent int
	// Inspirations are others, the most useful first.
	Inspirations []int
}

// Named is a strategy under its name.
type Named struct {
	Name string
	// Evolves says that rejected candidates can be parents: their changes are
	// kept, and a plateau takes more attempts.
	Evolves bool
	Strategy
}

// Table is a list of strategies.
type Table []Named

// All returns the strategies that a program can ask for. A new one is a file
// beside this one, and a line here.
func All() Table {
	return Table{
		{Name: "openevolve", Evolves: true, Strategy: Openevolve{}},
		{Name: "test-driven", Strategy: TestDriven{}},
	}
}

// Names are the names, in order.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, one := range t {
		names[i] = one.Name
	}
	return names
}

// Named finds a strategy. For any other name it returns the one that changes the
// incumbent and works on nothing in particular.
func (t Table) Named(name string) Named {
	if at := slices.IndexFunc(t, func(e Named) bool { return e.Name == name }); at >= 0 {
		return t[at]
	}
	return Named{Strategy: Incumbent{}}
}

// Incumbent is the strategy of a program that asks for none.
type Incumbent struct{}

// SelectParents returns the incumbent.
func (Incumbent) SelectParents(Population) Offspring { return Offspring{Parent: -1} }

// Focus returns no test.
func (Incumbent) Focus(string, []string) string { return "" }
