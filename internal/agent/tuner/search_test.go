package tuner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
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
// replayed history alone, the kept point being the current one. Every proposal
// has to lie in the space and be new.
func climb(t *testing.T, space []tuner.Param, history []tuner.Observation, seed int64, steps int,
	measure func(i int, x map[string]float64) *float64,
) []tuner.Observation {
	t.Helper()
	at, best, seen := slices.Clone(space), math.Inf(1), map[string]bool{}
	for i := range steps {
		proposal, err := tuner.Propose(at, history, metric.Lower, seed)
		require.NoError(t, err)
		key := fmt.Sprint(proposal)
		require.False(t, seen[key], "%s was tried before", key)
		seen[key] = true
		require.Len(t, proposal, len(space))
		for _, p := range space {
			x := proposal[p.Name]
			require.True(t, x >= p.Min && x <= p.Max, "%s=%v", p.Name, x)
			require.True(t, !p.Int || x == math.Round(x), "%s=%v", p.Name, x)
			if p.Step > 0 {
				require.InDelta(t, p.Min+math.Round((x-p.Min)/p.Step)*p.Step, x, 1e-9, p.Name)
			}
		}
		value := measure(i, proposal)
		history = append(history, tuner.Observed(proposal, value))
		if value != nil && *value < best {
			best = *value
			for k := range at {
				at[k].Current = proposal[at[k].Name]
			}
		}
	}
	return history
}

func measureBowl(_ int, x map[string]float64) *float64 { value := bowl(x); return &value }

// TestTraceIsGolden holds every proposal of one search against a file: a change
// of the method is seen, and continues the ledgers that are there otherwise.
func TestTraceIsGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round sums of products differently, and the trace is that of amd64")
	}
	history := climb(t, space, nil, 7, 20, measureBowl)
	var trace strings.Builder
	for i, trial := range history {
		fmt.Fprintf(&trace, "%2d", i+1)
		for _, p := range space {
			fmt.Fprintf(&trace, " %s=%v", p.Name, trial.Params[p.Name])
		}
		fmt.Fprintf(&trace, " → %.6g\n", trial.Value.Float64())
	}
	golden.Equal(t, "trace.golden", trace.String())
	assert.NotEqual(t, history[0], climb(t, space, nil, 8, 1, measureBowl)[0], "another seed is another search")
}

// TestFiniteGridIsExhausted tries every point of a grid exactly once, whatever
// its parameters are, and then says so.
func TestFiniteGridIsExhausted(t *testing.T) {
	for name, c := range map[string]struct {
		space []tuner.Param
		left  int // without the present values
	}{
		"one whole number": {[]tuner.Param{{Min: 1, Max: 3, Int: true, Current: 2}}, 2},
		"only one value":   {[]tuner.Param{{Min: 0.5, Max: 1.5, Int: true, Current: 1}}, 0},
		"two and a step": {
			[]tuner.Param{{Min: -1, Max: 1, Int: true}, {Name: "b", Max: 1, Step: 0.25, Current: 0.5}}, 14,
		},
		"log":                 {[]tuner.Param{{Min: 1, Max: 8, Int: true, Log: true, Current: 8}}, 7},
		"step of an int":      {[]tuner.Param{{Max: 9, Int: true, Step: 3}}, 3},
		"a step that is over": {[]tuner.Param{{Max: 1, Step: 0.3}}, 3},
		"current off grid":    {[]tuner.Param{{Max: 1, Step: 0.5, Current: 0.3}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			start := map[string]float64{}
			for _, p := range c.space {
				start[p.Name] = p.Current
			}
			history := climb(t, c.space, []tuner.Observation{tuner.Observed(start, nil)}, 3, c.left,
				func(i int, _ map[string]float64) *float64 {
					value := float64(i % 3)
					return &value
				})
			_, err := tuner.Propose(c.space, history, metric.Lower, 3)
			require.ErrorIs(t, err, tuner.ErrExhausted)
		})
	}
}

// TestHardHistories searches with measurements that teach little, or much that is wrong.
func TestHardHistories(t *testing.T) {
	for name, value := range map[string]func(i int) float64{
		"all failed": func(int) float64 { return math.NaN() },
		"most failed": func(i int) float64 {
			if i%7 > 0 {
				return math.NaN()
			}
			return float64(i)
		},
		"constant":        func(int) float64 { return 0 },
		"not finite":      func(i int) float64 { return []float64{math.Inf(1), math.Inf(-1), 1}[i%3] },
		"as large as can": func(i int) float64 { return math.MaxFloat64 * float64(1-2*(i%2)) },
		"as small as can": func(i int) float64 { return math.SmallestNonzeroFloat64 * float64(i%3) },
		"one outlier":     func(i int) float64 { return map[bool]float64{true: 1e300}[i == 5] + float64(i) },
	} {
		t.Run(name, func(t *testing.T) {
			climb(t, space, nil, 5, 30, func(i int, _ map[string]float64) *float64 {
				if x := value(i); !math.IsNaN(x) {
					return &x
				}
				return nil
			})
		})
	}
}

// TestHardRanges searches ranges at the ends of what numbers can be.
func TestHardRanges(t *testing.T) {
	for name, p := range map[string]tuner.Param{
		"wide":            {Min: -8e307, Max: 8e307, Current: 1},
		"wide log":        {Min: 1e-300, Max: 1e300, Log: true, Current: 1},
		"tiny":            {Max: 1e-290, Current: 1e-291},
		"narrow":          {Min: 1, Max: 1.0000000001, Current: 1},
		"large ints":      {Min: -9e15, Max: 9e15, Int: true, Current: 7},
		"tiny step":       {Max: 1, Step: 1e-9, Current: 0.5},
		"outside":         {Max: 1, Current: 1e9},
		"outside of logs": {Min: 1, Max: 10, Log: true, Current: -5},
	} {
		t.Run(name, func(t *testing.T) {
			climb(t, []tuner.Param{p}, nil, 5, 25, func(_ int, x map[string]float64) *float64 {
				value := math.Abs(x[""]/2 - p.Min/4 - p.Max/4)
				return &value
			})
		})
	}
}

// TestHistoryOfOtherMarks continues a history whose marks were others.
func TestHistoryOfOtherMarks(t *testing.T) {
	history := append(climb(t, space, nil, 3, 25, measureBowl),
		tuner.Observed(map[string]float64{"gone": 1, "width": 99}, nil), tuner.Observation{})
	for name, changed := range map[string][]tuner.Param{
		"narrower":  {{Name: "rate", Min: 0.001, Max: 0.02, Log: true}, {Name: "width", Min: -2, Current: 4}},
		"elsewhere": {{Name: "rate", Min: 100, Max: 200, Log: true}, {Name: "width", Min: 1000, Max: 2000}},
		"renamed":   {{Name: "pace", Max: 1}, {Name: "breadth", Min: -5, Max: 5}},
		"one gone":  space[:3],
		"one new":   append(slices.Clone(space), tuner.Param{Name: "new", Min: 1, Max: 5, Int: true, Current: 2}),
		"kind":      {{Name: "rate", Max: 1, Step: 0.1}, {Name: "width", Min: 1, Max: 5, Int: true}},
	} {
		t.Run(name, func(t *testing.T) { climb(t, changed, history, 1, 2, measureBowl) })
	}
}

// TestIncumbentMeasuredAgain mixes new measurements of the incumbent, each with
// other noise, into a noisy search: it gets on all the same.
func TestIncumbentMeasuredAgain(t *testing.T) {
	var ends []float64
	for seed := range int64(9) {
		noise := rand.New(rand.NewPCG(uint64(seed), 4))
		at := slices.Clone(space)
		current := map[string]float64{"rate": 0.9, "width": 4, "count": 60, "angle": 80}
		measure := func(x map[string]float64) *float64 {
			value := bowl(x) + 0.05*noise.NormFloat64()
			return &value
		}
		var history []tuner.Observation
		for range 40 {
			again := measure(current)
			history = append(history, tuner.Observed(nil, again))
			proposal, err := tuner.Propose(at, history, metric.Lower, seed)
			require.NoError(t, err)
			value := measure(proposal)
			history = append(history, tuner.Observed(proposal, value))
			if *value < *again-0.1 {
				current = proposal
				for i := range at {
					at[i].Current = current[at[i].Name]
				}
			}
		}
		ends = append(ends, bowl(current))
	}
	slices.Sort(ends)
	assert.Less(t, ends[len(ends)/2], 0.96, "the median of nine searches that begin at 19")
}

func TestImpossibleParams(t *testing.T) {
	for message, p := range map[string]tuner.Param{
		"2 is not below the maximum 1":     {Min: 2, Max: 1},
		"too narrow to hold two numbers":   {Min: 1, Max: 1.0000000000000002},
		"is too wide":                      {Min: -1.7e308, Max: 1.7e308},
		"the step -1 is below zero":        {Max: 1, Step: -1},
		"needs a minimum above zero":       {Max: 1, Log: true},
		"no whole number lies in 0.2..0.8": {Min: 0.2, Max: 0.8, Int: true},
		"NaN is not a finite number":       {Min: math.NaN(), Max: 1},
		"+Inf is not a finite number":      {Max: math.Inf(1)},
	} {
		require.ErrorContains(t, p.Validate(), message)
	}
	_, err := tuner.Propose(nil, nil, metric.Lower, 1)
	require.ErrorIs(t, err, tuner.ErrNoMarks)
}
