package statistics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

func values(text string) (list []metric.Value) {
	for _, number := range strings.Fields(text) {
		list = append(list, metric.MustValue(number))
	}
	return list
}

// TestShiftAndP of samples at the edges of numbers, and of those with ties, whose p is that of all ways to label
// them.
func TestShiftAndP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		incumbent, candidate string
		shift                string // the difference and its interval at 0.95
		p                    float64
	}{
		"apart":                    {"1 2 3 4", "11 12 13 14", "10 7 13", 2.0 / 70},
		"ties everywhere":          {"1 1 2 2", "1 1 2 2", "0 -1 1", 1},
		"constant and the same":    {"5 5 5 5", "5 5 5 5", "0 0 0", 1},
		"constant and different":   {"5 5 5 5", "6 6 6 6", "1 1 1", 2.0 / 70},
		"an outlier of a thousand": {"1 2 3 4", "11 12 13 14000", "10 7 13999", 2.0 / 70},
		"negative":                 {"-4 -3 -2 -1", "-14 -13 -12 -11", "-10 -13 -7", 2.0 / 70},
		"beyond 2^53": {
			"9007199254740992 9007199254740992", "9007199254740993 9007199254740993", "1 1 1", 1.0 / 3,
		},
		"as small as can be": {
			"1e-300 2e-300 3e-300 4e-300", "11e-300 12e-300 13e-300 14e-300", "1e-299 7e-300 1.3e-299", 2.0 / 70,
		},
		"one run a side":             {"1", "2", "1 1 1", 1},
		"one beside three, ties":     {"0 1 1", "2", "1 1 2", 0.5},
		"a tie between sides":        {"1 1 2 3", "1 2 2", "0.5 -2 1", 1},
		"hardly anything differs":    {"0 0 0 0 0", "0 1", "0.5 0 1", 4.0 / 7},
		"more runs on one side":      {"1 2 3", "1 2 3 4 5", "1 -2 4", 15.0 / 28},
		"pass rates":                 {"1 1 1 0 0 0 0 0", "1 1 1 1 1 1 1 0", "1 0 1", 0.1188811189},
		"pass rates, of a few cases": {"1 1 1 1 1 1 1 1", "1 0 0 0", "-1 -1 0", 0.0363636364},
	} {
		a, b := values(c.incumbent), values(c.candidate)
		assert.InDelta(t, c.p, statistics.P(a, b), 1e-9, name)
		assert.InDelta(t, c.p, statistics.P(b, a), 1e-9, name)
		e := statistics.Shift(a, b, 0.95)
		assert.Equal(t, c.shift, fmt.Sprint(e.Difference, e.Low, e.High), name)
		zero, turned := metric.Value{}, statistics.Shift(b, a, 0.95)
		assert.Equal(t, []string{zero.Sub(e.Low).String(), zero.Sub(e.High).String()},
			[]string{turned.High.String(), turned.Low.String()}, name)
	}
}

// TestRandomisedIsThePartOfAllOrders: i is a run of the incumbent and c one of the candidate; orders
// change within blocks.
func TestRandomisedIsThePartOfAllOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples, order string
		blocks         []int
		p              float64
	}{
		{"-1 0 0 -3 -3 1 0 -3", "ciiiiccc", []int{8}, 26.0 / 35},
		{"2 -2 3 5 0 0 3 1", "ciciccii", []int{8}, 0.8},
		{"-4 -1 7 2 -5 -2 0 1 0 -1", "iicicccici", []int{6, 4}, 11.0 / 12},
		{"0 -2 5 0 11 -1 0 0 2 -1", "iiccciciic", []int{6, 4}, 0.35},
		{"-8 3 -3 0 1 -1 -1 -2", "ciicciic", []int{2, 2, 2, 2}, 0.875},
		{"2 -2 -3 3 -3 2 1 0 4 -3 4 4", "cciiciicicci", []int{4, 2, 6}, 0.275},
		{"0 0 0 -2 -1 -1 -3 1 -1 0 3 2", "icicicccciii", []int{4, 2, 6}, 0.1},
	} {
		var candidate []bool
		for _, side := range c.order {
			candidate = append(candidate, side == 'c')
		}
		assert.InDelta(t, c.p, statistics.Randomised(values(c.samples), candidate, c.blocks), 1e-9, c.order)
	}
}

// split takes the samples of each side out of those of both.
func split(samples []metric.Value, candidate []bool) (old, changed []metric.Value) {
	for i, v := range samples {
		if candidate[i] {
			changed = append(changed, v)
		} else {
			old = append(old, v)
		}
	}
	return old, changed
}

// dealt is a random order of a design, with samples that have ties.
func dealt(random *rand.Rand, blocks []int) (samples []metric.Value, candidate []bool) {
	for _, runs := range blocks {
		for _, i := range random.Perm(runs) {
			candidate = append(candidate, i < runs/2)
			samples = append(samples, metric.FromInt(int64(random.NormFloat64()*3)))
		}
	}
	return samples, candidate
}

// A machine that gets slower: within blocks the difference shows, in all the
// runs together it does not.
func TestRandomisedIsSharperOnADriftingMachine(t *testing.T) {
	t.Parallel()
	var samples []metric.Value
	var candidate []bool
	blocks := []int{2, 2, 2, 2, 2, 2, 2, 2}
	for i := range int64(8) {
		samples = append(samples, metric.FromInt(100+10*i), metric.FromInt(102+10*i))
		candidate = append(candidate, false, true)
	}
	old, changed := split(samples, candidate)
	assert.InDelta(t, 2.0/256, statistics.Randomised(samples, candidate, blocks), 1e-9)
	assert.Greater(t, statistics.P(old, changed), 0.5)
}

func TestRandomisedOfManyRuns(t *testing.T) {
	t.Parallel()
	// Of 36 blocks that drift, 23 are won: 10/6 standard deviations.
	for wins, p := range map[int]float64{18: 1, 23: 0.0955807} {
		var samples []metric.Value
		var candidate []bool
		for i := range int64(36) {
			samples = append(samples, metric.FromInt(100*i), metric.FromInt(100*i+1))
			candidate = append(candidate, int(i) >= wins, int(i) < wins)
		}
		assert.InDelta(t, p, statistics.Randomised(samples, candidate, slices.Repeat([]int{2}, 36)), 1e-6)
	}
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // a test repeats itself
	for _, pairs := range []int{30, 36} { // beside the end of the exact test
		var blocks []int
		for range pairs / 2 {
			blocks = append(blocks, 4)
		}
		below := 0
		for range 400 {
			samples, candidate := dealt(random, blocks)
			if statistics.Randomised(samples, candidate, blocks) < 0.1 {
				below++
			}
		}
		assert.InDelta(t, 40, below, 20, "%d pairs", pairs)
	}
}

// TestCriticalAgainstTables: the tables of the U test (Milton 1964), two-sided, which
// give the greatest U that is beyond chance; none is -1.
func TestCriticalAgainstTables(t *testing.T) {
	t.Parallel()
	for confidence, rows := range map[float64]map[[2]int]int{
		0.95: {
			{3, 4}: -1, {3, 5}: 0, {3, 6}: 1, {3, 8}: 2, {3, 10}: 3, {4, 4}: 0, {4, 5}: 1, {4, 8}: 4, {4, 10}: 5,
			{5, 5}: 2, {5, 8}: 6, {5, 10}: 8,
			{6, 6}: 5, {7, 7}: 8, {7, 10}: 14, {8, 8}: 13, {8, 10}: 17, {9, 9}: 17, {10, 10}: 23, {12, 12}: 37,
			{15, 15}: 64, {20, 20}: 127,
		},
		0.99: {
			{4, 4}: -1, {5, 5}: 0, {6, 6}: 2, {7, 7}: 4, {8, 8}: 7, {9, 9}: 11, {10, 10}: 16, {12, 12}: 27,
			{15, 15}: 51, {20, 20}: 105,
		},
	} {
		for n, greatest := range rows {
			assert.Equal(t, greatest+1, statistics.Critical(n[0], n[1], confidence), "%v at %g", n, confidence)
			assert.Equal(t, greatest+1, statistics.Critical(n[1], n[0], confidence), "%v at %g, the other way round",
				n, confidence)
		}
	}
}

func TestCriticalOfManyRuns(t *testing.T) {
	t.Parallel()
	for n, greatest := range map[[2]int][2]int{{51, 51}: {1008, 918}, {51, 20}: {357, 311}, {8, 60}: {138, 108}} {
		for i, confidence := range []float64{0.95, 0.99} {
			assert.InDelta(t, greatest[i], statistics.Critical(n[0], n[1], confidence), 4, "%v at %g", n, confidence)
		}
	}
	assert.Zero(t, statistics.Critical(1, 60, 0.95), "never below 0")
}

func TestMedianOfTwoIsBetween(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "2.5", statistics.Median(values("4 1 3 2")).String())
	assert.Equal(t, "3", statistics.Median(values("9 1 3")).String())
	samples := values("3 1 2")
	statistics.Shift(samples, samples, 0.95)
	statistics.P(samples, samples)
	assert.Equal(t, values("3 1 2"), samples, "the order of the caller's samples stays")
	assert.True(t, statistics.Same(values("1 1.0")))
	assert.False(t, statistics.Same(values("1 1.1")))
}

func TestRunsNeededForAConfidence(t *testing.T) {
	t.Parallel()
	for confidence, runs := range map[float64]int{0.5: 2, 0.95: 4, 0.99: 5, 0.999: 7} {
		assert.Equal(t, runs, statistics.RunsNeeded(confidence))
	}
	assert.True(t, statistics.Reachable(2, 8, 0.95))
	assert.False(t, statistics.Reachable(2, 8, 0.99))
	assert.False(t, statistics.Reachable(1, 8, 0.95))
	assert.False(t, statistics.Reachable(3, 3, 0.9), "a tenth is not below a tenth")
}

func TestSpreadOfHalves(t *testing.T) {
	t.Parallel()
	for samples, want := range map[string]string{
		"": "0", "1 5": "4", "1 2 9": "8", "9 1 2 4 3": "5", "1 2 3 4 5 6": "3", "1 1 1 9": "4", "-3 -1": "2",
	} {
		assert.Equal(t, want, statistics.Spread(values(samples)).String(), "the middle of %q", samples)
	}
}

func TestManySamples(t *testing.T) {
	var a, b []metric.Value
	for i := range 1000 {
		a, b = append(a, metric.FromInt(int64(i))), append(b, metric.FromInt(int64(i+100)))
	}
	e := statistics.Shift(a, b, 0.95)
	assert.Less(t, statistics.P(a, b), 1e-6)
	assert.InDelta(t, 100, e.Difference.Float64(), 0.01)
	assert.Less(t, e.Low.Float64(), 100.0)
	assert.Greater(t, e.High.Float64(), 100.0)
}
