package tuner

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// model is what the trials say about the costs in between: a Gaussian process whose
// covariance is that of a random quadratic function around the incumbent plus that of a
// random smooth one. With few trials it is the flattest quadratic through them; with many
// it also follows what is no quadratic. Noise is fitted with the rest.
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
// chapters 2, 4.2 and 5.4.)
type model struct {
	shape
	points  [][]float64 // the trials
	factor  [][]float64 // lower triangle of the covariance's Cholesky factor
	weights []float64   // inverse covariance times the costs
	prior   float64     // variance of the costs, in units of the covariance
}

// shape is a covariance. Its last three are fitted by likelihood.
type shape struct {
	centre []float64
	scale  float64 // the unit of distances
	bumps  float64 // variance of the smooth part; the quadratic part has 1
	length float64 // how far the smooth part reaches
	noise  float64 // variance of the noise
}

func (s shape) covariance(a, b []float64) float64 {
	inner := 0.0
	for i, c := range s.centre {
		inner += (a[i] - c) * (b[i] - c)
	}
	inner /= s.scale * s.scale
	r := math.Sqrt(5) * distance(a, b) / s.scale / s.length // Matérn 5/2
	return 1 + inner + inner*inner/2 + s.bumps*(1+r+r*r/3)*math.Exp(-r)
}

// fit returns the model of the costs at points that makes them likeliest, or nil when they
// are all alike.
func fit(points [][]float64, costs []float64, centre []float64, scale float64) *model {
	costs, varied := standardize(costs)
	if !varied {
		return nil
	}
	var best *model
	likeliest := math.Inf(-1)
	for _, bumps := range []float64{1e-4, 0.03, 3} {
		for _, length := range []float64{0.5, 2} {
			for _, noise := range []float64{1e-8, 1e-4, 1e-2, 0.3} {
				m := &model{shape: shape{centre, scale, bumps, length, noise}, points: points}
				if likelihood := m.learn(costs); likelihood > likeliest {
					best, likeliest = m, likelihood
				}
			}
		}
	}
	return best
}

// learn fits the model to the costs of its points, and returns twice the logarithm of
// their density, up to a constant.
func (m *model) learn(costs []float64) (likelihood float64) {
	size := float64(len(costs))
	m.factor = make([][]float64, len(costs))
	for i, p := range m.points {
		m.factor[i] = make([]float64, i+1)
		for j := range i {
			m.factor[i][j] = (m.covariance(p, m.points[j]) - dot(m.factor[i][:j], m.factor[j][:j])) / m.factor[j][j]
		}
		left := m.covariance(p, p) + m.noise - dot(m.factor[i][:i], m.factor[i][:i])
		if !(left > 0) {
			return math.Inf(-1)
		}
		m.factor[i][i] = math.Sqrt(left)
		likelihood -= math.Log(left)
	}
	m.weights = m.forward(costs)
	energy := dot(m.weights, m.weights)
	for i := len(costs) - 1; i >= 0; i-- {
		for j := i + 1; j < len(costs); j++ {
			m.weights[i] -= m.factor[j][i] * m.weights[j]
		}
		m.weights[i] /= m.factor[i][i]
	}
	m.prior = energy / size
	return likelihood - size*math.Log(energy+1e-12)
}

// forward returns x with L·x = b for the Cholesky factor L.
func (m *model) forward(b []float64) []float64 {
	x := make([]float64, len(b))
	for i, row := range m.factor {
		x[i] = (b[i] - dot(row[:i], x[:i])) / row[i]
	}
	return x
}

// predict returns mean and standard deviation of the cost at a point.
func (m *model) predict(at []float64) (mean, deviation float64) {
	column := make([]float64, len(m.points))
	for i, p := range m.points {
		column[i] = m.covariance(at, p)
	}
	x := m.forward(column)
	variance := m.covariance(at, at) - dot(x, x)
	return dot(column, m.weights), math.Sqrt(max(variance, 1e-12) * m.prior)
}

// standardize returns the costs with mean 0 and spread 1; varied is false when they are alike.
func standardize(costs []float64) (standard []float64, varied bool) {
	mean, spread := stats.Mean(costs), stats.StdDev(costs)
	for _, c := range costs {
		standard = append(standard, (c-mean)/spread)
	}
	return standard, spread > 0
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return math.Sqrt(sum)
}

const (
	// leastModelled and mostModelled bound how many trials a model is made of;
	// in between it is two for each parameter.
	leastModelled, mostModelled = 80, 240
	climbs, steps               = 4, 400
)

// promising returns the point near the centre from which the model expects the greatest
// improvement, found by random steps that become smaller; nil while there is nothing to
// learn from.
func (s *search) promising() []float64 {
	low, high := make([]float64, len(s.centre)), make([]float64, len(s.centre))
	for i, c := range s.centre {
		reach := max(s.radius, 1.01*s.space[i].spacing(c))
		low[i], high[i] = max(c-reach, 0), min(c+reach, 1)
	}
	points, costs := s.nearest()
	m := fit(points, costs, s.centre, math.Sqrt(float64(len(s.centre)))*s.radius)
	if m == nil {
		return nil
	}
	best := math.Inf(1)
	for _, p := range append(points, s.centre) {
		mean, _ := m.predict(p)
		best = min(best, mean)
	}
	var top []float64
	most := math.Inf(-1)
	for range climbs {
		here, gain := s.centre, math.Inf(-1)
		for step := range steps {
			width, share := math.Pow(1e-4, float64(step)/steps), s.rng.Float64()
			at := slices.Clone(here)
			for i, p := range s.space {
				if s.rng.Float64() < share {
					at[i] = min(max(at[i]+width*s.rng.NormFloat64()*(high[i]-low[i]), low[i]), high[i])
				}
				if p.Step > 0 || p.Int {
					at[i] = p.unit(p.Snap(p.value(at[i]), 0))
				}
			}
			mean, deviation := m.predict(at)
			if expected := logImprovement(best-mean, deviation); expected > gain {
				here, gain = at, expected
			}
		}
		if gain > most {
			top, most = here, gain
		}
	}
	return top
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
func (s *search) nearest() (points [][]float64, costs []float64) {
	best, worst := math.Inf(1), math.Inf(-1)
	for _, t := range s.trials {
		if !math.IsInf(t.cost, 1) {
			best, worst = min(best, t.cost), max(worst, t.cost)
		}
	}
	near := slices.Clone(s.trials)
	slices.SortStableFunc(near, func(a, b trial) int {
		return cmp.Compare(distance(a.at, s.centre), distance(b.at, s.centre))
	})
	for _, t := range near[:min(len(near), min(max(leastModelled, 2*len(s.space)), mostModelled))] {
		cost := 0.0
		if worst > best { // halves cannot overflow
			cost = (min(t.cost, worst)/2 - best/2) / (worst/2 - best/2)
		}
		points, costs = append(points, t.at), append(costs, cost)
	}
	return points, costs
}
