package tuner

import (
	"math"
	"math/rand/v2"
	"slices"
)

// problem is a function on the unit cube whose lowest value is 0.
type problem struct {
	name  string
	n     int
	space []Param
	f     func(at []float64) float64
	noise float64
	best  []float64 // where f is 0
	// choice names the parameter whose values have no order, if there is one.
	choice string
}

// makeProblem returns the named problem with its optimum at a seeded place.
func makeProblem(name string, n int, seed uint64) problem {
	r := rand.New(rand.NewPCG(seed, 77))
	p := problem{name: name, n: n}
	best := make([]float64, n)
	p.best = best
	for i := range best {
		best[i] = 0.15 + 0.7*r.Float64()
		p.space = append(p.space, Param{
			Name: string(rune('a'+i%26)) + string(rune('0'+i/26)), Min: 0, Max: 1,
			Current: 0.15 + 0.7*r.Float64(),
		})
	}
	turn := rotation(n, r)
	shift := func(at []float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = at[i] - best[i]
		}
		return z
	}
	switch name {
	case "sphere":
		p.f = func(at []float64) float64 { z := shift(at); return dot(z, z) }
	case "noisy sphere":
		p.noise = 0.02
		p.f = func(at []float64) float64 { z := shift(at); return dot(z, z) }
	case "ellipsoid":
		p.f = func(at []float64) float64 { return ellipse(shift(at), 1e4) }
	case "rotated":
		p.f = func(at []float64) float64 { return ellipse(rotate(turn, shift(at)), 1e3) }
	case "rosenbrock":
		p.f = func(at []float64) float64 {
			x := make([]float64, n) // −2 to 2; the lowest point is at 1
			for i := range x {
				x[i] = 4*at[i] - 2
			}
			return rosenbrock(x)
		}
		for i := range p.space {
			p.space[i].Current, best[i] = 0.25, 0.75
		}
	case "powers":
		p.f = func(at []float64) float64 {
			sum := 0.0
			for i, z := range shift(at) {
				sum += math.Pow(math.Abs(z), 2+4*float64(i)/float64(max(n-1, 1)))
			}
			return sum
		}
	case "abs":
		p.f = func(at []float64) float64 {
			sum := 0.0
			for _, z := range shift(at) {
				sum += math.Abs(z)
			}
			return sum
		}
	case "rastrigin":
		p.f = func(at []float64) float64 {
			sum := 0.0
			for _, z := range shift(at) {
				sum += 25*z*z + 1 - math.Cos(2*math.Pi*5*z)
			}
			return sum
		}
	case "deep rastrigin": // as it is usual, from −5.12 to 5.12
		p.f = func(at []float64) float64 {
			sum := 0.0
			for _, z := range shift(at) {
				x := 10.24 * z
				sum += x*x + 10 - 10*math.Cos(2*math.Pi*x)
			}
			return sum
		}
	case "ackley": // from −32.768 to 32.768
		p.f = func(at []float64) float64 {
			squares, waves := 0.0, 0.0
			for _, z := range shift(at) {
				x := 65.536 * z
				squares += x * x
				waves += math.Cos(2 * math.Pi * x)
			}
			return 20 + math.E - 20*math.Exp(-0.2*math.Sqrt(squares/float64(n))) - math.Exp(waves/float64(n))
		}
	case "mixed":
		p.mix(r)
	case "griewank":
		p.f = func(at []float64) float64 {
			sum, product := 0.0, 1.0
			for i, z := range rotate(turn, shift(at)) {
				sum += 10 * z * 10 * z / 40
				product *= math.Cos(10 * z / math.Sqrt(float64(i+1)))
			}
			return sum + 1 - product
		}
	case "cliff":
		p.f = func(at []float64) float64 {
			z := shift(at)
			if at[0] > best[0]+0.1 || at[1] < best[1]-0.1 {
				return math.Inf(1)
			}
			return dot(z, z)
		}
		p.space[0].Current, p.space[1].Current = 0.1, 0.9
	}
	return p
}

// mix makes the problem one with a number, a rate, a whole number and a choice. Each
// choice costs something of its own and has its own best width.
func (p *problem) mix(r *rand.Rand) {
	const methods = 5
	p.choice = "method"
	p.space = []Param{
		{Name: "width", Min: 0, Max: 10, Current: 1.5 + 7*r.Float64()},
		{Name: "rate", Min: 1e-4, Max: 1, Log: true, Current: math.Pow(10, -4*r.Float64())},
		{Name: "window", Min: 1, Max: 16, Int: true, Current: float64(1 + r.IntN(16))},
		{Name: p.choice, Min: 0, Max: methods - 1, Int: true, Current: float64(r.IntN(methods))},
	}
	costs := []float64{0, 0.2, 0.5, 1, 2}
	r.Shuffle(methods, func(i, j int) { costs[i], costs[j] = costs[j], costs[i] })
	widths := make([]float64, methods)
	for i := range widths {
		widths[i] = 1.5 + 7*r.Float64()
	}
	cheapest := slices.Index(costs, 0)
	p.best = []float64{widths[cheapest], math.Pow(10, -3.4+2.8*r.Float64()), float64(3 + r.IntN(12)), float64(cheapest)}
	p.f = func(at []float64) float64 {
		method := int(at[3])
		z := []float64{(at[0] - widths[method]) / 10, math.Log10(at[1]/p.best[1]) / 4, (at[2] - p.best[2]) / 15}
		return 10*dot(z, z) + costs[method]
	}
}

func rosenbrock(x []float64) float64 {
	sum := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
	}
	return sum
}

func ellipse(z []float64, condition float64) float64 {
	sum := 0.0
	for i, x := range z {
		sum += math.Pow(condition, float64(i)/float64(max(len(z)-1, 1))) * x * x
	}
	return sum
}

func rotate(rows [][]float64, z []float64) []float64 {
	out := make([]float64, len(z))
	for i := range rows {
		out[i] = dot(rows[i], z)
	}
	return out
}

// rotation is a random orthogonal matrix.
func rotation(n int, r *rand.Rand) [][]float64 {
	rows := square(n)
	for i := range rows {
		for j := range rows[i] {
			rows[i][j] = r.NormFloat64()
		}
		for k := range i {
			d := dot(rows[i], rows[k])
			for j := range rows[i] {
				rows[i][j] -= d * rows[k][j]
			}
		}
		size := math.Sqrt(dot(rows[i], rows[i]))
		for j := range rows[i] {
			rows[i][j] /= size
		}
	}
	return rows
}
