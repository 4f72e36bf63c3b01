package decision

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBlocks: how many pairs each block of runs has, within which the order is random.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pairs, most int
		confidence  float64
		blocks      []int
	}{
		{1, 0, 0.95, []int{1}},
		{5, 0, 0.95, []int{5}},
		{6, 0, 0.95, []int{3, 3}},
		{6, 0, 0.99, []int{3, 3}},
		{6, 0, 0.999, []int{6}}, // two blocks of three cannot be so sure
		{8, 0, 0.95, []int{3, 5}},
		{9, 0, 0.95, []int{3, 3, 3}},
		{10, 0, 0.99999, []int{10}},
		{11, 0, 0.99999, []int{3, 4, 4}},
		{16, 0, 0.95, []int{3, 4, 4, 5}},
		{8, 8, 0.95, []int{3, 5}},
		{8, 4, 0.95, []int{3, 5}},
		{8, 10, 0.95, []int{3, 5, 2}},
		{8, 16, 0.95, []int{3, 5, 3, 5}},
		{4, 12, 0.95, []int{4, 3, 5}},
	} {
		assert.Equal(t, c.blocks, Rule{Pairs: c.pairs, MaxPairs: c.most, Confidence: c.confidence}.blocks(), "%+v", c)
	}
}
