// Command search prints, for each seed among its arguments, the point that the
// search found, as one line "x y". It is not to be changed: search.go is.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

func main() {
	for _, arg := range os.Args[1:] {
		seed, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "search: a seed is a whole number:", err)
			os.Exit(2)
		}
		x, y := search(f, seed)
		fmt.Println(x, y)
	}
}

// f is the function to minimize.
func f(x, y float64) float64 {
	return math.Sin(x)*math.Cos(y) + math.Sin(x*y) + (x*x+y*y)/20
}
