// Package testbox makes the sandboxes of tests.
package testbox

import (
	"os"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// Maker makes sandboxes whose commands are processes, each with a home and a path.
func Maker() *sandbox.Maker {
	return &sandbox.Maker{
		Runner: process.NewRunner(), Remove: os.RemoveAll,
		Environ: func(home string, names []string) ([]string, error) {
			return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, names...), os.MkdirAll(home, 0o700)
		},
	}
}
