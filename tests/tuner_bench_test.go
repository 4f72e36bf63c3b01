package tests

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// bestKnown has the best values that are known of the examples. Of the others
// the best that any search of the run saw takes their place.
func bestKnown(name string) (value float64, ok bool) {
	value, ok = map[string]float64{
		"circle-packing":        2.635983,    // the best sum published by 2025; program.md rounds it down
		"function-minimization": -1.51868618, // the function's global minimum
	}[name]
	return value, ok
}

// BenchmarkTuner lets the tuner and random search work on every example program
// that has tune marks, with the program's own evaluator, direction and
// guardrails, and prints how near to the best known value their incumbents are
// after 25 and 50 evaluations: medians of 20 seeds, of 3 with -short. The table
// of functions is BenchmarkBesideOptuna of internal/agent/tuner.
func BenchmarkTuner(b *testing.B) {
	seeds := 20
	if testing.Short() {
		seeds = 3
	}
	for _, e := range examples(b) {
		b.Run(e.program.Name, func(b *testing.B) {
			e.buildOnce(b)
			for b.Loop() {
				marks := []int{25, 50}
				if e.noisy {
					marks = marks[1:] // only the last incumbents are measured again
				}
				random, tuner := e.race(b, seeds, marks, randomProposal), e.race(b, seeds, marks, tunerProposal)
				e.remeasure(b, random, tuner)
				best, source := e.best(random, tuner)
				for i, n := range marks {
					far, near := median(random, i, best), median(tuner, i, best)
					b.Logf("%-22s %d evaluations, %d seeds: random search is %.4g from %.6g (%s), the tuner %.4g: "+
						"%.3g times nearer",
						e.program.Name, n, seeds, far, best, source, near, far/near)
					b.ReportMetric(far/near, fmt.Sprintf("x-nearer-%d", n))
				}
			}
		})
	}
}

// race lets a method search with every seed, and returns what each search came
// to. It takes long, and says on standard error how far it is. Programs that go
// by the clock are measured one at a time.
func (e *example) race(tb testing.TB, seeds int, marks []int, propose proposer) []found {
	tb.Helper()
	side := make([]found, seeds)
	slots := make(chan bool, runtime.NumCPU())
	if e.noisy {
		slots = make(chan bool, 1)
	}
	var group sync.WaitGroup
	for seed := range seeds {
		slots <- true
		group.Go(func() {
			defer func() { <-slots }()
			var err error
			if side[seed], err = e.search(int64(seed+1), marks, propose); err != nil {
				tb.Errorf("seed %d: %v", seed+1, err)
			}
			fmt.Fprintf(os.Stderr, "%s seed %d: %v\n", e.program.Name, seed+1, side[seed].values)
		})
	}
	group.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
	return side
}

// remeasure gives the last incumbents of a noisy program new numbers, so that
// none wins by luck: the least of fifteen runs, in turns.
func (e *example) remeasure(tb testing.TB, sides ...[]found) {
	tb.Helper()
	if !e.noisy {
		return
	}
	for _, side := range sides {
		for i := range side {
			side[i].values[0] = math.Inf(1)
		}
	}
	require.Equal(tb, metric.Lower, e.program.Direction, "the least time counts")
	for range 15 {
		for _, side := range sides {
			for i := range side {
				value, err := e.again(side[i].text)
				require.NoError(tb, err)
				side[i].values[0] = min(side[i].values[0], value)
			}
		}
	}
}

// best is the best value that is known, and how.
func (e *example) best(sides ...[]found) (value float64, source string) {
	if known, ok := bestKnown(e.program.Name); ok {
		return known, "best known"
	}
	value = math.NaN()
	for _, side := range sides {
		for _, f := range side {
			for _, v := range f.values {
				if math.IsNaN(value) || (v < value) == (e.program.Direction == metric.Lower) {
					value = v
				}
			}
		}
	}
	return value, "best seen"
}

// median is the median distance from best at the i-th mark.
func median(side []found, i int, best float64) float64 {
	var gaps []float64
	for _, f := range side {
		gaps = append(gaps, math.Abs(f.values[i]-best))
	}
	slices.Sort(gaps)
	n := len(gaps)
	return (gaps[(n-1)/2] + gaps[n/2]) / 2
}
