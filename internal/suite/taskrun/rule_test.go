package taskrun

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/work"
	"github.com/org/autoloop/tests/long"
)

// simulated is a comparison whose runs are drawn instead of made: each task has
// four checks, which pass as the function says.
func simulated(t *testing.T, tasks int, passes func(side role, task, check int) bool) *session {
	t.Helper()
	s := &session{
		Options: Options{
			Thresholds: score.DefaultThresholds(), Archive: &cache.Archive{Dir: t.TempDir()},
			Runner: work.Runner{Jobs: 1, Now: func() time.Time { return time.Time{} }},
		},
		suite: &TaskSuite{}, records: map[unit]record{}, auto: true, spent: &work.Spending{},
	}
	for i := range tasks {
		s.tasks = append(s.tasks, &prepared{Task: format.Task{ID: fmt.Sprintf("t%d", i)}, agent: &agent.Command{}})
	}
	s.make = func(_ context.Context, u unit) (record, error) {
		r := record{}
		for check := range 4 {
			r.Checks = append(r.Checks, format.CheckResult{
				Kind:   format.CommandCheck,
				Passed: passes(u.side, u.task, check),
			})
		}
		return r, nil
	}
	return s
}

func verdict(t *testing.T, s *session) score.Comparison {
	t.Helper()
	require.NoError(t, s.measure(t.Context()))
	found, err := s.report(t.Context())
	require.NoError(t, err)
	return found.Comparison
}

// TestFlakyChecksSeldomDecide compares a configuration with itself where one
// check of each task fails one time in five, and no model is known to work.
func TestFlakyChecksSeldomDecide(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for tasks, comparisons := range map[int]int{1: 400, 3: 300, 10: 100} {
		random := rand.New(rand.NewPCG(1, uint64(tasks)))
		improved, regressed := 0, 0
		for range comparisons {
			s := simulated(t, tasks, func(_ role, _, check int) bool { return check > 0 || random.Float64() >= 0.2 })
			switch verdict(t, s).Verdict {
			case decision.Improved:
				improved++
			case decision.Regressed:
				regressed++
			case decision.Neutral:
			}
		}
		t.Logf("%d tasks: %.1f %% improved, %.1f %% regressed", tasks, 100*float64(improved)/float64(comparisons),
			100*float64(regressed)/float64(comparisons))
		assert.Less(t, improved, comparisons/20)
		assert.Less(t, regressed, comparisons/20)
	}
}

// TestCertainGainsAreSeen has checks that depend on the side alone, beside one
// that is flaky.
func TestCertainGainsAreSeen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	certain := func(side role, task, check int) bool { return side == theCandidate || task > 0 || check > 0 }
	found := verdict(t, simulated(t, 3, certain))
	assert.Equal(t, decision.Improved, found.Verdict)
	assert.True(t, found.Promotable)

	flaky := simulated(t, 3, func(side role, task, check int) bool {
		return certain(side, task, check) && (task != 1 || check > 0 || random.Float64() >= 0.2)
	})
	flaky.records[unit{
		1, theBaseline,
		0,
	}] = record{Checks: slices.Repeat([]format.CheckResult{{Kind: format.CommandCheck}}, 4)}
	found = verdict(t, flaky)
	assert.Len(t, flaky.records, 30, "five runs on both sides")
	assert.Equal(t, decision.Improved, found.Verdict, found.Summary)
	assert.True(t, found.Promotable)
}

// TestCommandThatUsesTokensIsRepeated: it asked a model, whatever it is called.
func TestCommandThatUsesTokensIsRepeated(t *testing.T) {
	t.Parallel()
	s := simulated(t, 1, func(side role, _, _ int) bool { return side == theCandidate })
	drawn := s.make
	s.make = func(ctx context.Context, u unit) (record, error) {
		r, err := drawn(ctx, u)
		r.Cost.Tokens = new(metric.NumberFromInt(7))
		return r, err
	}
	assert.True(t, verdict(t, s).Promotable)
	assert.Len(t, s.records, 10)
	assert.True(t, *s.stochastic())
}
