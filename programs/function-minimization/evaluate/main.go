// Command evaluate scores the search beside it. It builds the search, runs it
// as a process of its own with fixed seeds, computes the function itself at the
// points that come back, and prints one JSON object: the mean as `value` and
// the worst seed's as `worst`. The search cannot print the result, because its
// output is read as points and nothing else.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// seeds is the number of searches that count, with seeds 1, 2, 3, ….
const seeds = 20

// limit is how long all searches together may take.
const limit = 20 * time.Second

// result is what the evaluation prints.
type result struct {
	// Value is the mean over all seeds of the function at the point found.
	Value float64 `json:"value"`
	// Worst is the highest of these values.
	Worst float64 `json:"worst"`
}

func main() {
	scored, err := evaluate("search")
	if err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
	text, err := json.Marshal(scored)
	if err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func evaluate(dir string) (result, error) {
	output, err := runSearch(dir)
	if err != nil {
		return result{}, err
	}
	points, err := parsePoints(output)
	if err != nil {
		return result{}, err
	}
	return score(points), nil
}

// f is the function to minimize. Its global minimum is -1.518686 at
// (-1.70408, 0.67751).
func f(x, y float64) float64 {
	return math.Sin(x)*math.Cos(y) + math.Sin(x*y) + (x*x+y*y)/20
}

type point struct{ x, y float64 }

func score(points []point) result {
	scored := result{Worst: math.Inf(-1)}
	for _, p := range points {
		value := f(p.x, p.y)
		scored.Value += value / float64(len(points))
		scored.Worst = max(scored.Worst, value)
	}
	// Twelve digits are more than matter, and the same on every machine.
	scored.Value = round(scored.Value)
	scored.Worst = round(scored.Worst)
	return scored
}

func round(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 9, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}

// parsePoints reads exactly one line "x y" a seed.
func parsePoints(output []byte) ([]point, error) {
	var points []point
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d of the search's output is not a point `x y`", len(points)+1)
		}
		p := point{}
		for i, into := range []*float64{&p.x, &p.y} {
			number, err := strconv.ParseFloat(fields[i], 64)
			if err != nil || math.IsNaN(number) || math.Abs(number) > 1e6 {
				return nil, fmt.Errorf("line %d of the search's output: %.40q is no coordinate", len(points)+1, fields[i])
			}
			*into = number
		}
		if points = append(points, p); len(points) > seeds {
			return nil, fmt.Errorf("the search printed more than its %d points", seeds)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the search's output: %w", err)
	}
	if len(points) != seeds {
		return nil, fmt.Errorf("the search printed %d points, not %d", len(points), seeds)
	}
	return points, nil
}

// runSearch builds the command in dir and returns what it printed.
func runSearch(dir string) ([]byte, error) {
	temporary, err := os.MkdirTemp("", "function-minimization-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	binary := filepath.Join(temporary, "search.exe")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary,
		filepath.Join(dir, "main.go"), filepath.Join(dir, "search.go"))
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the search: %w\n%s", err, output)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	run := exec.CommandContext(ctx, binary)
	for seed := 1; seed <= seeds; seed++ {
		run.Args = append(run.Args, strconv.Itoa(seed))
	}
	run.WaitDelay = time.Second
	output, err := run.Output()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("the search took longer than %s", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("run the search: %w", err)
	}
	return output, nil
}
