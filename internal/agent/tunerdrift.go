package agent

import (
	"math"
	"slices"

	"github.com/org/autoloop/internal/metric"
)

// levels are the incumbents' numbers as all measurements tell them, and what the
// machine added at every trial. A nil *levels knows only what was measured side
// by side.
type levels struct {
	// incumbent has a level for every incumbent, drift a difference for every
	// trial.
	incumbent, drift []float64
	moments
}

// beside is a trial's metric as it would be were the incumbent's level.
func (l *levels) beside(tried PastIteration, i int, level *metric.Value) *metric.Value {
	if l == nil || level == nil || math.IsNaN(l.tried[i]) {
		return tried.beside(level)
	}
	return plus(level, l.tried[i]-l.drift[i]-l.incumbent[l.before[i]])
}

// next is the level of the incumbent that a trial became, which lies at metric.
func (l *levels) next(key *metric.Value, i int, level *metric.Value) *metric.Value {
	if l == nil || level == nil {
		return key
	}
	return plus(level, l.incumbent[l.after[i]]-l.incumbent[l.before[i]])
}

// plus is a level with a difference; the level alone when that is no number.
func plus(level *metric.Value, difference float64) *metric.Value {
	sum, err := metric.FromFloat(level.Float64() + difference)
	if err != nil {
		return level
	}
	return &sum
}

// moments is a history in numbers.
type moments struct {
	// tried and beside are what each trial and the incumbent next to it measured,
	// NaN where nothing was.
	tried, beside []float64
	// before and after number each trial's incumbent, and the one after its iteration.
	before, after []int
	// kept says which trials became incumbents.
	kept []bool
	// noise is the variance of one of these numbers when the same is measured at
	// the same time; 0 when it is not known.
	noise float64
}

const (
	// sweeps is how often levels and drift are fitted in turns.
	sweeps = 50
	// leastCompared is how many differences tell noise and drift apart.
	leastCompared = 6
	// quartile is that of the normal distribution: the median of its size.
	quartile = 0.6745
)

// momentsOf has a history in numbers.
func momentsOf(history []PastIteration) moments {
	n := len(history)
	m := moments{
		tried: make([]float64, n), beside: make([]float64, n), before: make([]int, n), after: make([]int, n), kept: make([]bool, n),
	}
	var deviations []float64
	incumbent := 0
	for start := 0; start < n; {
		end := iterationEnd(history, start)
		after := incumbent
		for i := start; i < end; i++ {
			tried := history[i]
			m.tried[i], m.beside[i] = float(tried.Metric), float(tried.Previous)
			if m.kept[i] = tried.Accepted && tried.Metric != nil && tried.Previous != nil; tried.Accepted {
				after = incumbent + 1
			}
			if tried.Deviation > 0 {
				deviations = append(deviations, tried.Deviation)
			}
		}
		for i := start; i < end; i++ {
			m.before[i], m.after[i] = incumbent, after
		}
		incumbent, start = after, end
	}
	m.noise = middle(deviations) * middle(deviations) / 2
	return m
}

func float(v *metric.Value) float64 {
	if v == nil {
		return math.NaN()
	}
	return v.Float64()
}

// middle is the median, the upper of two; 0 of none.
func middle(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

// fitLevels fits levels and drift in turns, each to what the other leaves. It
// begins with as much of the gains with which incumbents came as only pairs tell.
// It is nil when the history does not tell the noise, or the machine drifts by
// so much that only pairs can be compared.
func fitLevels(history []PastIteration) *levels {
	m := momentsOf(history)
	steadiness := m.steadiness()
	if !(steadiness > 0) {
		return nil
	}
	l := &levels{moments: m, incumbent: []float64{0}, drift: make([]float64, len(history))}
	for i := range history {
		if m.after[i] == len(l.incumbent) {
			l.incumbent = append(l.incumbent, l.incumbent[len(l.incumbent)-1])
		}
		if m.kept[i] {
			gain := m.tried[i] - m.beside[i]
			l.incumbent[m.after[i]] = l.incumbent[m.before[i]] + (1-steadiness)*gain
		}
	}
	for range sweeps {
		l.fitDrift(steadiness)
		l.fitIncumbents(steadiness)
	}
	return l
}

// steadiness is how much one trial tells of what the machine adds to the next:
// from 0, where only what was measured side by side can be compared, to 1, where
// an incumbent's measurements at all times differ by no more than those at one
// time. What they differ by beyond that is taken for the step of a random walk;
// returned is 1 less the gain of the steady Kalman filter of such a level
// (Harvey, Forecasting, Structural Time Series Models and the Kalman Filter,
// 1989, section 4.1).
func (m moments) steadiness() float64 {
	var sizes []float64
	for i := 1; i < len(m.beside); i++ {
		if size := math.Abs(m.beside[i] - m.beside[i-1]); m.before[i] == m.before[i-1] && !math.IsNaN(size) {
			sizes = append(sizes, size)
		}
	}
	if m.noise == 0 || len(sizes) < leastCompared {
		return 0
	}
	spread := middle(sizes) / quartile // of a normal distribution; one outlier does not move it
	certain := 1 - 2/math.Sqrt(float64(len(sizes)))
	ratio := max(spread*spread*certain-2*m.noise, 0) / m.noise
	return 1 - (math.Sqrt(ratio*ratio+4*ratio)-ratio)/2
}

// each calls f with every measurement of an incumbent: beside a trial, and as
// the trial that became it. Those of a trial that was accepted were chosen for
// being far apart, and weigh only as much as the others leave open.
func (m moments) each(steadiness float64, f func(trial, incumbent int, value, weight float64)) {
	for i := range m.tried {
		switch {
		case m.kept[i]:
			f(i, m.before[i], m.beside[i], 1-steadiness)
			f(i, m.after[i], m.tried[i], 1-steadiness)
		case !math.IsNaN(m.beside[i]):
			f(i, m.before[i], m.beside[i], 1)
		}
	}
}

// fitDrift makes the drift the mean of what the levels leave of all
// measurements, each weighing less the more trials it is away.
func (l *levels) fitDrift(steadiness float64) {
	n := len(l.tried)
	sums, weights := make([]float64, n), make([]float64, n)
	l.each(steadiness, func(trial, incumbent int, value, weight float64) {
		sums[trial] += weight * (value - l.incumbent[incumbent])
		weights[trial] += weight
	})
	weight := make([]float64, n)
	sum, w := 0.0, 0.0
	for i := range n {
		sum, w = steadiness*sum+sums[i], steadiness*w+weights[i]
		l.drift[i], weight[i] = sum, w
	}
	sum, w = 0, 0
	for i := n - 1; i >= 0; i-- {
		l.drift[i], weight[i] = l.drift[i]+sum, weight[i]+w
		sum, w = steadiness*(sum+sums[i]), steadiness*(w+weights[i])
		if weight[i] > 0 {
			l.drift[i] /= weight[i]
		}
	}
}

// fitIncumbents makes every level the mean of what the drift leaves of its
// incumbent's measurements; one without any stays.
func (l *levels) fitIncumbents(steadiness float64) {
	sums, weights := make([]float64, len(l.incumbent)), make([]float64, len(l.incumbent))
	l.each(steadiness, func(trial, incumbent int, value, weight float64) {
		sums[incumbent] += weight * (value - l.drift[trial])
		weights[incumbent] += weight
	})
	for k, weight := range weights {
		if weight > 0 {
			l.incumbent[k] = sums[k] / weight
		}
	}
}
