package tuner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// run searches a problem as the loop does: the incumbent changes only when a
// trial measures better. It returns the true cost of the incumbent after each
// number of evaluations in marks.
func run(p problem, seed int64, marks []int, propose func([]Param, []Observation, int) map[string]float64) []float64 {
	space := slices.Clone(p.space)
	noise := rand.New(rand.NewPCG(uint64(seed), 5))
	at := make([]float64, p.n)
	eval := func() (float64, *float64) {
		truth := p.f(at)
		if math.IsInf(truth, 1) {
			return truth, nil
		}
		measured := truth + p.noise*noise.NormFloat64()
		return truth, &measured
	}
	for i := range space {
		at[i] = space[i].Current
	}
	truth, value := eval()
	history := []Observation{{Value: value, Params: pointOf(space, at)}}
	best, bestTruth := math.Inf(1), truth
	if value != nil {
		best = *value
	}
	var reached []float64
	for i := 1; i <= marks[len(marks)-1]; i++ {
		params := propose(space, history, i)
		for k := range space {
			at[k] = params[space[k].Name]
		}
		truth, value := eval()
		history = append(history, Observation{Params: params, Value: value})
		if value != nil && *value < best {
			best, bestTruth = *value, truth
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

func pointOf(space []Param, at []float64) map[string]float64 {
	params := map[string]float64{}
	for i, p := range space {
		params[p.Name] = at[i]
	}
	return params
}

func ours(seed int64) func([]Param, []Observation, int) map[string]float64 {
	return func(space []Param, history []Observation, _ int) map[string]float64 {
		proposal, err := Propose(space, history, metric.Lower, seed)
		if err != nil {
			panic(err)
		}
		return proposal.Params
	}
}

func randomSearch(seed int64) func([]Param, []Observation, int) map[string]float64 {
	r := rand.New(rand.NewPCG(uint64(seed), 9))
	return func(space []Param, _ []Observation, _ int) map[string]float64 {
		params := map[string]float64{}
		for _, p := range space {
			params[p.Name] = p.value(r.Float64())
		}
		return params
	}
}

// compare returns the median cost over seeds 1 to seeds after each mark.
func compare(name string, n, seeds int, marks []int,
	method func(int64) func([]Param, []Observation, int) map[string]float64,
) []float64 {
	all := make([][]float64, seeds)
	var group sync.WaitGroup
	slots := make(chan bool, 2)
	for seed := range seeds {
		group.Add(1)
		slots <- true
		go func() {
			defer func() { <-slots; group.Done() }()
			all[seed] = run(makeProblem(name, n, uint64(seed+1)), int64(seed+1), marks, method(int64(seed+1)))
		}()
	}
	group.Wait()
	medians := make([]float64, len(marks))
	for i := range marks {
		var values []float64
		for _, r := range all {
			values = append(values, r[i])
		}
		slices.Sort(values)
		medians[i] = (values[(seeds-1)/2] + values[seeds/2]) / 2
	}
	return medians
}

// problems are the functions of the table: smooth ones, and some that are not.
var problems = []struct {
	name string
	n    int
}{
	{"sphere", 8},
	{"ellipsoid", 8},
	{"rotated", 8},
	{"rosenbrock", 8},
	{"powers", 8},
	{"griewank", 8},
	{"noisy sphere", 8},
	{"cliff", 8},
	{"abs", 8},
	{"rastrigin", 8},
	{"sphere", 2},
	{"sphere", 30},
}

// TestTwiceAsNearAsRandomSearch holds what the tuner promises on smooth
// functions of eight parameters, for the median of 20 seeds; the benchmark has
// the whole table.
func TestTwiceAsNearAsRandomSearch(t *testing.T) {
	long.Only(t, long.Simulations)
	marks := []int{50}
	for _, p := range problems {
		if p.n != 8 || !slices.Contains([]string{"sphere", "rosenbrock", "griewank", "noisy sphere"}, p.name) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := compare(p.name, p.n, 20, marks, randomSearch)
			found := compare(p.name, p.n, 20, marks, ours)
			if found[0] > random[0]/2 {
				t.Errorf("after %d evaluations the search is at %.3g, random search at %.3g", marks[0],
					found[0], random[0])
			}
		})
	}
}

// BenchmarkTuner prints how far above the lowest value both
// searches are after 25, 50 and 100 evaluations, medians of 20 seeds.
func BenchmarkTuner(b *testing.B) {
	marks := []int{25, 50, 100}
	for _, p := range problems {
		b.Run(fmt.Sprintf("%s/%d", p.name, p.n), func(b *testing.B) {
			for range b.N {
				random := compare(p.name, p.n, 20, marks, randomSearch)
				found := compare(p.name, p.n, 20, marks, ours)
				b.Logf("%-12s n=%-3d random %-34s search %s", p.name, p.n, fmt.Sprintf("%.3g", random),
					fmt.Sprintf("%.3g", found))
				b.ReportMetric(random[1]/found[1], "x-nearer-50")
			}
		})
	}
}

// BenchmarkPropose measures one proposal late in a search. The model is made of
// at most 240 trials, so that the time is bounded.
func BenchmarkPropose(b *testing.B) {
	for _, size := range []struct{ trials, n int }{{500, 2}, {500, 8}, {500, 30}, {500, 200}, {5000, 2000}} {
		b.Run(fmt.Sprintf("%dx%d", size.trials, size.n), func(b *testing.B) {
			n := size.n
			p := makeProblem("noisy sphere", n, 1)
			r := rand.New(rand.NewPCG(1, 1))
			var history []Observation
			for range size.trials {
				at := make([]float64, n)
				for i := range at {
					at[i] = r.Float64()
				}
				value := p.f(at) + p.noise*r.NormFloat64()
				history = append(history, Observation{Params: pointOf(p.space, at), Value: &value})
			}
			for b.Loop() {
				if _, err := Propose(p.space, history, metric.Lower, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
