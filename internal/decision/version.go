package decision

import (
	"errors"
	"fmt"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// Version is what may differ from one version of the rule to the next. What a
// version decided is decided again by the same one, so that a version that was
// ever released stays as it is: a change of the rule is a new version.
type Version struct {
	// Seeded says that the order needs a seed, Extends that an inconclusive stage
	// gets more pairs, Checks that a gain that is too good is held until the evaluation
	// was seen to notice emptied files.
	Seeded, Extends, Checks bool
	// Order is which side is measured in each run of a stage, without warm-ups.
	Order func(s Standard, stage Stage) []Side
	// P is the two-sided probability that samples that were taken in this order
	// are as far apart by chance.
	P func(s Standard, order []Side, incumbent, candidate []metric.Value) float64
	// Level is below which P a difference after so many pairs is no chance.
	Level func(s Standard, pairs int) float64
	// Rank is the two-sided probability that samples in any order are as far apart by
	// chance: those of a guardrail, a case, or the incumbent on another day.
	Rank func(a, b []metric.Value) float64
}

// Versions are versions of the rule by their numbers, which begin with 1.
type Versions map[int]Version

// Latest is the version by which new trials are decided.
const Latest = 4

// Known are all versions that ever decided something.
func Known() Versions { return Versions{1: first(), 2: second(), 3: third(), 4: fourth()} }

// In is the rule as a version knows it.
func (r Rule) In(version int) Rule {
	r.Version = version
	known := Known()[max(version, 1)]
	if !known.Extends {
		r.MaxPairs = 0
	}
	r.CheckTooGood = r.CheckTooGood && known.Checks
	return r
}

// NewTrial begins a trial against a standard by the version of its rule; no
// version is the first. A version that is not known is an error.
func (v Versions) NewTrial(standard Standard) (*Trial, error) {
	standard.Version = max(standard.Version, 1)
	version, known := v[standard.Version]
	if !known {
		return nil, fmt.Errorf("version %d of the rule is not known here: use a newer autoloop", standard.Version)
	}
	if version.Seeded && standard.Seed == "" {
		return nil, errors.New("the order of its runs is not known: no seed is recorded")
	}
	if !version.Extends {
		standard.MaxPairs = 0
	}
	t := &Trial{
		pairs: map[Stage]int{Pairs: standard.Pairs, Confirmation: standard.Pairs}, standard: standard, version: version, taken: map[Stage]map[Side][]metric.Measurement{}, warm: map[Stage]map[Side]bool{}, looked: map[Stage]bool{}, orders: map[Stage][]Side{},
	}
	for _, stage := range []Stage{Once, Again, Pairs, Confirmation, Held} {
		t.taken[stage], t.warm[stage] = map[Side][]metric.Measurement{}, map[Side]bool{}
	}
	return t, nil
}

// NewTrial begins a trial by a known version of the rule.
func NewTrial(standard Standard) *Trial {
	t, err := Known().NewTrial(standard)
	if err != nil {
		panic("decision: " + err.Error())
	}
	return t
}

// first is version 1: the order turns from pair to pair (ABBA), so that a machine
// that gets slower, or a second run that differs from a first, treats both
// alike, and the rank test decides.
func first() Version {
	return Version{
		Order: func(s Standard, stage Stage) []Side {
			switch stage {
			case Once:
				return []Side{Candidate}
			case Again:
				return []Side{Incumbent, Candidate}
			case Pairs:
				return alternating(Incumbent, s.Pairs)
			default:
				return alternating(Candidate, s.Pairs)
			}
		},
		P: func(_ Standard, _ []Side, incumbent, candidate []metric.Value) float64 {
			return statistics.MirroredP(incumbent, candidate)
		},
		Level: func(s Standard, _ int) float64 { return 1 - s.Confidence },
		Rank:  statistics.MirroredP,
	}
}

// third is version 3: as the second, and a gain that is too good is held.
func third() Version {
	version := second()
	version.Checks = true
	return version
}

// fourth is version 4: as the third, with ranks that are counted exactly.
func fourth() Version {
	version := dealt(statistics.P)
	version.Checks = true
	return version
}

// alternating begins every pair with the side that ended the one before.
func alternating(begin Side, pairs int) []Side {
	order := make([]Side, 0, 2*pairs)
	for range pairs {
		order = append(order, begin, begin.other())
		begin = begin.other()
	}
	return order
}
