package tuner

import "math"

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
	mean, variance, size := 0.0, 0.0, float64(len(costs))
	for _, c := range costs {
		mean += c / size
	}
	for _, c := range costs {
		variance += (c - mean) * (c - mean) / size
	}
	for _, c := range costs {
		standard = append(standard, (c-mean)/math.Sqrt(variance))
	}
	return standard, variance > 0
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
