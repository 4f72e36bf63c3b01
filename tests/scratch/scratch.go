// Package scratch keeps the temporary files of tests in memory. They make and remove
// files by the thousand, and some file systems (ext4) look at all that were removed in
// the last minutes before they make one: that is half of the time of such tests.
package scratch

import (
	"os"
	"testing"

	"github.com/org/autoloop/tests/long"
)

const (
	// Memory is a file system in memory where the system has one.
	Memory = "/dev/shm"
	// Disk is for what cannot be below Memory: an isolated command has a /dev of its own.
	Disk = "/tmp"
)

// Use puts TMPDIR in memory. Where every test runs, and where TMPDIR says another
// place, files stay where they are.
func Use() {
	if os.Getenv("TMPDIR") == "" && !long.Asked() && fit() {
		if err := os.Setenv("TMPDIR", Memory); err != nil {
			panic(err)
		}
	}
}

// Run runs the tests of a package with their temporary files in memory, and returns
// the exit code.
func Run(m *testing.M) int {
	Use()
	return m.Run()
}
