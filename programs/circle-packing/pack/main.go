// Command pack prints the circles of the packing, one line "x y r" each. It is
// not to be changed: pack.go is.
package main

import "fmt"

func main() {
	for _, c := range pack() {
		fmt.Println(c.x, c.y, c.r)
	}
}
