// Command evaluate scores the packing beside it. It builds the packing, runs it
// as a process of its own, checks the circles that come back exactly, and
// prints one JSON object with their `sum_of_radii`: null with a reason when a
// circle leaves the square or two overlap, by however little. The packing
// cannot print the result, because its output is read as circles and nothing
// else.
package main

import (
	"math"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"programs/evaluator"
)

const (
	// circles is how many circles there must be.
	circles = 26
	// limit is how long the packing may take.
	limit = 10 * time.Second
	// maxOutput bounds the packing's output, in bytes.
	maxOutput = 1 << 16
)

// result is what the evaluation prints.
type result struct {
	// Sum is the sum of the radii; nil when the packing is not valid.
	Sum *float64 `json:"sum_of_radii"`
	// Reason says why there is no sum.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	evaluator.Print(evaluate("pack", limit))
}

func evaluate(dir string, limit time.Duration) (result, error) {
	sum, err := measure(dir, limit)
	if reason, rejected := evaluator.Rejected(err); rejected {
		return result{Reason: reason}, nil
	}
	return result{Sum: &sum}, err
}

func measure(dir string, limit time.Duration) (float64, error) {
	binary, remove, err := evaluator.Build(dir, "pack.go",
		"cmp", "errors", "math", "math/bits", "math/cmplx", "math/rand/v2", "slices", "sort")
	if err != nil {
		return 0, err
	}
	defer remove()
	output, err := evaluator.Process{Binary: binary, Dir: filepath.Dir(binary), Limit: limit, Output: maxOutput}.Run()
	if err != nil {
		return 0, err
	}
	packing, err := parse(string(output))
	if err != nil {
		return 0, err
	}
	return score(packing)
}

type circle struct{ x, y, r float64 }

func score(packing []circle) (float64, error) {
	if err := check(packing); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, c := range packing {
		sum += c.r
	}
	// Nine digits are more than matter, and the same on every machine.
	return math.Floor(sum*1e9) / 1e9, nil
}

// check holds the circles against the square and each other, in exact
// arithmetic and without tolerance.
func check(packing []circle) error {
	if len(packing) != circles {
		return evaluator.Faultf("%d circles, not %d", len(packing), circles)
	}
	one := big.NewRat(1, 1)
	for i, c := range packing {
		x, y, r := exact(c.x), exact(c.y), exact(c.r)
		if r.Sign() <= 0 {
			return evaluator.Faultf("circle %d has no radius", i+1)
		}
		for _, at := range []*big.Rat{x, y} {
			if at.Cmp(r) < 0 || new(big.Rat).Add(at, r).Cmp(one) > 0 {
				return evaluator.Faultf("circle %d leaves the square", i+1)
			}
		}
		for j, other := range packing[:i] {
			dx, dy := new(big.Rat).Sub(x, exact(other.x)), new(big.Rat).Sub(y, exact(other.y))
			sum := new(big.Rat).Add(r, exact(other.r))
			distance := new(big.Rat).Add(dx.Mul(dx, dx), dy.Mul(dy, dy))
			if distance.Cmp(sum.Mul(sum, sum)) < 0 {
				return evaluator.Faultf("circles %d and %d overlap", j+1, i+1)
			}
		}
	}
	return nil
}

func exact(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// parse reads lines "x y r" and nothing else.
func parse(output string) ([]circle, error) {
	var packing []circle
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) != 3 || len(packing) == 2*circles {
			return nil, evaluator.Faultf("line %d of the packing's output is not a circle `x y r`", len(packing)+1)
		}
		var numbers [3]float64
		for i, field := range fields {
			number, err := strconv.ParseFloat(field, 64)
			// Beyond these bounds exact arithmetic would be slow.
			if err != nil || math.IsNaN(number) || math.Abs(number) > 1e6 || number != 0 && math.Abs(number) < 1e-100 {
				return nil, evaluator.Faultf("line %d of the packing's output: %.40q is no usable number", len(packing)+1, field)
			}
			numbers[i] = number
		}
		packing = append(packing, circle{numbers[0], numbers[1], numbers[2]})
	}
	return packing, nil
}
