package tasks_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/long"
)

// scenario is a suite whose runs vary, as those of agents do.
type scenario struct {
	name        string
	tasks, runs int
	// flaky is the chance with which one check of each task fails.
	flaky float64
	// judge is the standard deviation of the judge's score; 0 is no judge.
	judge float64
	// cost is the relative standard deviation of a run's costs, which rise and
	// fall together.
	cost float64
	// gain is how much the composite of each task truly rises, through the
	// judge's score.
	gain float64
	// mood is the standard deviation of what all tasks of a run share in the
	// judge's score; the sides are then exchanged as whole runs.
	mood float64
}

// run draws one run of one task whose true judge score is quality. One of five
// checks always fails, so that there is room above the composite.
func (s scenario) run(random *rand.Rand, quality float64) tasks.Run {
	const checks = 5
	passed := checks - 1
	if s.flaky > 0 && random.Float64() < s.flaky {
		passed--
	}
	run := tasks.Run{Objective: tasks.Objective{Passed: passed, Total: checks}}
	if s.judge > 0 {
		drawn := min(1, max(0, quality+s.judge*random.NormFloat64()))
		run.Judge = &tasks.Judgement{Score: metric.MustValue(fmt.Sprintf("%.2f", drawn))}
	}
	factor := max(0, 1+s.cost*random.NormFloat64())
	costs := func(usual float64) *metric.Value { return new(metric.MustValue(fmt.Sprintf("%.4f", usual*factor))) }
	run.Cost = tasks.Cost{
		Tokens: costs(20000), ToolCalls: costs(3000), Steps: costs(2000), WallClockMs: costs(60000),
		USD: costs(0.2),
	}
	return run
}

// outcome draws one side.
func (s scenario) outcome(random *rand.Rand, gain float64) tasks.SuiteOutcome {
	var o tasks.SuiteOutcome
	moods := make([]float64, s.runs)
	for k := range moods {
		moods[k] = s.mood * random.NormFloat64()
	}
	for i := range s.tasks {
		task := tasks.Score{TaskID: fmt.Sprintf("t%d", i)}
		quality := 0.5 + 0.3*float64(i%4)/4 + gain/0.4
		for k := range s.runs {
			task.Runs = append(task.Runs, s.run(random, quality+moods[k]))
		}
		o.Scores = append(o.Scores, task)
	}
	return o
}

// simulate says how often drawn baselines and candidates end in each verdict; the same seed draws
// the same.
func (s scenario) simulate(comparisons int, seed uint64) map[decision.Verdict]float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	rates := map[decision.Verdict]float64{}
	for range comparisons {
		baseline := s.outcome(random, 0)
		baseline.Interleaved = new(s.mood == 0)
		found := tasks.Compare(baseline, s.outcome(random, s.gain), tasks.DefaultThresholds())
		rates[found.Verdict] += 1 / float64(comparisons)
	}
	return rates
}

// scenarios are what the bound of 5 % is held for.
func scenarios() []scenario {
	return []scenario{
		{name: "cost", cost: 0.1},
		{name: "judge", judge: 0.1},
		{name: "judge and cost", judge: 0.1, cost: 0.1},
		{name: "flaky", flaky: 0.2},
		{name: "flaky, judge and cost", flaky: 0.2, judge: 0.1, cost: 0.1},
		{name: "a moody judge", judge: 0.25, cost: 0.1},
		{name: "mostly failing", flaky: 0.8, judge: 0.1, cost: 0.1},
		{name: "wild costs", flaky: 0.2, judge: 0.1, cost: 0.3},
		{name: "checks that flicker", flaky: 0.5},
		{name: "a shared mood", judge: 0.1, mood: 0.1, cost: 0.1},
		{name: "a shared mood, flaky", flaky: 0.3, judge: 0.05, mood: 0.2},
	}
}

// TestTwoIdenticalConfigurations are found improved, and regressed, in fewer
// than 5 % of comparisons each, whatever varies.
func TestTwoIdenticalConfigurations(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	hold := func(s scenario, tasks, runs, comparisons int) {
		s.tasks, s.runs = tasks, runs
		t.Run(fmt.Sprintf("%d tasks, %s, %d runs", tasks, s.name, runs), func(t *testing.T) {
			t.Parallel()
			got := s.simulate(comparisons, 1)
			assert.Less(t, got[decision.Improved], 0.05)
			assert.Less(t, got[decision.Regressed], 0.05)
		})
	}
	all := scenarios()
	for _, s := range all {
		hold(s, 3, 5, 150)
		hold(s, 3, 2, 200)
	}
	for _, i := range []int{3, 8, 9, 10} {
		hold(all[i], 10, 2, 150)
		hold(all[i], 10, 3, 100)
	}
	hold(all[4], 10, 2, 600)
	hold(all[4], 10, 5, 200)
	hold(all[4], 30, 5, 60)
	hold(all[9], 10, 5, 100)
}

// TestTrueGainIsSeen: a rule that never finds anything would pass the test
// above.
func TestTrueGainIsSeen(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	up := scenario{tasks: 10, runs: 5, judge: 0.1, cost: 0.1, gain: 0.05}
	assert.Greater(t, up.simulate(40, 2)[decision.Improved], 0.8)
	down := up
	down.gain = -0.15
	assert.Greater(t, down.simulate(40, 3)[decision.Regressed], 0.8)
}
