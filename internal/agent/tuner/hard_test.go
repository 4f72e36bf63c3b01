package tuner_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTraceIsGolden holds every proposal of one search against a file: a change
// of the method is seen, and continues the ledgers that are there otherwise.
func TestTraceIsGolden(t *testing.T) {
	history, _ := climb(t, 7, 20)
	var trace strings.Builder
	for i, trial := range history {
		fmt.Fprintf(&trace, "%2d", i+1)
		for _, p := range space {
			fmt.Fprintf(&trace, " %s=%v", p.Name, trial.Params[p.Name])
		}
		fmt.Fprintf(&trace, " → %.6g\n", *trial.Value)
	}
	golden := filepath.Join("testdata", "trace.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(trace.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round sums of products differently, and the trace is that of amd64")
	}
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), trace.String())
}

// TestFiniteGridIsExhausted tries every point of a grid exactly once, whatever
// its parameters are, and then says so.
func TestFiniteGridIsExhausted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		space []tuner.Param
		size  int
	}{
		"one whole number": {[]tuner.Param{{Name: "a", Min: 1, Max: 3, Int: true, Current: 2}}, 3},
		"only one value":   {[]tuner.Param{{Name: "a", Min: 0.5, Max: 1.5, Int: true, Current: 1}}, 1},
		"two and a step": {[]tuner.Param{
			{Name: "a", Min: -1, Max: 1, Int: true},
			{Name: "b", Min: 0, Max: 1, Step: 0.25, Current: 0.5},
		}, 15},
		"log": {[]tuner.Param{
			{Name: "a", Min: 1, Max: 8, Int: true, Log: true, Current: 8},
			{Name: "b", Min: 1, Max: 2, Int: true, Current: 1},
		}, 16},
		"step of an int":      {[]tuner.Param{{Name: "a", Min: 0, Max: 9, Int: true, Step: 3}}, 4},
		"a step that is over": {[]tuner.Param{{Name: "a", Min: 0, Max: 1, Step: 0.3}}, 4},
		"current off grid":    {[]tuner.Param{{Name: "a", Min: 0, Max: 1, Step: 0.5, Current: 0.3}}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			start := map[string]float64{}
			for _, p := range c.space {
				start[p.Name] = p.Current
			}
			seen[fmt.Sprint(start)] = true
			var history []tuner.Observation
			for {
				proposal, err := tuner.Propose(c.space, history, metric.Higher, 3)
				if err != nil {
					require.ErrorIs(t, err, tuner.ErrExhausted)
					break
				}
				require.False(t, seen[fmt.Sprint(proposal.Params)], proposal.Params)
				seen[fmt.Sprint(proposal.Params)] = true
				value := float64(len(history) % 3)
				history = append(history, tuner.Observation{Params: proposal.Params, Value: &value})
				require.Less(t, len(history), c.size)
			}
			assert.Len(t, seen, c.size)
		})
	}
}

// TestHardHistories gives proposals within the bounds from histories that teach
// little or much that is wrong.
func TestHardHistories(t *testing.T) {
	t.Parallel()
	number := func(x float64) *float64 { return &x }
	for name, value := range map[string]func(i int) *float64{
		"all failed":  func(int) *float64 { return nil },
		"most failed": func(i int) *float64 { return map[bool]*float64{true: number(float64(i))}[i%7 == 0] },
		"constant":    func(int) *float64 { return number(4) },
		"zero":        func(int) *float64 { return number(0) },
		"not finite": func(i int) *float64 {
			return number([]float64{
				math.NaN(), math.Inf(1),
				math.Inf(-1), 1,
			}[i%4])
		},
		"as large as can":  func(i int) *float64 { return number(math.MaxFloat64 * float64(1-2*(i%2))) },
		"as small as can":  func(i int) *float64 { return number(math.SmallestNonzeroFloat64 * float64(i%3)) },
		"one outlier":      func(i int) *float64 { return number(map[bool]float64{true: 1e300}[i == 5] + float64(i)) },
		"the same but one": func(i int) *float64 { return number(map[bool]float64{true: -1}[i == 9]) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var history []tuner.Observation
			for i := range 30 {
				proposal, err := tuner.Propose(space, history, metric.Lower, 5)
				require.NoError(t, err)
				for _, p := range space {
					x := proposal.Params[p.Name]
					require.True(t, x >= p.Min && x <= p.Max, "%s=%v", p.Name, x)
				}
				history = append(history, tuner.Observation{Params: proposal.Params, Value: value(i)})
			}
		})
	}
}

// TestHardRanges searches ranges at the ends of what numbers can be.
func TestHardRanges(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]tuner.Param{
		"wide":            {Min: -8e307, Max: 8e307, Current: 1},
		"wide log":        {Min: 1e-300, Max: 1e300, Log: true, Current: 1},
		"tiny":            {Min: 0, Max: 1e-290, Current: 1e-291},
		"narrow":          {Min: 1, Max: 1.0000000001, Current: 1},
		"large ints":      {Min: -9e15, Max: 9e15, Int: true, Current: 7},
		"tiny step":       {Min: 0, Max: 1, Step: 1e-9, Current: 0.5},
		"outside":         {Min: 0, Max: 1, Current: 1e9},
		"outside of logs": {Min: 1, Max: 10, Log: true, Current: -5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.Name = "x"
			target := p.Min/2 + p.Max/2
			if p.Log {
				target = math.Sqrt(p.Min) * math.Sqrt(p.Max)
			}
			var history []tuner.Observation
			seen := map[float64]bool{}
			for range 25 {
				proposal, err := tuner.Propose([]tuner.Param{p}, history, metric.Lower, 5)
				require.NoError(t, err)
				x := proposal.Params["x"]
				require.True(t, x >= p.Min && x <= p.Max && !seen[x], "%v", x)
				seen[x] = true
				value := math.Abs(x/2 - target/2)
				if p.Log {
					value = math.Abs(math.Log(x / target))
				}
				history = append(history, tuner.Observation{Params: proposal.Params, Value: &value})
			}
		})
	}
}

// TestChangedSpaces replays a history of other marks: wider, narrower, gone,
// and new ones.
func TestChangedSpaces(t *testing.T) {
	t.Parallel()
	history, _ := climb(t, 3, 25)
	for name, changed := range map[string][]tuner.Param{
		"narrower": {
			{Name: "rate", Min: 0.001, Max: 0.02, Log: true, Current: 0.9},
			{Name: "width", Min: -2, Max: 0, Current: 4},
		},
		"wider": {
			{Name: "rate", Min: 1e-9, Max: 10, Log: true, Current: 0.9},
			{Name: "width", Min: -500, Max: 500, Current: 4},
		},
		"elsewhere": {
			{Name: "rate", Min: 100, Max: 200, Log: true, Current: 150},
			{Name: "width", Min: 1000, Max: 2000, Current: 1500},
		},
		"renamed":  {{Name: "pace", Min: 0, Max: 1}, {Name: "breadth", Min: -5, Max: 5}},
		"one gone": space[:3],
		"one new":  append(slices.Clone(space), tuner.Param{Name: "new", Min: 1, Max: 5, Int: true, Current: 2}),
		"other kind": {
			{Name: "rate", Min: 0, Max: 1, Step: 0.1, Current: 0.5},
			{Name: "width", Min: 1, Max: 5, Int: true, Current: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range changed {
				require.NoError(t, p.Validate())
			}
			proposal, err := tuner.Propose(changed, history, metric.Lower, 1)
			require.NoError(t, err)
			require.Len(t, proposal.Params, len(changed))
			for _, p := range changed {
				x := proposal.Params[p.Name]
				assert.True(t, x >= p.Min && x <= p.Max, "%s=%v", p.Name, x)
			}
		})
	}
}

// TestIncumbentMeasuredAgain mixes new measurements of the incumbent, each with
// other noise, into a noisy search: it gets on all the same.
func TestIncumbentMeasuredAgain(t *testing.T) {
	t.Parallel()
	var ends []float64
	for seed := range int64(9) {
		noise := rand.New(rand.NewPCG(uint64(seed), 4))
		at := slices.Clone(space)
		current := map[string]float64{}
		for _, p := range at {
			current[p.Name] = p.Current
		}
		measure := func(x map[string]float64) *float64 {
			value := bowl(x) + 0.05*noise.NormFloat64()
			return &value
		}
		var history []tuner.Observation
		for range 40 {
			again := measure(current)
			history = append(history, tuner.Observation{Value: again})
			proposal, err := tuner.Propose(at, history, metric.Lower, seed)
			require.NoError(t, err)
			value := measure(proposal.Params)
			history = append(history, tuner.Observation{Params: proposal.Params, Value: value})
			if *value < *again-0.1 {
				current = proposal.Params
				for i := range at {
					at[i].Current = current[at[i].Name]
				}
			}
		}
		ends = append(ends, bowl(current))
	}
	slices.Sort(ends)
	start := bowl(map[string]float64{"rate": 0.9, "width": 4, "count": 60, "angle": 80})
	assert.Less(t, ends[len(ends)/2], start/20, "the median of nine searches from %v", start)
}

func TestImpossibleParams(t *testing.T) {
	t.Parallel()
	for message, p := range map[string]tuner.Param{
		"parameter a: the minimum 2 is not below the maximum 1": {Min: 2, Max: 1},
		"parameter a: the range 1..1.0000000000000002 is too narrow to hold two numbers": {
			Min: 1,
			Max: 1.0000000000000002,
		},
		"parameter a: the range -1.7e+308..1.7e+308 is too wide":     {Min: -1.7e308, Max: 1.7e308},
		"parameter a: the step -1 is below zero":                     {Min: 0, Max: 1, Step: -1},
		"parameter a: a log scale needs a minimum above zero, not 0": {Min: 0, Max: 1, Log: true},
		"parameter a: no whole number lies in 0.2..0.8": {
			Min: 0.2,
			Max: 0.8, Int: true,
		},
		"parameter a: NaN is not a finite number":  {Min: math.NaN(), Max: 1},
		"parameter a: +Inf is not a finite number": {Min: 0, Max: math.Inf(1)},
	} {
		p.Name = "a"
		_, err := tuner.Propose([]tuner.Param{p}, nil, metric.Lower, 1)
		require.EqualError(t, err, message)
	}
	_, err := tuner.Propose(nil, nil, metric.Lower, 1)
	require.EqualError(t, err, "no parameter to search")
}
