package loop

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/live"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestEndOfRun: its count, reverts in a row, a person who asks, what it may cost, and
// another run that works on the program.
func TestEndOfRun(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nstop-after-reverts: 2\nplateau: off", "1")
	values := []string{}
	b.agent = func(request agent.Request) agent.Reply {
		if !assert.NotEmpty(t, values, "nobody is asked any more") {
			return agent.Reply{}
		}
		value := values[0]
		values = values[1:]
		if value != "nothing" {
			b.write(request.Dir, map[string]string{"value.txt": value + "\n"})
		}
		return agent.Reply{Summary: "try " + value, Usage: metric.Usage{CostUSD: metricOf("1")}}
	}
	var ended []Result
	b.service.Ended = func(r Result) { ended = append(ended, r) }
	run := func(count int, proposes ...string) []Result {
		values, ended = proposes, nil
		results := b.iterate(count)
		assert.Equal(t, results, ended, "each is told at once")
		assert.Empty(t, values, "no other iteration begins")
		return results
	}
	assert.Empty(t, run(0))

	results := run(9, "nothing", "3", "2", "nothing")
	require.Len(t, results, 4, "what is kept ends a row")
	assert.Equal(t, []string{"", "", "", "2 reverts in a row ended this run (stop-after-reverts)"},
		[]string{results[0].Stopped, results[1].Stopped, results[2].Stopped, results[3].Stopped})
	assert.False(t, b.records().machine.Paused, "the next run goes on")

	b.service.StopAsked = func() bool { return true }
	results = run(9, "nothing")
	require.Len(t, results, 1)
	golden.Row(t, "a person asked it", results[0].Stopped)
	b.service.StopAsked = nil

	b.service.BudgetUSD = 1.5
	results = run(9, "nothing", "4")
	require.Len(t, results, 2)
	golden.Row(t, "budget: 2.00 of 1.50", results[1].Stopped)
	b.service.BudgetUSD = 0

	b.start()
	b.service.Alive = func(history.Lease) bool { return true }
	results = run(9)
	require.Len(t, results, 1)
	assert.Equal(t, history.Busy, results[0].Outcome)
	assert.Len(t, newFixture(t, "", "fail", "1").iterate(3), 1, "unchanged files that fail are not measured again")
}

// TestLargeTreesAreTold: where trees take their time, people hear of them, and none is left.
func TestLargeTreesAreTold(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "5", "6")
	files := map[string]string{}
	for i := range manyFiles {
		files[fmt.Sprintf("d/%d", i)] = ""
	}
	b.commit(files)
	var told []string
	b.service.Progress = func(step live.Status) {
		if step.Stage == "trees" {
			told = append(told, step.Detail)
		}
	}
	b.one()
	assert.Equal(t, []string{"building one of 5003 files", "removing 5003 files"}, told)
	b.service.RunDir += "/w"
	require.NoError(t, os.Chmod(b.service.RunDir, 0o700)) //nolint:gosec // a directory of the test
	left, err := os.ReadDir(b.service.RunDir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
