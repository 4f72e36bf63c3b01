package statistics_test

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
)

func values(texts ...string) []metric.Value {
	list := make([]metric.Value, len(texts))
	for i, text := range texts {
		list[i] = metric.MustValue(text)
	}
	return list
}

func TestCompare(t *testing.T) {
	const below, above = 0.0286, 1.0 // 2/C(8,4), and no difference at all
	for name, c := range map[string]struct {
		incumbent, candidate  []metric.Value
		difference, low, high string
		p                     float64
	}{
		"apart": {
			values("1", "2", "3", "4"), values("11", "12", "13", "14"), "10", "7",
			"13", below,
		},
		"ties everywhere":        {values("1", "1", "2", "2"), values("1", "1", "2", "2"), "0", "-1", "1", above},
		"constant and the same":  {values("5", "5", "5", "5"), values("5", "5", "5", "5"), "0", "0", "0", above},
		"constant and different": {values("5", "5", "5", "5"), values("6", "6", "6", "6"), "1", "1", "1", below},
		"an outlier of a thousand": {
			values("1", "2", "3", "4"), values("11", "12", "13", "14000"), "10", "7",
			"13999", below,
		},
		"negative": {
			values("-4", "-3", "-2", "-1"), values("-14", "-13", "-12", "-11"), "-10", "-13",
			"-7", below,
		},
		"beyond 2^53": {
			values("9007199254740992", "9007199254740992", "9007199254740992",
				"9007199254740992"), values("9007199254740993", "9007199254740993", "9007199254740993",
				"9007199254740993"),
			"1", "1", "1", below,
		},
		"counts as small as can be": {
			values("1e-300", "2e-300", "3e-300", "4e-300"),
			values("11e-300", "12e-300", "13e-300", "14e-300"), "1e-299", "7e-300", "1.3e-299", below,
		},
		"large and small next door": {
			values("1e300", "1e300", "1e300", "1e300"),
			values("1e-300", "1e-300", "1e-300", "1e-300"), "", "", "", below,
		},
		"one run a side says little": {values("1"), values("2"), "1", "1", "1", above},
	} {
		t.Run(name, func(t *testing.T) {
			e := statistics.Shift(c.incumbent, c.candidate, 0.95)
			assert.InDelta(t, c.p, statistics.P(c.incumbent, c.candidate), 1e-4)
			if c.difference != "" {
				assert.Equal(t, metric.MustValue(c.difference).String(), e.Difference.String())
				assert.Equal(t, metric.MustValue(c.low).String(), e.Low.String())
				assert.Equal(t, metric.MustValue(c.high).String(), e.High.String())
			}
		})
	}
}

// TestCriticalIsTheGreatest holds the critical number against its definition.
func TestCriticalIsTheGreatest(t *testing.T) {
	t.Parallel()
	for n1 := 1; n1 <= 12; n1++ {
		for n2 := 1; n2 <= 12; n2++ {
			dist := stats.UDist{N1: n1, N2: n2}
			for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
				c, tail := 0, (1-confidence)/2
				for c < n1*n2/2 && dist.CDF(float64(c)) <= tail {
					c++
				}
				assert.Equal(t, c, statistics.Critical(n1, n2, confidence), "%d and %d at %g", n1, n2, confidence)
			}
		}
	}
}

// The tables of critical values of the rank sum at 0.05, two-sided: with eight
// runs a side U ≤ 13 is beyond it, with five U ≤ 2.
func TestCompareAgainstTables(t *testing.T) {
	ranked := func(u, n int) (a, b []metric.Value) {
		// b's last sample is moved down past u of a's.
		for i := range n {
			a = append(a, metric.FromInt(int64(2*i)))
			b = append(b, metric.FromInt(int64(1000+i)))
		}
		for at := 0; u > 0; at++ {
			step := min(u, n)
			b[at] = metric.FromInt(int64(2*(n-step) - 1))
			u -= step
		}
		return a, b
	}
	for _, c := range []struct {
		u, n   int
		beyond bool
	}{{13, 8, true}, {14, 8, false}, {2, 5, true}, {3, 5, false}, {0, 4, true}, {1, 4, false}} {
		a, b := ranked(c.u, c.n)
		assert.Equal(t, c.beyond, statistics.P(a, b) < 0.05, "U = %d with %d runs a side", c.u, c.n)
	}
}

func TestMedianAndSpread(t *testing.T) {
	assert.Equal(t, "2.5", statistics.Median(values("4", "1", "3", "2")).String())
	assert.Equal(t, "3", statistics.Median(values("9", "1", "3")).String())
	assert.Equal(t, "2", statistics.Spread(values("4", "1", "3", "2")).String())
	assert.Equal(t, "0", statistics.Spread(values("7")).String())
	samples := values("3", "1", "2")
	statistics.Shift(samples, samples, 0.95)
	statistics.P(samples, samples)
	assert.Equal(t, values("3", "1", "2"), samples, "the order of the caller's samples stays")
	assert.True(t, statistics.Same(values("1", "1.0")))
	assert.False(t, statistics.Same(values("1", "1.1")))
}

func TestRunsNeeded(t *testing.T) {
	assert.Equal(t, 4, statistics.RunsNeeded(0.95))
	assert.Equal(t, 5, statistics.RunsNeeded(0.99))
	assert.True(t, statistics.Reachable(2, 8, 0.95))
	assert.False(t, statistics.Reachable(2, 8, 0.99))
	assert.False(t, statistics.Reachable(1, 8, 0.95))
	for n := 1; n < 30; n++ {
		least := 2 / math.Exp(lchoose(2*n, n))
		assert.Equal(t, least < 0.001, statistics.Reachable(n, n, 0.999), "%d runs a side", n)
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
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
