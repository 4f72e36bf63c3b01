package tuner

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/org/autoloop/internal/metric"
)

// The radius is how far from the incumbent the next point may lie, in units of
// the ranges.
const (
	firstRadius = 0.2
	leastRadius = 1e-7 // the search begins anew below
	mostRadius  = 0.5
	growth      = 1.6 // after a success
	shrinkage   = 0.9 // after a failure
	wideRadius  = 0.3 // at least, of every second proposal
)

// scattered is how many of the first proposals lie anywhere in the ranges.
const scattered = 6

// scatterStream keeps the scattered points' order apart from other draws.
const scatterStream = math.MaxUint64

// sample is one point that was tried, in units of the ranges.
type sample struct {
	at []float64
	// cost is lower for better; +Inf when the evaluation failed.
	cost float64
}

// state is what a history amounts to.
type state struct {
	space  []Param
	seed   int64
	rng    *rand.Rand
	centre []float64 // the incumbent, in units of the ranges
	trials []sample  // in the order of the history
	tried  map[string]bool
	radius float64
}

func newState(space []Param, history []Observation, direction metric.Direction, seed int64) *state {
	s := &state{
		space:  space,
		seed:   seed,
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
		s.add(trial, current, direction)
	}
	s.radius = replayRadius(s.trials)
	return s
}

// add reads one trial. What lies far outside the present ranges teaches nothing.
func (s *state) add(trial Observation, current []float64, direction metric.Direction) {
	point := make([]float64, len(s.space))
	at := make([]float64, len(s.space))
	for i, p := range s.space {
		x, ok := trial.Params[p.Name]
		if !ok {
			x = current[i]
		}
		point[i], at[i] = x, p.unit(x)
		if !(math.Abs(at[i]-0.5) <= 1.5) {
			return
		}
	}
	s.tried[key(point)] = true
	cost := math.Inf(1)
	if trial.Value != nil && !math.IsNaN(*trial.Value) && !math.IsInf(*trial.Value, 0) {
		cost = *trial.Value
		if direction != metric.Lower {
			cost = -cost
		}
	}
	s.trials = append(s.trials, sample{at, cost})
}

// replayRadius follows the search from its first trial: the radius grows with
// success and shrinks with failure.
func replayRadius(trials []sample) float64 {
	radius, best := firstRadius, math.Inf(1)
	for i, t := range trials {
		better := i == 0 || t.cost < best
		best = min(best, t.cost)
		switch {
		case i <= scattered: // tried anywhere, which says nothing of the radius
		case better:
			radius = min(radius*growth, mostRadius)
		default:
			radius *= shrinkage
		}
		if radius < leastRadius {
			radius = firstRadius
		}
	}
	return radius
}

// wander steps from the centre in a random direction, and off the walls.
func (s *state) wander(radius float64) []float64 {
	at := make([]float64, len(s.centre))
	for i, c := range s.centre {
		reach := max(radius, s.space[i].spacing(s.space[i].value(c)))
		u := math.Mod(math.Abs(c+reach*s.rng.NormFloat64()), 2)
		at[i] = min(u, 2-u)
	}
	return at
}

// fresh snaps a point to allowed values. While it was tried before, others are
// taken, ever farther and finer. It is not ok when all were tried.
func (s *state) fresh(at []float64) (point []float64, ok bool) {
	radius, resolution := s.radius, s.radius/50
	for range 200 {
		point := s.snap(at, resolution)
		if !s.tried[key(point)] {
			return point, true
		}
		radius = min(radius*1.05, 1)
		resolution = max(resolution*0.9, 1e-12)
		at = s.wander(radius)
	}
	return s.firstUntried()
}

func (s *state) snap(at []float64, resolution float64) []float64 {
	point := make([]float64, len(at))
	for i, p := range s.space {
		point[i] = p.Snap(p.value(at[i]), resolution)
	}
	return point
}

// mostScanned bounds the search for a combination that is left.
const mostScanned = 1 << 20

// firstUntried counts through the allowed values, the first parameter's
// fastest.
func (s *state) firstUntried() (point []float64, ok bool) {
	level := make([]int, len(s.space))
	point = make([]float64, len(s.space))
	for i, p := range s.space {
		point[i] = p.level(0)
	}
	for range mostScanned {
		if !s.tried[key(point)] {
			return point, true
		}
		i := 0
		for ; i < len(level); i++ {
			if level[i]++; level[i] == s.space[i].levels() {
				level[i] = 0
			}
			if point[i] = s.space[i].level(level[i]); level[i] > 0 {
				break
			}
		}
		if i == len(level) {
			return nil, false
		}
	}
	return nil, false
}

// key identifies a point exactly.
func key(point []float64) string {
	text := make([]byte, 0, 8*len(point))
	for _, x := range point {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x+0))
	}
	return string(text)
}
