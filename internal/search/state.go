package search

import (
	"math"
	"math/rand/v2"

	"github.com/org/autoloop/internal/score"
)

const (
	firstRadius = 0.2
	minRadius   = 1e-7
	maxRadius   = 0.5
)

// sample is one point that was tried, in units of the ranges.
type sample struct {
	at []float64
	// cost is lower for better; +Inf when the evaluation failed.
	cost float64
}

// state is what a history amounts to.
type state struct {
	space  []Param
	rng    *rand.Rand
	centre []float64 // the incumbent, in units of the ranges
	trials []sample  // in the order of the history
	tried  map[string]bool
	radius float64
}

func newState(space []Param, history []Trial, direction score.Direction, seed int64) *state {
	s := &state{
		space:  space,
		rng:    rand.New(rand.NewPCG(uint64(seed), uint64(len(history)))),
		centre: make([]float64, len(space)),
		tried:  map[string]bool{},
	}
	current := make([]float64, len(space))
	for i, p := range space {
		current[i] = p.Clamp(p.Current)
		s.centre[i] = p.unit(current[i])
	}
	s.tried[key(current)] = true
	for _, trial := range history {
		s.add(trial, direction)
	}
	s.radius = replayRadius(s.trials)
	return s
}

func (s *state) add(trial Trial, direction score.Direction) {
	point := make([]float64, len(s.space))
	at := make([]float64, len(s.space))
	for i, p := range s.space {
		x, ok := trial.Params[p.Name]
		if !ok {
			x = p.Clamp(p.Current)
		}
		point[i] = x
		at[i] = p.unit(x)
		if math.IsNaN(at[i]) || math.Abs(at[i]-0.5) > 1.5 {
			return // of another range altogether
		}
	}
	s.tried[key(point)] = true
	cost := math.Inf(1)
	if trial.Value != nil && !math.IsNaN(*trial.Value) && !math.IsInf(*trial.Value, 0) {
		cost = *trial.Value
		if direction != score.Lower {
			cost = -cost
		}
	}
	s.trials = append(s.trials, sample{at: at, cost: cost})
}

// replayRadius follows the search from its first trial: the radius grows with
// success and shrinks with failure.
func replayRadius(trials []sample) float64 {
	radius, best := firstRadius, math.Inf(1)
	for i, t := range trials {
		switch {
		case t.cost < best:
			best = t.cost
			if i > 0 {
				radius = min(radius*1.6, maxRadius)
			}
		default:
			radius *= 0.9
		}
		if radius < minRadius {
			radius = firstRadius
		}
	}
	return radius
}

// choose returns the wanted point, in units of the ranges.
func (s *state) choose() ([]float64, string) {
	return s.wander(s.radius), "random step"
}

// wander steps from the centre in a random direction.
func (s *state) wander(radius float64) []float64 {
	at := make([]float64, len(s.centre))
	for i, c := range s.centre {
		at[i] = reflect(c + radius*s.rng.NormFloat64())
	}
	return at
}

// reflect folds a coordinate back into the unit interval.
func reflect(u float64) float64 {
	u = math.Mod(math.Abs(u), 2)
	if u > 1 {
		return 2 - u
	}
	return u
}

// fresh snaps a point to allowed values, moving it while it was tried before.
func (s *state) fresh(at []float64) ([]float64, bool) {
	radius := s.radius
	for attempt := range 200 {
		point := s.snap(at, radius)
		if !s.tried[key(point)] {
			return point, true
		}
		if attempt%10 == 9 {
			radius = min(radius*1.5, 1)
		}
		at = s.wander(radius)
	}
	return s.scan()
}

func (s *state) snap(at []float64, radius float64) []float64 {
	point := make([]float64, len(at))
	for i, p := range s.space {
		point[i] = p.Snap(p.value(at[i]), radius/50)
	}
	return point
}

func (s *state) scan() ([]float64, bool) { return nil, false }

// key identifies a point after rounding.
func key(point []float64) string {
	text := make([]byte, 0, 8*len(point))
	for _, x := range point {
		bits := math.Float64bits(x + 0)
		for shift := 0; shift < 64; shift += 8 {
			text = append(text, byte(bits>>shift))
		}
	}
	return string(text)
}
