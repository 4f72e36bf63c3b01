// Command evaluate scores the packing beside it. It builds the packing, runs it
// as a process of its own, checks the circles that come back exactly, and
// prints one JSON object with their `sum_of_radii`: null with a reason when a
// circle leaves the square or two overlap, by however little. The packing
// cannot print the result, because its output is read as circles and nothing
// else.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// circles is how many circles there must be.
	circles = 26
	// limit is how long the packing may take.
	limit = 20 * time.Second
	// maxOutput bounds what is read of the packing's output, in bytes.
	maxOutput = 1 << 20
)

// result is what the evaluation prints.
type result struct {
	// Sum is the sum of the radii; nil when the packing is not valid.
	Sum *float64 `json:"sum_of_radii"`
	// Reason says why there is no sum.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	scored, err := evaluate("pack")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(scored)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

func evaluate(dir string) (result, error) {
	output, err := run(dir)
	if err != nil {
		return result{}, err
	}
	packing, err := parse(string(output))
	if err != nil {
		return result{}, err
	}
	return score(packing), nil
}

type circle struct{ x, y, r float64 }

func score(packing []circle) result {
	if err := check(packing); err != nil {
		return result{Reason: err.Error()}
	}
	sum := 0.0
	for _, c := range packing {
		sum += c.r
	}
	// Nine digits are more than matter, and the same on every machine.
	sum = math.Floor(sum*1e9) / 1e9
	return result{Sum: &sum}
}

// check holds the circles against the square and each other, in exact
// arithmetic and without tolerance.
func check(packing []circle) error {
	if len(packing) != circles {
		return fmt.Errorf("%d circles, not %d", len(packing), circles)
	}
	one := big.NewRat(1, 1)
	for i, c := range packing {
		x, y, r := exact(c.x), exact(c.y), exact(c.r)
		if r.Sign() <= 0 {
			return fmt.Errorf("circle %d has no radius", i+1)
		}
		for _, at := range []*big.Rat{x, y} {
			if at.Cmp(r) < 0 || new(big.Rat).Add(at, r).Cmp(one) > 0 {
				return fmt.Errorf("circle %d leaves the square", i+1)
			}
		}
		for j, other := range packing[:i] {
			dx, dy := new(big.Rat).Sub(x, exact(other.x)), new(big.Rat).Sub(y, exact(other.y))
			sum := new(big.Rat).Add(r, exact(other.r))
			distance := new(big.Rat).Add(dx.Mul(dx, dx), dy.Mul(dy, dy))
			if distance.Cmp(sum.Mul(sum, sum)) < 0 {
				return fmt.Errorf("circles %d and %d overlap", j+1, i+1)
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
		if len(fields) != 3 || len(packing) == 10*circles {
			return nil, fmt.Errorf("line %d of the packing's output is not a circle `x y r`", len(packing)+1)
		}
		var numbers [3]float64
		for i, field := range fields {
			number, err := strconv.ParseFloat(field, 64)
			// Beyond these bounds exact arithmetic would be slow.
			if err != nil || math.IsNaN(number) || math.Abs(number) > 1e6 || number != 0 && math.Abs(number) < 1e-100 {
				return nil, fmt.Errorf("line %d of the packing's output: %.40q is no usable number", len(packing)+1, field)
			}
			numbers[i] = number
		}
		packing = append(packing, circle{numbers[0], numbers[1], numbers[2]})
	}
	return packing, nil
}

// run builds the command in dir and returns what it printed.
func run(dir string) ([]byte, error) {
	temporary, err := os.MkdirTemp("", "circle-packing-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	binary := filepath.Join(temporary, "pack.exe")
	build := exec.Command("go", "build", "-o", binary, filepath.Join(dir, "main.go"), filepath.Join(dir, "pack.go"))
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the packing: %w\n%s", err, output)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, binary)
	command.WaitDelay = time.Second
	output := &limited{room: maxOutput}
	command.Stdout, command.Stderr = output, io.Discard
	err = command.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("the packing took longer than %s", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("run the packing: %w", err)
	}
	return output.text.Bytes(), nil
}

// limited keeps output up to a limit and fails beyond it.
type limited struct {
	text bytes.Buffer
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.room -= len(p); l.room < 0 {
		return 0, errors.New("too much output")
	}
	return l.text.Write(p)
}
