// Command evaluate scores the sort beside it. It builds the sort, runs it as a
// process of its own with a seed that nobody knows before, and prints one JSON
// object: `ns_per_op`, the nanoseconds that one call takes, and `allocs_per_op`,
// its allocations; or null with the reason. The clock and the checks are in the
// sort's main.go, which the sort can neither change nor reach; what it prints is
// read as two numbers and nothing else.
package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"programs/evaluator"
)

const (
	// limit is how long the measurement may take.
	limit = 30 * time.Second
	// maxOutput bounds the output, in bytes.
	maxOutput = 1 << 10
)

// result is what the evaluation prints.
type result struct {
	// Nanoseconds is the time of one call; nil when the sort does not sort.
	Nanoseconds *float64 `json:"ns_per_op"`
	// Allocations is how often one call allocates memory.
	Allocations *float64 `json:"allocs_per_op,omitempty"`
	// Reason says why there is no time.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	evaluator.Print(evaluate("sorting", limit))
}

func evaluate(dir string, limit time.Duration) (result, error) {
	scored, err := measure(dir, limit)
	if reason, rejected := evaluator.Rejected(err); rejected {
		return result{Reason: reason}, nil
	}
	return scored, err
}

func measure(dir string, limit time.Duration) (result, error) {
	binary, remove, err := evaluator.Build(dir, "sort.go", "cmp", "math", "math/bits")
	if err != nil {
		return result{}, err
	}
	defer remove()
	seed := strconv.FormatUint(rand.Uint64(), 10)
	output, err := evaluator.Process{Binary: binary, Dir: filepath.Dir(binary), Args: []string{seed}, Limit: limit, Output: maxOutput}.Run()
	if err != nil {
		return result{}, err
	}
	return parse(string(output))
}

// parse reads the two numbers of the one line.
func parse(output string) (result, error) {
	fields := strings.Fields(output)
	if len(fields) != 2 {
		return result{}, evaluator.Faultf("the output is not the line `nanoseconds allocations`: %.80q", output)
	}
	var numbers [2]float64
	for i, field := range fields {
		number, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsNaN(number) || number < 0 || number > 1e12 {
			return result{}, evaluator.Faultf("%.40q is no usable number", field)
		}
		numbers[i] = number
	}
	if numbers[0] == 0 {
		return result{}, evaluator.Faultf("no sort takes no time")
	}
	return result{Nanoseconds: &numbers[0], Allocations: &numbers[1]}, nil
}
