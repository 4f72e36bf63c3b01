package tuner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// problem is a function whose lowest value is 0.
type problem struct {
	space []Param
	f     func(at []float64) float64
	noise float64
	// choice names the parameter whose values have no order, if there is one.
	choice string
}

// makeProblem returns the named problem of the unit cube with its optimum at a seeded place.
func makeProblem(name string, n int, seed uint64) problem {
	r := rand.New(rand.NewPCG(seed, 77))
	if name == "mixed" {
		// The table's problems came after this many other numbers.
		for range 8 {
			r.Float64()
		}
		for range 16 {
			r.NormFloat64()
		}
		return mixed(r)
	}
	var p problem
	best := make([]float64, n)
	for i := range best {
		best[i] = 0.15 + 0.7*r.Float64()
		p.space = append(p.space, Param{Name: fmt.Sprint("x", i), Max: 1, Current: 0.15 + 0.7*r.Float64()})
	}
	p.f = func(at []float64) float64 {
		sum := 0.0
		for i := range at {
			z := at[i] - best[i]
			switch name {
			case "rosenbrock": // from −2 to 2; the lowest point is at 1
				if x := 4*at[i] - 2; i+1 < n {
					valley := 4*at[i+1] - 2 - x*x
					sum += 100*valley*valley + (1-x)*(1-x)
				}
			case "rastrigin": // from −5.12 to 5.12
				z *= 10.24
				sum += z*z + 10 - 10*math.Cos(2*math.Pi*z)
			default:
				sum += z * z
			}
		}
		return sum
	}
	if name == "noisy sphere" {
		p.noise = 0.02
	}
	return p
}

// mixed is a problem with a number, a rate, a whole number and a choice. Each choice
// costs something of its own and has its own best width.
func mixed(r *rand.Rand) problem {
	costs := []float64{0, 0.2, 0.5, 1, 2}
	space := []Param{
		{Name: "width", Max: 10, Current: 1.5 + 7*r.Float64()},
		{Name: "rate", Min: 1e-4, Max: 1, Log: true, Current: math.Pow(10, -4*r.Float64())},
		{Name: "window", Min: 1, Max: 16, Int: true, Current: float64(1 + r.IntN(16))},
		{Name: "method", Max: float64(len(costs) - 1), Int: true, Current: float64(r.IntN(len(costs)))},
	}
	r.Shuffle(len(costs), func(i, j int) { costs[i], costs[j] = costs[j], costs[i] })
	widths := make([]float64, len(costs))
	for i := range widths {
		widths[i] = 1.5 + 7*r.Float64()
	}
	rate, window := math.Pow(10, -3.4+2.8*r.Float64()), float64(3+r.IntN(12))
	return problem{space: space, choice: "method", f: func(at []float64) float64 {
		method := int(at[3])
		z := []float64{(at[0] - widths[method]) / 10, math.Log10(at[1]/rate) / 4, (at[2] - window) / 15}
		return 10*dot(z, z) + costs[method]
	}}
}

// Observed is an observation of plain numbers; what is not finite failed.
func Observed(params map[string]float64, value *float64) (o Observation) {
	o.Params = map[string]metric.Value{}
	for name, x := range params {
		exact, err := metric.FromFloat(x)
		if err != nil {
			panic(err)
		}
		o.Params[name] = exact
	}
	if value != nil {
		if exact, err := metric.FromFloat(*value); err == nil {
			o.Value = &exact
		}
	}
	return o
}

// proposer returns the next point of a search.
type proposer func(space []Param, history []Observation) map[string]float64

// run searches a problem as the loop does: the incumbent changes only when a
// trial measures better. It returns the true cost of the incumbent after each
// number of evaluations in marks.
func run(p problem, seed int64, marks []int, propose proposer) (reached []float64) {
	space := slices.Clone(p.space)
	noise := rand.New(rand.NewPCG(uint64(seed), 5))
	params := map[string]float64{}
	for _, x := range space {
		params[x.Name] = x.Current
	}
	var history []Observation
	best, bestTruth := math.Inf(1), 0.0
	for i := range marks[len(marks)-1] + 1 {
		if i > 0 {
			params = propose(space, history)
		}
		at := make([]float64, len(space))
		for k, x := range space {
			at[k] = params[x.Name]
		}
		truth := p.f(at)
		value := truth + p.noise*noise.NormFloat64()
		history = append(history, Observed(params, &value))
		if value < best {
			best, bestTruth = value, truth
			for k := range space {
				space[k].Current = at[k]
			}
		}
		if slices.Contains(marks, i) {
			reached = append(reached, bestTruth)
		}
	}
	return reached
}

func ours(_ problem, seed int64) proposer {
	return func(space []Param, history []Observation) map[string]float64 {
		params, err := Propose(space, history, metric.Lower, seed)
		if err != nil {
			panic(err)
		}
		return params
	}
}

func randomSearch(_ problem, seed int64) proposer {
	r := rand.New(rand.NewPCG(uint64(seed), 9))
	return func(space []Param, _ []Observation) map[string]float64 {
		params := map[string]float64{}
		for _, p := range space {
			params[p.Name] = p.value(r.Float64())
		}
		return params
	}
}

// medians returns the median cost over seeds 1 to seeds after each mark.
func medians(name string, n, seeds int, marks []int, method func(problem, int64) proposer) []float64 {
	all := make([][]float64, len(marks))
	for seed := 1; seed <= seeds; seed++ {
		p := makeProblem(name, n, uint64(seed))
		for i, cost := range run(p, int64(seed), marks, method(p, int64(seed))) {
			all[i] = append(all[i], cost)
		}
	}
	middle := make([]float64, len(marks))
	for i, costs := range all {
		slices.Sort(costs)
		middle[i] = (costs[(seeds-1)/2] + costs[seeds/2]) / 2
	}
	return middle
}

// TestTwiceAsNearAsRandomSearch holds what the tuner promises on smooth functions of
// eight parameters, for the median of 20 seeds.
func TestTwiceAsNearAsRandomSearch(t *testing.T) {
	long.Only(t, long.Simulations)
	for _, name := range []string{"sphere", "rosenbrock", "noisy sphere"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marks := []int{50}
			assert.Less(t, medians(name, 8, 20, marks, ours)[0], medians(name, 8, 20, marks, randomSearch)[0]/2)
		})
	}
}

// optuna is a process in which Optuna proposes, one study after the other.
type optuna struct {
	in  *json.Encoder
	out *json.Decoder
}

func startOptuna(tb testing.TB) optuna {
	tb.Helper()
	// A distribution's package belongs to the distribution's Python, which need not be the first in PATH.
	pythons := []string{"python3", "/usr/bin/python3"}
	at := slices.IndexFunc(pythons, func(python string) bool {
		return exec.CommandContext(tb.Context(), python, "-c", "import optuna").Run() == nil
	})
	if at < 0 {
		long.Missing(tb, "Optuna: python3-optuna of Debian")
	}
	// It ends with its input. Until then it may not be killed: its last words say
	// what went wrong.
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), pythons[at], "testdata/propose.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(tb, err)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		assert.NoError(tb, in.Close())
		_, err := io.Copy(io.Discard, out)
		assert.NoError(tb, err)
		assert.NoError(tb, cmd.Wait())
	})
	return optuna{json.NewEncoder(in), json.NewDecoder(out)}
}

// sampler returns a sampler of Optuna. Like the tuner it knows the start and what was
// measured there.
func (o optuna) sampler(name string) func(problem, int64) proposer {
	return func(p problem, seed int64) proposer {
		return func(space []Param, history []Observation) map[string]float64 {
			last := history[len(history)-1]
			message := map[string]any{"value": *last.Value}
			if len(history) == 1 {
				params := make([]map[string]any, len(space))
				for i, x := range space {
					params[i] = map[string]any{
						"name": x.Name, "min": x.Min, "max": x.Max, "log": x.Log, "int": x.Int,
						"choice": x.Name == p.choice,
					}
				}
				message["sampler"], message["seed"] = name, seed
				message["space"], message["start"] = params, last.Params
			}
			var next map[string]float64
			if err := o.in.Encode(message); err != nil {
				panic(fmt.Errorf("tell Optuna: %w", err))
			}
			if err := o.out.Decode(&next); err != nil {
				panic(fmt.Errorf("ask Optuna: %w", err))
			}
			return next
		}
	}
}

// BenchmarkBesideOptuna prints the table of docs/explain/tuner.md: medians of 30 seeds
// after 20, 50 and 100 evaluations. All searches have the same optimum, start and noise,
// and the same rule of what is kept.
func BenchmarkBesideOptuna(b *testing.B) {
	o := startOptuna(b)
	marks := []int{20, 50, 100}
	for _, p := range []struct {
		name string
		n    int
	}{{"sphere", 10}, {"rastrigin", 10}, {"mixed", 4}, {"noisy sphere", 5}} {
		b.Run(p.name, func(b *testing.B) {
			for range b.N {
				for _, sampler := range []string{"TPE", "CMA-ES"} {
					b.Logf("%s %.2g", sampler, medians(p.name, p.n, 30, marks, o.sampler(sampler)))
				}
				b.Logf("tuner %.2g", medians(p.name, p.n, 30, marks, ours))
			}
		})
	}
}

// TestBesideOptuna runs the comparison in little: what the tuner is compared with is
// itself better than random search.
func TestBesideOptuna(t *testing.T) {
	long.Only(t, long.Simulations)
	o := startOptuna(t)
	marks := []int{40}
	random := medians("sphere", 2, 3, marks, randomSearch)[0]
	for _, sampler := range []string{"TPE", "CMA-ES"} {
		assert.Less(t, medians("sphere", 2, 3, marks, o.sampler(sampler))[0], random, sampler)
		assert.NotEmpty(t, medians("mixed", 4, 1, marks, o.sampler(sampler)), "it searches every kind of parameter")
	}
}
