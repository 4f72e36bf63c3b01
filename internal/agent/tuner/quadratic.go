package tuner

import "math"

// quadratic is the quadratic part of a model, without its constant:
// slope·z + zᵀ·curve·z/2.
type quadratic struct {
	slope []float64
	curve [][]float64
}

func (m *model) quadratic() quadratic {
	n := len(m.points[0])
	q := quadratic{slope: make([]float64, n), curve: square(n)}
	for k, p := range m.points {
		w := m.weights[k]
		for i := range n {
			q.slope[i] += w * p[i]
			for j := range n {
				q.curve[i][j] += w * p[i] * p[j]
			}
		}
	}
	return q
}

// sweeps bounds the descent, in rounds over all coordinates.
const sweeps = 400

// lowest returns a lowest point of the quadratic within the box, by descent in
// one coordinate after the other.
func (q quadratic) lowest(low, high []float64) []float64 {
	z := make([]float64, len(q.slope))
	for i := range z {
		z[i] = min(max(0, low[i]), high[i])
	}
	for range sweeps {
		moved := 0.0
		for i := range z {
			slope := q.slope[i] + dot(q.curve[i], z) - q.curve[i][i]*z[i]
			next := lowestOnLine(slope, q.curve[i][i], low[i], high[i])
			moved = max(moved, math.Abs(next-z[i]))
			z[i] = next
		}
		if moved < 1e-9 {
			break
		}
	}
	return z
}

// lowestOnLine minimizes slope·z + curve·z²/2 between low and high.
func lowestOnLine(slope, curve, low, high float64) float64 {
	if curve > 1e-12 {
		return min(max(-slope/curve, low), high)
	}
	if slope*low+curve*low*low/2 < slope*high+curve*high*high/2 {
		return low
	}
	return high
}
