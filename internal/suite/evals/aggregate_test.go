package evals

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAggregate(t *testing.T) {
	t.Parallel()
	run := func(passed int, failed ...string) []CaseScore {
		c := CaseScore{ID: "a", Passed: passed, Total: 2}
		for _, text := range failed {
			c.Failed = append(c.Failed, Graded{Text: text, Evidence: "seen", Source: ByGrader})
		}
		return []CaseScore{c, {ID: "b", Passed: 1, Total: 1}}
	}
	crashed := []CaseScore{{ID: "a", Total: 2, Problem: "crashed"}, {ID: "b", Total: 1, Problem: "crashed"}}
	one := run(1, "x")
	assert.Equal(t, one, Aggregate(one), "one run stays as it is")
	assert.Nil(t, Aggregate())

	got := Aggregate(run(2), run(1, "x"), crashed, run(0, "x", "y"))
	assert.Equal(t, []int{3, 8, 3, 4}, []int{got[0].Passed, got[0].Total, got[1].Passed, got[1].Total})
	assert.Equal(t, "3/8", got[0].PassRate().RatString(), "the mean of 1, 1/2, 0 and 0")
	assert.Empty(t, got[0].Problem, "it counts 0 in one run alone")
	assert.Equal(t, []Graded{
		{Text: "x", Evidence: "in 2 of 4 runs: seen", Source: ByGrader},
		{Text: "the whole case", Evidence: "in 1 of 4 runs: crashed"},
		{Text: "y", Evidence: "in 1 of 4 runs: seen", Source: ByGrader},
	}, got[0].Failed)
	assert.Len(t, got[0].Runs, 4)

	got = Aggregate(crashed, crashed)
	assert.Equal(t, "in all 2 runs: crashed", got[0].Problem)
	assert.Equal(t, "0", got[0].PassRate().RatString())
}
