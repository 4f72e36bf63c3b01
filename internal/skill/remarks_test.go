package skill

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOnlyGradersHaveNoise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		best, found int64 // of 100
		graded      bool
		says        string
	}{
		"graded":         {50, 53, true, "+0.03 is within a grader's noise"},
		"graded, worse":  {50, 48, true, "-0.02 is within a grader's noise"},
		"checks alone":   {50, 53, false, ""},
		"a clear gain":   {50, 60, true, ""},
		"the same again": {50, 50, true, ""},
	} {
		s := &state{best: Measured{Rate: big.NewRat(c.best, 100)}}
		assert.Equal(t, c.says, s.withinNoise(Measured{Rate: big.NewRat(c.found, 100), Graded: c.graded}), name)
	}
}
