// Command pack prints the circles of the packing, one line "x y r" each. It is
// not to be changed: pack.go is.
package main

import "fmt"

func main() {
	for _, c := range Pack() {
		fmt.Println(c.X, c.Y, c.R)
	}
}
