package tuner

import "math"

func square(n int) [][]float64 {
	rows := make([][]float64, n)
	all := make([]float64, n*n)
	for i := range rows {
		rows[i] = all[i*n : (i+1)*n]
	}
	return rows
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func distanceBetween(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return math.Sqrt(sum)
}

// cholesky replaces the lower triangle of a by its factor. It reports false
// when a is not positive definite.
func cholesky(a [][]float64) bool {
	for i := range a {
		for j := range i + 1 {
			sum := a[i][j] - dot(a[i][:j], a[j][:j])
			if i != j {
				a[i][j] = sum / a[j][j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			a[i][i] = math.Sqrt(sum)
		}
	}
	return true
}

// solve returns x with L·Lᵀ·x = b for a Cholesky factor L.
func solve(factor [][]float64, b []float64) []float64 {
	x := make([]float64, len(b))
	for i := range b {
		x[i] = (b[i] - dot(factor[i][:i], x[:i])) / factor[i][i]
	}
	for i := len(b) - 1; i >= 0; i-- {
		for j := i + 1; j < len(b); j++ {
			x[i] -= factor[j][i] * x[j]
		}
		x[i] /= factor[i][i]
	}
	return x
}
