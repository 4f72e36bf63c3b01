package cli_test

import (
	"os"
	"testing"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	scratch.Overlap() // Files stay on disk: isolated commands have a /dev of their own.
	os.Exit(m.Run())
}
