package skill_test

import (
	"os"
	"testing"

	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }
