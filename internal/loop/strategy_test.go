package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// newestFirst is a strategy that is in no table: it shows the two newest
// candidates, and works on what the evaluation printed.
type newestFirst struct{}

func (newestFirst) SelectParents(p strategy.Population) strategy.Offspring {
	last := len(p.Members) - 1
	return strategy.Offspring{Parent: -1, Inspirations: []int{last, last - 1}}
}

func (newestFirst) Focus(output string, earlier []string) string {
	return output + earlier[len(earlier)-1]
}

// TestAMadeUpStrategy: a value with two methods is all that a strategy takes.
func TestAMadeUpStrategy(t *testing.T) {
	t.Parallel()
	r := &team{thread: threadOf(&journal{
		session: &session{Service: &Service{Program: &program.Program{Strategy: "newest-first"}, Strategies: append(strategy.All(),
			strategy.Named{Name: "newest-first", Evolves: true, Strategy: newestFirst{}})}},
		records: &records{},
	})}
	for i := range 3 {
		value := metric.FromInt(int64(i))
		r.records.sum.Proposals = append(r.records.sum.Proposals,
			&history.Proposed{Head: history.Head{Iteration: i + 1}, Proposal: 1, Metric: &value, Patch: "+x\n"})
	}
	r.records.sum.Attempts = []history.Attempt{{Focus: "a"}, {Focus: "b"}}
	r.records.sum.Output = "fails: "
	all := []*attempt{{number: 1}, {number: 2}}
	require.NoError(t, r.selectParents(t.Context(), position{}, all))
	for _, a := range all {
		require.Len(t, a.lineage.inspirations, 2)
		assert.Equal(t, []int{3, 2}, []int{a.lineage.inspirations[0].Iteration, a.lineage.inspirations[1].Iteration})
		assert.Nil(t, a.lineage.parent)
	}
	assert.Equal(t, "fails: b", r.focus(position{}))
	assert.True(t, r.strategy().Evolves)

	r.Program.Strategy = "openevolve"
	assert.Empty(t, r.focus(position{}), "the others are as they were")
	r.Program.Strategy = ""
	require.NoError(t, r.selectParents(t.Context(), position{}, all))
	assert.False(t, r.strategy().Evolves)
}
