package tuner_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

var space = []tuner.Param{
	{Name: "rate", Min: 0.0001, Max: 1, Log: true, Current: 0.9},
	{Name: "width", Min: -5, Max: 5, Current: 4},
	{Name: "count", Min: 1, Max: 64, Int: true, Current: 60},
	{Name: "angle", Min: 0, Max: 90, Step: 0.5, Current: 80},
}

// bowl has its minimum 0 at rate 0.01, width -1, count 8 and angle 30.
func bowl(x map[string]float64) float64 {
	square := func(v float64) float64 { return v * v }
	return square(math.Log10(x["rate"])+2) + square(x["width"]+1)/5 + square(x["count"]-8)/500 +
		square(x["angle"]-30)/500
}

// climb runs a search as separate processes would: each proposal from the
// replayed history alone, the kept point being the current one.
func climb(t *testing.T, seed int64, steps int) (history []tuner.Observation, best float64) {
	t.Helper()
	at := slices.Clone(space)
	current := map[string]float64{}
	for _, p := range at {
		current[p.Name] = p.Current
	}
	best = bowl(current)
	for range steps {
		proposal, err := tuner.Propose(at, history, metric.Lower, seed)
		require.NoError(t, err)
		value := bowl(proposal.Params)
		history = append(history, tuner.Observation{Params: proposal.Params, Value: &value})
		if value < best {
			best = value
			for i := range at {
				at[i].Current = proposal.Params[at[i].Name]
			}
		}
	}
	return history, best
}

func TestProposalsAreReproducible(t *testing.T) {
	one, _ := climb(t, 7, 25)
	two, _ := climb(t, 7, 25)
	assert.Equal(t, one, two)
	other, _ := climb(t, 8, 25)
	assert.NotEqual(t, one, other)
}

func TestProposalsAreAllowedAndNew(t *testing.T) {
	history, _ := climb(t, 3, 60)
	seen := map[string]bool{}
	for _, trial := range history {
		for _, p := range space {
			x := trial.Params[p.Name]
			assert.GreaterOrEqual(t, x, p.Min, p.Name)
			assert.LessOrEqual(t, x, p.Max, p.Name)
			if p.Int {
				assert.InDelta(t, math.Round(x), x, 0, p.Name)
			}
			if p.Step > 0 {
				assert.InDelta(t, math.Round(x/p.Step)*p.Step, x, 1e-9, p.Name)
			}
		}
		key := fmt.Sprint(trial.Params)
		assert.False(t, seen[key], "%s was tried before", key)
		seen[key] = true
	}
}

func TestSearchImproves(t *testing.T) {
	long.Only(t, long.Simulations)
	start := bowl(map[string]float64{"rate": 0.9, "width": 4, "count": 60, "angle": 80})
	var ends []float64
	for seed := range int64(20) {
		_, best := climb(t, seed+1, 60)
		ends = append(ends, best)
	}
	slices.Sort(ends)
	assert.Less(t, ends[len(ends)/2], start/10, "the median of twenty searches")
}

func TestFailedAndForeignTrialsAreTolerated(t *testing.T) {
	value := 3.0
	history := []tuner.Observation{
		{Params: map[string]float64{"rate": 0.5}, Value: nil},
		{Params: map[string]float64{"gone": 1, "width": 99}, Value: &value},
		{Params: map[string]float64{}, Value: &value},
	}
	proposal, err := tuner.Propose(space, history, metric.Higher, 1)
	require.NoError(t, err)
	assert.Len(t, proposal.Params, len(space))
}

func TestBadParamsAreErrors(t *testing.T) {
	for _, p := range []tuner.Param{
		{Name: "a", Min: 2, Max: 1}, {Name: "a", Min: 0, Max: 1, Log: true}, {Name: "a", Min: math.NaN(), Max: 1},
	} {
		_, err := tuner.Propose([]tuner.Param{p}, nil, metric.Lower, 1)
		require.Error(t, err, "%+v", p)
	}
}
