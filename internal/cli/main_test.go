package cli_test

import (
	"os"
	"testing"

	"github.com/org/autoloop/internal/process"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
