// Package tuner is the tuner's arithmetic: given the marked numbers and every
// trial so far it proposes the next values to try. It keeps nothing between
// calls, so that separate processes continue one search from the ledger.
//
// The method is Bayesian optimization in a trust region: after a few points
// anywhere, a model of the metric is fitted to the trials nearest to the
// incumbent, and the next point is the one within a radius of it from which the
// model expects the greatest improvement. Failed trials count as the worst;
// noise is part of the model.
package tuner

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/org/autoloop/internal/metric"
)

// Param is one number that may be changed.
type Param struct {
	// Name identifies the parameter in trials and proposals.
	Name string
	// Min and Max bound the value, both included.
	Min, Max float64
	// Step, when positive, allows only Min, Min+Step, Min+2·Step, ….
	Step float64
	// Log searches ratios instead of differences; Min must be above zero.
	Log bool
	// Int allows only whole numbers.
	Int bool
	// Current is the incumbent's value; outside the bounds it counts as the
	// nearer bound.
	Current float64
}

// Observation is one evaluation of the past.
type Observation struct {
	// Params holds the values that were tried. A parameter that is missing had
	// its present value; one that is no longer in the space is ignored.
	Params map[string]float64
	// Value is what was measured; nil when the evaluation failed or gave no
	// usable number, which counts as worse than everything measured.
	Value *float64
}

// Proposal is the next point to try.
type Proposal struct {
	// Params has a value for every parameter of the space.
	Params map[string]float64
	// Radius is how far from the incumbent the point was looked for, as a share
	// of the ranges: it grows with success and shrinks with failure.
	Radius float64
}

// ErrExhausted says that every allowed combination of values was tried.
var ErrExhausted = errors.New("every combination of values within the bounds was tried")

// Propose returns the next point to try. It is a pure function of its
// arguments: the same space, history, direction and seed give the same point
// (on one kind of processor; another may round otherwise), and a longer history
// continues the same search. History is in the order of the trials and may hold
// points of other origin, repeats, and values out of bounds. A point that
// history holds is never proposed again. The error is ErrExhausted, or says
// which parameter is impossible.
func Propose(space []Param, history []Observation, direction metric.Direction, seed int64) (Proposal, error) {
	if len(space) == 0 {
		return Proposal{}, errors.New("no parameter to search")
	}
	for _, p := range space {
		if err := p.Validate(); err != nil {
			return Proposal{}, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	s := newState(space, history, direction, seed)
	point, ok := s.fresh(s.next())
	if !ok {
		return Proposal{}, ErrExhausted
	}
	params := make(map[string]float64, len(space))
	for i, p := range space {
		params[p.Name] = point[i]
	}
	return Proposal{Params: params, Radius: s.radius}, nil
}

// next returns a point to try, in units of the ranges. The first few lie
// anywhere, so that a poor start does not keep the search to itself; later every
// second is looked for farther away, so that a narrow region does not either.
func (s *state) next() []float64 {
	if len(s.trials) <= scattered {
		return s.anywhere()
	}
	if len(s.trials)%2 == 0 {
		s.radius = max(s.radius, wideRadius)
	}
	if at, ok := s.promising(); ok {
		return at
	}
	return s.wander(s.radius)
}

// anywhere is a point of the whole space; the scattered points together have
// one in each of as many parts of every range (a Latin hypercube).
func (s *state) anywhere() []float64 {
	parts := rand.New(rand.NewPCG(uint64(s.seed), scatterStream))
	at := make([]float64, len(s.space))
	k := max(len(s.trials)-1, 0)
	for i := range at {
		at[i] = (float64(parts.Perm(scattered)[k]) + s.rng.Float64()) / scattered
	}
	return at
}

// Validate says what makes a parameter impossible to search.
func (p Param) Validate() error {
	for _, x := range []float64{p.Min, p.Max, p.Step, p.Current} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v is not a finite number", x)
		}
	}
	switch {
	case p.Min >= p.Max:
		return fmt.Errorf("the minimum %v is not below the maximum %v", p.Min, p.Max)
	case math.IsInf(p.Max-p.Min, 0):
		return fmt.Errorf("the range %v..%v is too wide", p.Min, p.Max)
	case p.Step < 0:
		return fmt.Errorf("the step %v is below zero", p.Step)
	case p.Log && p.Min <= 0:
		return fmt.Errorf("a log scale needs a minimum above zero, not %v", p.Min)
	case p.Int && math.Ceil(p.Min) > math.Floor(p.Max):
		return fmt.Errorf("no whole number lies in %v..%v", p.Min, p.Max)
	case p.Step == 0 && !p.Int && p.levels() < 2:
		return fmt.Errorf("the range %v..%v is too narrow to hold two numbers", p.Min, p.Max)
	}
	return nil
}
