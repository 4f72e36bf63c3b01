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
	"slices"
	"strconv"

	"github.com/org/autoloop/internal/metric"
)

// Observation is one evaluation of the past.
type Observation struct {
	// Params holds the values that were tried. A parameter that is missing had
	// its present value; one that is no longer in the space is ignored.
	Params map[string]metric.Value
	// Value is what was measured; nil when the evaluation failed or gave no
	// usable number, which counts as worse than everything measured.
	Value *metric.Value
}

// ErrExhausted says that every allowed combination of values was tried.
var ErrExhausted = errors.New("every combination of values within the bounds was tried")

// Propose returns the next point to try, a value for every parameter of the space, which are valid. It is
// a pure function of its arguments: the same space, history, direction and seed give the
// same point (on one kind of processor; another may round otherwise), and a longer history
// continues the same search. History is in the order of the trials and may hold
// points of other origin, repeats, and values out of bounds. A point that
// history holds is never proposed again. The error is ErrNoMarks or ErrExhausted.
func Propose(space []Param, history []Observation, direction metric.Direction, seed int64) (
	map[string]float64, error,
) {
	if len(space) == 0 {
		return nil, ErrNoMarks
	}
	s := newSearch(space, history, direction, seed)
	point := s.fresh(s.next(seed))
	if point == nil {
		return nil, ErrExhausted
	}
	params := make(map[string]float64, len(space))
	for i, p := range space {
		params[p.Name] = point[i]
	}
	return params, nil
}

// The radius is how far from the incumbent the next point may lie, in units of
// the ranges.
const (
	firstRadius = 0.2
	leastRadius = 1e-7 // the search begins anew below
	mostRadius  = 0.5
	growth      = 1.6 // after a success
	shrinkage   = 0.9 // after a failure
	wideRadius  = 0.3 // at least, of every second proposal
	// scattered is how many of the first proposals lie anywhere in the ranges.
	scattered = 6
	// scatterStream keeps the scattered points' order apart from other draws.
	scatterStream = math.MaxUint64
)

// trial is one point that was tried, in units of the ranges.
type trial struct {
	at []float64
	// cost is lower for better; +Inf when the evaluation failed.
	cost float64
}

// search is what a history amounts to.
type search struct {
	space  []Param
	rng    *rand.Rand
	centre []float64 // the incumbent, in units of the ranges
	trials []trial   // in the order of the history
	tried  map[string]bool
	radius float64 // grows with success and shrinks with failure
}

func newSearch(space []Param, history []Observation, direction metric.Direction, seed int64) *search {
	s := &search{
		space: space, rng: rand.New(rand.NewPCG(uint64(seed), uint64(len(history)))),
		centre: make([]float64, len(space)), tried: map[string]bool{}, radius: firstRadius,
	}
	current := make([]float64, len(space))
	for i, p := range space {
		current[i] = p.Clamp(p.Current)
		s.centre[i] = p.unit(current[i])
	}
	s.tried[fmt.Sprint(current)] = true
	best := math.Inf(1)
	for _, past := range history {
		t := trial{s.place(past, current), math.Inf(1)}
		if t.at == nil {
			continue
		}
		if past.Value != nil {
			t.cost = past.Value.Float64()
			if direction != metric.Lower {
				t.cost = -t.cost
			}
		}
		switch {
		case len(s.trials) <= scattered: // they lie anywhere, which says nothing of the radius
		case t.cost < best:
			s.radius = min(s.radius*growth, mostRadius)
		default:
			s.radius *= shrinkage
		}
		if s.radius < leastRadius {
			s.radius = firstRadius
		}
		best = min(best, t.cost)
		s.trials = append(s.trials, t)
	}
	return s
}

// place notes the point that was tried, and returns it in units of the ranges; nil when it
// lies so far outside the present ranges that it teaches nothing.
func (s *search) place(past Observation, current []float64) []float64 {
	point, at := slices.Clone(current), slices.Clone(s.centre)
	for i, p := range s.space {
		if exact, known := past.Params[p.Name]; known {
			point[i] = exact.Float64()
			at[i] = p.unit(point[i])
		}
		if !(math.Abs(at[i]-0.5) <= 1.5) {
			return nil
		}
	}
	s.tried[fmt.Sprint(point)] = true
	return at
}

// next returns a point to try, in units of the ranges. The first few lie
// anywhere, so that a poor start does not keep the search to itself; later every
// second is looked for farther away, so that a narrow region does not either.
func (s *search) next(seed int64) []float64 {
	if len(s.trials) <= scattered {
		return s.anywhere(seed)
	}
	if len(s.trials)%2 == 0 {
		s.radius = max(s.radius, wideRadius)
	}
	if at := s.promising(); at != nil {
		return at
	}
	return s.wander(s.radius)
}

// anywhere is a point of the whole space; the scattered points together have
// one in each of as many parts of every range (a Latin hypercube).
func (s *search) anywhere(seed int64) []float64 {
	parts := rand.New(rand.NewPCG(uint64(seed), scatterStream))
	at := make([]float64, len(s.space))
	for i := range at {
		part := parts.Perm(scattered)[max(len(s.trials)-1, 0)]
		at[i] = (float64(part) + s.rng.Float64()) / scattered
	}
	return at
}

// wander steps from the centre in a random direction, and off the walls.
func (s *search) wander(radius float64) []float64 {
	at := make([]float64, len(s.centre))
	for i, c := range s.centre {
		u := math.Mod(math.Abs(c+max(radius, s.space[i].spacing(c))*s.rng.NormFloat64()), 2)
		at[i] = min(u, 2-u)
	}
	return at
}

// fresh snaps a point to allowed values. While it was tried before, others are
// taken, ever farther and finer. It is nil when all were tried.
func (s *search) fresh(at []float64) []float64 {
	point := make([]float64, len(s.space))
	radius, resolution := s.radius, s.radius/50
	for range 200 {
		for i, p := range s.space {
			point[i] = p.Snap(p.value(at[i]), resolution)
		}
		if !s.tried[fmt.Sprint(point)] {
			return point
		}
		radius = min(radius*1.05, 1)
		resolution = max(resolution*0.9, 1e-12)
		at = s.wander(radius)
	}
	// Count through the allowed values, the first parameter's fastest.
	for n := range mostLevels {
		for i, p := range s.space {
			point[i] = p.level(float64(n % p.levels()))
			n /= p.levels()
		}
		if n > 0 {
			break
		}
		if !s.tried[fmt.Sprint(point)] {
			return point
		}
	}
	return nil
}

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
	case p.Step == 0 && p.Snap(p.Min, 0) == p.Snap(p.Max, 0) && !p.Int:
		return fmt.Errorf("the range %v..%v is too narrow to hold two numbers", p.Min, p.Max)
	}
	return nil
}

// unit maps a value to the unit interval, where all parameters are alike.
func (p Param) unit(x float64) float64 {
	if p.Log {
		return (math.Log(x) - math.Log(p.Min)) / p.width()
	}
	return (x - p.Min) / p.width()
}

// value is the inverse of unit, before snapping.
func (p Param) value(u float64) float64 {
	if p.Log {
		return math.Exp(math.Log(p.Min) + u*p.width())
	}
	return p.Min + u*p.width()
}

// width is the range's on its scale; Max/Min itself may be too large a number.
func (p Param) width() float64 {
	if p.Log {
		return math.Log(p.Max) - math.Log(p.Min)
	}
	return p.Max - p.Min
}

// Clamp returns the nearest value within the bounds.
func (p Param) Clamp(x float64) float64 { return min(max(x, p.Min), p.Max) }

// grid returns the first allowed value and the distance of the next one, which is 0 for a
// continuous parameter.
func (p Param) grid() (first, step float64) {
	if p.Int {
		return math.Ceil(p.Min), max(p.Step, 1)
	}
	return p.Min, p.Step
}

// Snap returns the nearest allowed value. A continuous one keeps as many decimal digits as
// a difference of resolution (in units of the whole range) needs, so that texts stay short.
func (p Param) Snap(x, resolution float64) float64 {
	x = p.Clamp(x)
	first, step := p.grid()
	if step > 0 {
		return p.level(min(max(math.Round((x-first)/step), 0), p.last()))
	}
	// Fewer than 1e-12 of the value is lost in its own rounding.
	width := max(math.Abs(x-p.value(p.unit(x)-resolution)), math.Abs(x)*1e-12, 1e-300)
	quantum := math.Pow(10, math.Floor(math.Log10(width)))
	return p.Clamp(written(math.Round(x/quantum) * quantum))
}

// spacing is the distance between neighbouring allowed values, in units of the range, at
// a place in it; 0 for a continuous parameter.
func (p Param) spacing(u float64) float64 {
	_, step := p.grid()
	x := p.value(u)
	return p.unit(x+step) - p.unit(x)
}

// mostLevels are so many values that no history exhausts them.
const mostLevels = 1 << 20

// levels is the number of allowed values.
func (p Param) levels() int { return int(min(p.last()+1, mostLevels)) }

// last is the highest level.
func (p Param) last() float64 {
	first, step := p.grid()
	if step == 0 {
		return mostLevels
	}
	return math.Floor((p.Max-first)/step + 1e-9)
}

// level is the k-th allowed value.
func (p Param) level(k float64) float64 {
	first, step := p.grid()
	switch {
	case step == 0:
		return p.Snap(p.value(k/mostLevels), 0)
	case p.Int:
		return first + step*k
	}
	return p.Clamp(written(first + step*k))
}

// written is a number without the last bits of noise that sums and products collect.
func written(x float64) float64 {
	read, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 13, 64), 64)
	if err != nil {
		return x
	}
	return read + 0 // no negative zero
}
