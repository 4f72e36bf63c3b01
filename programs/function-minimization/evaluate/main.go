// Command evaluate scores the search beside it. It builds the search, runs it
// as a process of its own with fixed seeds, computes the function itself at the
// points that come back, and prints one JSON object: the mean as `value` and
// the worst seed's as `worst`, or null with the reason when the search did not
// play by the rules. The search cannot print the result, because its output is
// read as points and nothing else.
package main

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"programs/evaluator"
)

const (
	// seeds is the number of searches that count, with seeds 1, 2, 3, ….
	seeds = 20
	// limit is how long all searches together may take.
	limit = 20 * time.Second
	// maxOutput bounds the search's output, in bytes.
	maxOutput = 1 << 14
)

// result is what the evaluation prints.
type result struct {
	// Value is the mean over all seeds of the function at the point found; nil
	// when the search did not play by the rules.
	Value *float64 `json:"value"`
	// Worst is the highest of these values.
	Worst *float64 `json:"worst,omitempty"`
	// Reason says why there is no value.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	evaluator.Print(evaluate("search", limit))
}

func evaluate(dir string, limit time.Duration) (result, error) {
	points, err := measure(dir, limit)
	if reason, rejected := evaluator.Rejected(err); rejected {
		return result{Reason: reason}, nil
	}
	if err != nil {
		return result{}, err
	}
	return score(points), nil
}

// measure builds and runs the search and returns the points that it found.
func measure(dir string, limit time.Duration) ([]point, error) {
	binary, remove, err := evaluator.Build(dir, "search.go",
		"cmp", "errors", "math", "math/bits", "math/cmplx", "math/rand/v2", "slices", "sort")
	if err != nil {
		return nil, err
	}
	defer remove()
	var args []string
	for seed := 1; seed <= seeds; seed++ {
		args = append(args, strconv.Itoa(seed))
	}
	output, err := evaluator.Process{Binary: binary, Dir: filepath.Dir(binary), Args: args, Limit: limit, Output: maxOutput}.Run()
	if err != nil {
		return nil, err
	}
	return parse(string(output))
}

// f is the function to minimize. Its global minimum is -1.518686 at
// (-1.70408, 0.67751).
func f(x, y float64) float64 {
	return math.Sin(x)*math.Cos(y) + math.Sin(x*y) + (x*x+y*y)/20
}

type point struct{ x, y float64 }

func score(points []point) result {
	mean, worst := 0.0, math.Inf(-1)
	for _, p := range points {
		value := f(p.x, p.y)
		mean += value / float64(len(points))
		worst = max(worst, value)
	}
	mean, worst = round(mean), round(worst)
	return result{Value: &mean, Worst: &worst}
}

// round keeps nine digits: more than matter, and the same on every machine.
func round(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 9, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}

// parse reads exactly one line "x y" a seed.
func parse(output string) ([]point, error) {
	var points []point
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) != 2 || len(points) == seeds {
			return nil, evaluator.Faultf("line %d of the search's output is not one of %d points `x y`", len(points)+1, seeds)
		}
		var numbers [2]float64
		for i, field := range fields {
			number, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(number) || math.Abs(number) > 1e6 {
				return nil, evaluator.Faultf("line %d of the search's output: %.40q is no coordinate", len(points)+1, field)
			}
			numbers[i] = number
		}
		points = append(points, point{numbers[0], numbers[1]})
	}
	if len(points) != seeds {
		return nil, evaluator.Faultf("the search printed %d points, not %d", len(points), seeds)
	}
	return points, nil
}
