// Command search prints, for each seed among its arguments, the point that the
// search found, as one line "x y". It fails when a search asks for the
// function's value more than 500 times. It is not to be changed: search.go is.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
)

// allowed is how often one search may ask for the function's value.
const allowed = 500

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func run(seeds []string) error {
	output := bufio.NewWriter(os.Stdout)
	for _, arg := range seeds {
		seed, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return fmt.Errorf("a seed is a whole number: %w", err)
		}
		asked := 0
		x, y := Search(func(x, y float64) float64 {
			asked++
			return f(x, y)
		}, seed)
		if asked > allowed {
			return fmt.Errorf("seed %d asked for the value %d times, not at most %d", seed, asked, allowed)
		}
		fmt.Fprintln(output, x, y)
	}
	return output.Flush()
}

// f is the function to minimize.
func f(x, y float64) float64 {
	return math.Sin(x)*math.Cos(y) + math.Sin(x*y) + (x*x+y*y)/20
}
