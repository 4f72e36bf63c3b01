package statistics_test

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

// enumeratedU is the two-sided p-value of the rank test by all ways to label the
// samples: twice the part in which as many pairs are won.
func enumeratedU(a, b []metric.Value) float64 {
	all := slices.Concat(a, b)
	beats := make([][]int, len(all)) // twice
	for i, x := range all {
		for _, y := range all {
			beats[i] = append(beats[i], 1+x.Cmp(y))
		}
	}
	won := func(chosen uint) int { // twice the pairs that the chosen samples win
		u := 0
		for i := range all {
			for k := range all {
				if chosen>>i&1 == 1 && chosen>>k&1 == 0 {
					u += beats[i][k]
				}
			}
		}
		return u
	}
	observed := won(1<<len(a) - 1)
	below, above, ways := 0, 0, 0
	for chosen := range uint(1) << len(all) {
		if bits.OnesCount(chosen) != len(a) {
			continue
		}
		u := won(chosen)
		ways++
		if u <= observed {
			below++
		}
		if u >= observed {
			above++
		}
	}
	return min(2*float64(min(below, above))/float64(ways), 1)
}

// TestPIsAllWaysToLabelTheRuns holds the rank test against an enumeration, with sides
// of every size and with equal samples: ranks with ties are not distributed alike in
// both directions when one side has more runs.
func TestPIsAllWaysToLabelTheRuns(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(21, 22))
	draw := func(n, kinds int) []metric.Value {
		list := make([]metric.Value, n)
		for i := range list {
			list[i] = metric.FromInt(int64(chance.IntN(kinds)))
		}
		return list
	}
	for n := 1; n <= 5; n++ {
		for m := 1; m <= 5; m++ {
			for _, kinds := range []int{2, 3, 1000} {
				for range 4 {
					a, b := draw(n, kinds), draw(m, kinds)
					want := enumeratedU(a, b)
					require.InDelta(t, want, statistics.P(a, b), 1e-9, "%v beside %v", a, b)
					require.InDelta(t, want, statistics.P(b, a), 1e-9, "%v beside %v: no side comes first", b, a)
				}
			}
		}
	}
}

// TestPOfTwoValuesIsFishersTest: of samples that are 0 or 1, which pass rates often are,
// the rank test is that of a table of four numbers.
func TestPOfTwoValuesIsFishersTest(t *testing.T) {
	t.Parallel()
	side := func(n, ones int) []metric.Value {
		list := make([]metric.Value, n)
		for i := range ones {
			list[i] = metric.FromInt(1)
		}
		return list
	}
	for _, c := range [][4]int{
		{24, 6, 25, 12},
		{8, 8, 4, 1},
		{8, 7, 16, 3},
		{1, 1, 3, 0},
		{25, 25, 2, 1},
		{8, 4, 8, 1},
	} {
		assert.InDelta(t, fisher(c[0], c[1], c[2], c[3]), statistics.P(side(c[0], c[1]), side(c[2], c[3])),
			1e-9, "%v", c)
	}
}

// fisher is twice the lesser tail of the hypergeometric distribution, calculated with
// whole numbers.
func fisher(n, ones, m, others int) float64 {
	below, above, all := new(big.Int), new(big.Int), new(big.Int)
	for k := max(0, ones+others-m); k <= min(n, ones+others); k++ {
		ways := new(big.Int).Mul(new(big.Int).Binomial(int64(n), int64(k)),
			new(big.Int).Binomial(int64(m), int64(ones+others-k)))
		all.Add(all, ways)
		if k <= ones {
			below.Add(below, ways)
		}
		if k >= ones {
			above.Add(above, ways)
		}
	}
	if above.Cmp(below) < 0 {
		below = above
	}
	p, _ := new(big.Rat).SetFrac(below.Lsh(below, 1), all).Float64()
	return min(p, 1)
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

// TestCriticalOfManyRuns holds the normal approximation against the exact number.
func TestCriticalOfManyRuns(t *testing.T) {
	t.Parallel()
	for _, n := range [][2]int{{51, 51}, {51, 20}, {8, 60}} {
		for _, confidence := range []float64{0.95, 0.99} {
			assert.InDelta(t, exactCritical(n[0], n[1], (1-confidence)/2), statistics.Critical(n[0], n[1], confidence),
				4, "%v at %g", n, confidence)
		}
	}
	assert.Zero(t, statistics.Critical(1, 60, 0.95), "never below 0")
}

// exactCritical counts the orders of two sides by U (Mann and Whitney's recurrence) and
// returns the greatest c with P(U < c) ≤ tail.
func exactCritical(n, m int, tail float64) int {
	chance := make([][]float64, n+1) // of U, by the size of the first side
	for i := range chance {
		chance[i] = []float64{1}
	}
	for k := 1; k <= m; k++ {
		for i := 1; i <= n; i++ {
			with, without := chance[i-1], chance[i]
			now := make([]float64, i*k+1)
			for u := range now {
				if u >= k && u-k < len(with) {
					now[u] += float64(i) / float64(i+k) * with[u-k]
				}
				if u < len(without) {
					now[u] += float64(k) / float64(i+k) * without[u]
				}
			}
			chance[i] = now
		}
	}
	sum := 0.0
	for u, p := range chance[n] {
		if sum += p; sum > tail {
			return u
		}
	}
	return n * m
}

func TestReachableIsExact(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 15; n++ {
		for m := 1; m <= 15; m++ {
			least := new(big.Rat).SetFrac(big.NewInt(2), new(big.Int).Binomial(int64(n+m), int64(n)))
			for _, confidence := range []float64{0.5, 0.9, 0.95, 0.98, 0.99, 0.9999} {
				alpha, _ := new(big.Rat).SetString(strconv.FormatFloat(1-confidence, 'f', 6, 64))
				assert.Equal(t, least.Cmp(alpha) < 0, statistics.Reachable(n, m, confidence), "%d and %d at %g", n,
					m, confidence)
			}
		}
	}
	assert.Equal(t, 500, statistics.RunsNeeded(1), "no number of runs leaves nothing to chance")
	assert.Equal(t, 2, statistics.RunsNeeded(0.5))
	assert.False(t, statistics.Reachable(3, 3, 0.9), "a tenth is not below a tenth")
}

// apart draws samples of which no two, and no two differences, are equal.
func apart(chance *rand.Rand, n int, from float64) []metric.Value {
	list := make([]metric.Value, n)
	for i := range list {
		list[i], _ = metric.FromFloat(from + chance.NormFloat64())
	}
	return list
}

func moved(samples []metric.Value, by metric.Value) []metric.Value {
	list := make([]metric.Value, len(samples))
	for i, v := range samples {
		list[i] = v.Add(by)
	}
	return list
}

// TestTheIntervalIsWhatTheTestDoesNotRefuse: a shift within the interval, taken off the
// candidate, leaves sides that may be the same; one beside it does not.
func TestTheIntervalIsWhatTheTestDoesNotRefuse(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(31, 32))
	hair := metric.MustValue("1e-40")
	for _, n := range [][2]int{{4, 4}, {5, 5}, {8, 8}, {3, 8}, {8, 12}} {
		for _, confidence := range []float64{0.9, 0.95} {
			old, changed := apart(chance, n[0], 0), apart(chance, n[1], 1)
			e := statistics.Shift(old, changed, confidence)
			p := func(shift metric.Value) float64 {
				return statistics.P(old, moved(changed, metric.Value{}.Sub(shift)))
			}
			if !statistics.Reachable(n[0], n[1], confidence) {
				continue
			}
			assert.Greater(t, p(e.Low.Add(hair)), 1-confidence, "%v at %g, within", n, confidence)
			assert.Greater(t, p(e.High.Sub(hair)), 1-confidence, "%v at %g, within", n, confidence)
			assert.LessOrEqual(t, p(e.Low.Sub(hair)), 1-confidence, "%v at %g, below", n, confidence)
			assert.LessOrEqual(t, p(e.High.Add(hair)), 1-confidence, "%v at %g, above", n, confidence)
		}
	}
}

func TestShiftTurnsWithItsSides(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(41, 42))
	for _, n := range [][2]int{{1, 1}, {2, 3}, {4, 4}, {8, 5}, {16, 16}} {
		old, changed := apart(chance, n[0], 0), apart(chance, n[1], 0)
		e := statistics.Shift(old, changed, 0.95)
		turned := statistics.Shift(changed, old, 0.95)
		zero := metric.Value{}
		assert.Equal(t, e.Difference.String(), zero.Sub(turned.Difference).String(), "%v", n)
		assert.Equal(t, e.Low.String(), zero.Sub(turned.High).String(), "%v", n)
		assert.Equal(t, e.High.String(), zero.Sub(turned.Low).String(), "%v", n)
		assert.LessOrEqual(t, e.Low.Cmp(e.High), 0)

		by := metric.MustValue("1e6")
		far := statistics.Shift(old, moved(changed, by), 0.95)
		assert.Equal(t, e.Low.Add(by).String(), far.Low.String(), "%v", n)
		assert.Equal(t, e.High.Add(by).String(), far.High.String(), "%v", n)
	}
}

func TestSpreadOfHalves(t *testing.T) {
	t.Parallel()
	for samples, want := range map[string]string{
		"": "0", "1 5": "4", "1 2 9": "8", "9 1 2 4 3": "5", "1 2 3 4 5 6": "3", "1 1 1 9": "4", "-3 -1": "2",
	} {
		var list []metric.Value
		for text := range strings.FieldsSeq(samples) {
			list = append(list, metric.MustValue(text))
		}
		assert.Equal(t, want, statistics.Spread(list).String(), "the middle of %q counts for neither half", samples)
	}
}

// TestRandomisedBeyondTheExactTest holds the normal approximation against the
// distribution over all orders, block by block.
func TestRandomisedBeyondTheExactTest(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(61, 62))
	for _, runs := range []int{2, 4, 6} {
		var blocks []int
		for sum := 0; sum <= 64; sum += runs {
			blocks = append(blocks, runs)
		}
		for range 10 {
			samples, candidate := dealt(chance, blocks)
			assert.InDelta(t, overBlocks(samples, candidate, blocks), statistics.Randomised(samples, candidate, blocks),
				0.02, "blocks of %d", runs)
		}
	}
	one := slices.Repeat([]metric.Value{metric.FromInt(7)}, 70)
	order := slices.Repeat([]bool{true, false}, 35)
	assert.InDelta(t, 1, statistics.Randomised(one, order, slices.Repeat([]int{2}, 35)), 0, "nothing differs")
}

// overBlocks is the randomisation test by the sums that each block can give.
func overBlocks(samples []metric.Value, candidate []bool, blocks []int) float64 {
	sums := map[int]float64{0: 1} // twice the candidate's wins over all samples, less the mean
	observed, at := 0, 0
	for _, runs := range blocks {
		scores := make([]int, runs)
		for i := range scores {
			for _, v := range samples {
				scores[i] += samples[at+i].Cmp(v)
			}
			if candidate[at+i] {
				observed += scores[i]
			} else {
				observed -= scores[i]
			}
		}
		next, ways := map[int]float64{}, 0.0
		for chosen := range uint(1) << runs {
			if bits.OnesCount(chosen) != runs/2 {
				continue
			}
			sum := 0
			for i, score := range scores {
				if chosen>>i&1 == 1 {
					sum += score
				} else {
					sum -= score
				}
			}
			ways++
			for before, chance := range sums {
				next[before+sum] += chance
			}
		}
		for sum := range next {
			next[sum] /= ways
		}
		sums, at = next, at+runs
	}
	p := 0.0
	for sum, chance := range sums {
		if max(sum, -sum) >= max(observed, -observed) {
			p += chance
		}
	}
	return p
}
