// Command filter reads series from standard input, one sample a line and an
// empty line after each series, and prints what the filter makes of every
// sample. The filter sees one sample after the other, never a later one. It is
// not to be changed: filter.go is.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filter:", err)
		os.Exit(1)
	}
}

func run(input io.Reader, into io.Writer) error {
	output := bufio.NewWriter(into)
	filter := New()
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		if lines.Text() == "" {
			filter = New()
			continue
		}
		x, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			return err
		}
		fmt.Fprintln(output, filter.Next(x))
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return output.Flush()
}
