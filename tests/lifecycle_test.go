package tests

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/tests/long"
)

// inTwoJobs are the cells of the lifecycle that two jobs come to as well, beside mostUsed.
var inTwoJobs = []string{
	"merged × waiting for CI", "squashed × waiting for CI", "merged, branch deleted × waiting for CI",
	"closed × waiting for CI", "check green × paused and waiting", "reopened × closed",
	"merged elsewhere × draft", "force-pushed × waiting for CI", "main has a new workflow × draft",
	"autoloop undo 1 × completed", "closed × draft",
}

// TestLifecycleInTwoJobs lets two runs follow in one job and in two: people see the same.
func TestLifecycleInTwoJobs(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	eachCell(t, slices.Concat(mostUsed, inTwoJobs), func(t *testing.T, what happening, at phase) {
		var facts []string
		for _, two := range []bool{false, true} {
			h := at.reached().again(t)
			what.do(h)
			if two {
				h.inTwoJobs()
			}
			h.one()
			h.one()
			facts = append(facts, h.facts())
		}
		assert.Equal(t, facts[0], facts[1])
	})
}
