package tuner

import (
	"math"
	"sync"
)

// model is what the trials say about the costs in between: a Gaussian process
// whose covariance is that of a random quadratic function plus that of a random
// smooth one. With few trials it is the flattest quadratic through them; with
// many it also follows what is no quadratic. Noise is fitted with the rest.
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006,
// chapters 2, 4.2 and 5.4.)
type model struct {
	shape   shape
	points  [][]float64 // the trials, in local coordinates
	factor  [][]float64 // lower triangle of the covariance's Cholesky factor
	weights []float64   // inverse covariance times the costs
	prior   float64     // variance of the costs, in units of the covariance
	// likelihood is twice the logarithm of the costs' density, up to a constant.
	likelihood float64
}

// shape has what is fitted by likelihood.
type shape struct {
	bumps  float64 // variance of the smooth part; the quadratic part has 1
	length float64 // how far the smooth part reaches
	noise  float64 // variance of the noise
}

var shapes = shapeGrid()

func shapeGrid() []shape {
	var grid []shape
	for _, bumps := range []float64{1e-4, 0.03, 3} {
		for _, length := range []float64{0.5, 2} {
			for _, noise := range []float64{1e-8, 1e-4, 1e-2, 0.3} {
				grid = append(grid, shape{bumps, length, noise})
			}
		}
	}
	return grid
}

// covariance of two points by their inner product and their distance.
func (s shape) covariance(inner, distance float64) float64 {
	r := math.Sqrt(5) * distance / s.length // Matérn 5/2
	return 1 + inner + 0.5*inner*inner + s.bumps*(1+r+r*r/3)*math.Exp(-r)
}

// fitModel returns the model of the costs at points, in local coordinates, or
// nil when they are all alike. Costs are taken as they are or on a scale that
// is logarithmic far above the best, whichever they fit better.
func fitModel(points [][]float64, costs []float64) *model {
	bent, density, ok := bend(costs)
	if !ok {
		return fit(points, costs)
	}
	var plain, other *model
	var group sync.WaitGroup
	group.Go(func() { plain = fit(points, costs) })
	other = fit(points, bent)
	group.Wait()
	if plain == nil || other != nil && other.likelihood+2*density > plain.likelihood {
		return other
	}
	return plain
}

func fit(points [][]float64, costs []float64) *model {
	costs, spread := standardize(costs)
	if spread == 0 {
		return nil
	}
	size := len(points)
	inner, distance := square(size), square(size)
	for i := range size {
		for j := range i + 1 {
			inner[i][j] = dot(points[i], points[j])
			distance[i][j] = distanceBetween(points[i], points[j])
		}
	}
	var best *model
	var quiet [][]float64 // the covariance without noise
	for i, try := range shapes {
		if i == 0 || try.bumps != shapes[i-1].bumps || try.length != shapes[i-1].length {
			quiet = square(size)
			for i := range size {
				for j := range i + 1 {
					quiet[i][j] = try.covariance(inner[i][j], distance[i][j])
				}
			}
		}
		covariance := square(size)
		for i := range size {
			copy(covariance[i], quiet[i])
			covariance[i][i] += try.noise
		}
		if !cholesky(covariance) {
			continue
		}
		weights := solve(covariance, costs)
		energy := dot(weights, costs)
		likelihood := -float64(size) * (math.Log(energy+1e-12) + 2*math.Log(spread))
		for i := range size {
			likelihood -= 2 * math.Log(covariance[i][i])
		}
		if best == nil || likelihood > best.likelihood {
			best = &model{try, points, covariance, weights, energy / float64(size), likelihood}
		}
	}
	return best
}

// standardize returns the costs with mean 0 and spread 1, and their spread.
func standardize(costs []float64) (standard []float64, spread float64) {
	mean := 0.0
	for _, c := range costs {
		mean += c / float64(len(costs))
	}
	for _, c := range costs {
		spread += (c - mean) * (c - mean) / float64(len(costs))
	}
	spread = math.Sqrt(spread)
	standard = make([]float64, len(costs))
	for i, c := range costs {
		standard[i] = (c - mean) / spread
	}
	return standard, spread
}

// predict returns mean and standard deviation of the cost at a local point, in
// units of the model's own.
func (m *model) predict(at []float64) (mean, deviation float64) {
	column := make([]float64, len(m.points))
	for i, p := range m.points {
		column[i] = m.shape.covariance(dot(at, p), distanceBetween(at, p))
	}
	mean = dot(column, m.weights)
	variance := m.shape.covariance(dot(at, at), 0)
	for i, row := range m.factor {
		column[i] = (column[i] - dot(row[:i], column[:i])) / row[i]
		variance -= column[i] * column[i]
	}
	return mean, math.Sqrt(max(variance, 1e-12) * m.prior)
}
