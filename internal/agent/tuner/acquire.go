package tuner

import (
	"math"
	"sort"
)

const (
	// leastModelled and mostModelled bound how many trials a model is made of;
	// in between it is two for each parameter.
	leastModelled, mostModelled = 80, 240
	// mostCurved is the number of parameters up to which the model's quadratic
	// part is minimized by itself.
	mostCurved = 200
	// changedAtOnce is how many parameters a random candidate changes, about.
	changedAtOnce = 20
	candidates    = 150
	refined       = 4
	refinements   = 60
)

// box is the region around the centre in which the next point is looked for,
// in the model's local coordinates: the centre is 0.
type box struct {
	state     *state
	scale     float64
	low, high []float64
	share     float64 // probability that a random candidate changes a parameter
}

func (s *state) box() box {
	n := len(s.centre)
	b := box{
		state: s, scale: math.Sqrt(float64(n)) * s.radius,
		low: make([]float64, n), high: make([]float64, n),
		share: min(1, changedAtOnce/float64(n)),
	}
	for i, c := range s.centre {
		reach := max(s.radius, 1.01*s.space[i].spacing(s.space[i].value(c)))
		b.low[i] = (max(c-reach, 0) - c) / b.scale
		b.high[i] = (min(c+reach, 1) - c) / b.scale
	}
	return b
}

func (b box) local(at []float64) []float64 {
	z := make([]float64, len(at))
	for i := range at {
		z[i] = (at[i] - b.state.centre[i]) / b.scale
	}
	return z
}

func (b box) unit(z []float64) []float64 {
	at := make([]float64, len(z))
	for i := range z {
		at[i] = min(max(b.state.centre[i]+z[i]*b.scale, 0), 1)
	}
	return at
}

// settle moves the coordinates of stepped parameters to allowed values.
func (b box) settle(z []float64) {
	for i, p := range b.state.space {
		if p.Step > 0 || p.Int {
			u := b.state.centre[i] + z[i]*b.scale
			z[i] = (p.unit(p.Snap(p.value(u), 0)) - b.state.centre[i]) / b.scale
		}
	}
}

func (b box) holds(z []float64) bool {
	for i, x := range z {
		if x < b.low[i]-1e-9 || x > b.high[i]+1e-9 {
			return false
		}
	}
	return true
}

// candidate is a local point with the logarithm of its expected improvement.
type candidate struct {
	at   []float64
	gain float64
}

// promising returns the point near the centre from which the model expects the
// greatest improvement. It is not ok while there is nothing to learn from.
func (s *state) promising() (at []float64, ok bool) {
	b := s.box()
	points, costs := s.nearest(b)
	if len(points) < 2 {
		return nil, false
	}
	m := fitModel(points, costs)
	if m == nil {
		return nil, false
	}
	best := m.lowestKnown(b)
	rate := func(z []float64) candidate {
		b.settle(z)
		mean, deviation := m.predict(z)
		return candidate{z, logImprovement(best-mean, deviation)}
	}
	var found []candidate
	if len(s.space) <= mostCurved {
		found = append(found, rate(m.quadratic().lowest(b.low, b.high)))
	}
	for range candidates {
		found = append(found, rate(b.random()))
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].gain > found[j].gain })
	var top candidate
	for i, c := range found[:refined] {
		if c = b.refine(c, rate); i == 0 || c.gain > top.gain {
			top = c
		}
	}
	return b.unit(top.at), true
}

// lowestKnown is the lowest cost that the model believes of a trial in the box.
func (m *model) lowestKnown(b box) float64 {
	best, _ := m.predict(make([]float64, len(b.low)))
	for _, p := range m.points {
		if b.holds(p) {
			mean, _ := m.predict(p)
			best = min(best, mean)
		}
	}
	return best
}

// random returns a point of the box that differs from the centre in some
// coordinates.
func (b box) random() []float64 {
	z := make([]float64, len(b.low))
	for i := range z {
		if b.state.rng.Float64() < b.share {
			z[i] = b.low[i] + b.state.rng.Float64()*(b.high[i]-b.low[i])
		}
	}
	return z
}

// refine climbs from a candidate with random steps that become smaller.
func (b box) refine(c candidate, rate func([]float64) candidate) candidate {
	width := 0.15
	for range refinements {
		z := make([]float64, len(c.at))
		for i := range z {
			z[i] = c.at[i]
			if b.state.rng.Float64() < max(b.share, 0.3) {
				z[i] += width * b.state.rng.NormFloat64() * (b.high[i] - b.low[i])
			}
			z[i] = min(max(z[i], b.low[i]), b.high[i])
		}
		if try := rate(z); try.gain > c.gain {
			c = try
		} else {
			width *= 0.93
		}
	}
	return c
}

// logImprovement is the logarithm of the expected improvement E[max(0, X)] of a
// normal variable X with mean gain (Jones, Schonlau and Welch, 1998).
func logImprovement(gain, deviation float64) float64 {
	t := gain / deviation
	if t > -5 {
		density := math.Exp(-t*t/2) / math.Sqrt(2*math.Pi)
		return math.Log(deviation * (density + t*math.Erfc(-t/math.Sqrt2)/2))
	}
	// Far in the tail, to leading order: φ(t)/t².
	return math.Log(deviation) - t*t/2 - math.Log(t*t*math.Sqrt(2*math.Pi))
}

// nearest returns the trials that the model is made of, those nearest to the
// centre, with costs between 0 and 1 and failures as bad as the worst.
func (s *state) nearest(b box) (points [][]float64, costs []float64) {
	best, worst := math.Inf(1), math.Inf(-1)
	for _, t := range s.trials {
		if !math.IsInf(t.cost, 1) {
			best, worst = min(best, t.cost), max(worst, t.cost)
		}
	}
	if math.IsInf(worst, -1) {
		return nil, nil
	}
	order := make([]int, len(s.trials))
	distance := make([]float64, len(s.trials))
	for i, t := range s.trials {
		order[i], distance[i] = i, distanceBetween(t.at, s.centre)
	}
	sort.SliceStable(order, func(i, j int) bool { return distance[order[i]] < distance[order[j]] })
	most := min(max(leastModelled, 2*len(s.space)), mostModelled)
	for _, i := range order[:min(len(order), most)] {
		points = append(points, b.local(s.trials[i].at))
		costs = append(costs, share(min(s.trials[i].cost, worst), best, worst))
	}
	return points, costs
}

// share is where x lies between low and high, 0 to 1; halves cannot overflow.
func share(x, low, high float64) float64 {
	if high <= low {
		return 0
	}
	return (x/2 - low/2) / (high/2 - low/2)
}
