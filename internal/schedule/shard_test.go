package schedule_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/schedule"
)

func TestEveryProgramIsInOneShard(t *testing.T) {
	t.Parallel()
	sizes := map[int]int{}
	for i := range 3000 {
		in := 0
		for index := 1; index <= 3; index++ {
			if (schedule.Shard{Index: index, Of: 3}).Has(fmt.Sprintf("program-%d", i)) {
				in++
				sizes[index]++
			}
		}
		assert.Equal(t, 1, in)
	}
	for index := 1; index <= 3; index++ {
		assert.InDelta(t, 1000, sizes[index], 200, "shard %d", index)
	}
	assert.True(t, schedule.Shard{}.Has("any"))
}
