// Command sorting measures the sort. Its argument is a seed, from which it makes
// slices of several kinds, each of which is sorted once. It prints the nanoseconds
// of one call in the fastest round, and its allocations, and fails when a slice is
// not in order afterwards, or has other values than before. It is not to be
// changed: sort.go is.
package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

const (
	// rounds is how often it is measured, after one round that does not count.
	rounds = 25
	// each is how many slices of a kind a round sorts.
	each = 8
	// length is the length of a slice.
	length = 1000
)

// errWrong says that the sort does not sort.
var errWrong = errors.New("a slice is not in order, or has other values than before")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sorting:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("the argument is a seed")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("a seed is a whole number: %w", err)
	}
	if err := checkEdges(); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var times, allocations []float64
	for round := range rounds + 1 {
		took, allocated, err := measure(random)
		if err != nil {
			return err
		}
		if round > 0 {
			times, allocations = append(times, took), append(allocations, allocated)
		}
	}
	// What else the machine does only adds to a time: the fastest round has the
	// least of it.
	fmt.Printf("%.1f %.3f\n", slices.Min(times), median(allocations))
	return nil
}

// checkEdges sorts slices at the edge of what there is.
func checkEdges() error {
	alternating := make([]int, length)
	for i := range alternating {
		alternating[i] = []int{math.MaxInt, math.MinInt, -1, 0}[i%4]
	}
	for _, values := range [][]int{nil, {1}, {2, 1}, make([]int, length), alternating, slices.Repeat(alternating, 2)} {
		sorted := slices.Sorted(slices.Values(values))
		if Sort(values); !slices.Equal(values, sorted) {
			return errWrong
		}
	}
	return nil
}

// measure sorts new slices of all kinds and returns the nanoseconds and the
// allocations of one call. All slices are looked at before the round counts, so
// that no work is put off.
func measure(random *rand.Rand) (took, allocated float64, err error) {
	var unsorted, sorted [][]int
	for _, kind := range kinds() {
		for range each {
			values := kind(random)
			unsorted = append(unsorted, values)
			sorted = append(sorted, slices.Sorted(slices.Values(values)))
		}
	}
	random.Shuffle(len(unsorted), func(i, j int) {
		unsorted[i], unsorted[j] = unsorted[j], unsorted[i]
		sorted[i], sorted[j] = sorted[j], sorted[i]
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, values := range unsorted {
		Sort(values)
	}
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	for i, values := range unsorted {
		if !slices.Equal(values, sorted[i]) {
			return 0, 0, errWrong
		}
	}
	count := float64(len(unsorted))
	return float64(elapsed.Nanoseconds()) / count, float64(after.Mallocs-before.Mallocs) / count, nil
}

// kinds has the kinds of slices that are sorted.
func kinds() []func(*rand.Rand) []int {
	return []func(*rand.Rand) []int{
		func(r *rand.Rand) []int { return fill(r, func(int) int { return int(r.Int64() - r.Int64()) }) },
		func(r *rand.Rand) []int { return fill(r, func(int) int { return r.IntN(20) }) },
		func(r *rand.Rand) []int { return fill(r, func(i int) int { return i*10 + r.IntN(200) }) },
		func(r *rand.Rand) []int { return fill(r, func(i int) int { return -i*10 + r.IntN(200) }) },
	}
}

func fill(random *rand.Rand, value func(i int) int) []int {
	values, from := make([]int, length), random.IntN(1000)
	for i := range values {
		values[i] = from + value(i)
	}
	return values
}

func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
