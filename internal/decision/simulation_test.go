package decision_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// machine is where simulated evaluations run. Every measurement is a true
// value around 100 with what the machine adds to it.
type machine struct {
	name string
	// spread is one standard deviation of normal noise, in the metric's unit;
	// gains are given in it.
	spread float64
	// add returns the error of one measurement.
	add func(m *moment) float64
	// step, when positive, is the grid that measurements are rounded to.
	step float64
}

// moment is when and where one measurement is taken.
type moment struct {
	*rand.Rand
	side   decision.Side
	second bool    // the later of two that follow each other
	clock  int     // measurements so far
	slow   float64 // how the machine drifted so far
	// place is the fixed effect of the directory, by directory.
	place map[decision.Side]float64
}

func normal(percent float64) func(*moment) float64 {
	return func(m *moment) float64 { return m.NormFloat64() * percent }
}

// heavy has Student's t distribution with three degrees of freedom, scaled to a
// median deviation like that of normal noise, and one outlier in fifty.
func heavy(percent float64) func(*moment) float64 {
	return func(m *moment) float64 {
		chi := 0.0
		for range 3 {
			x := m.NormFloat64()
			chi += x * x
		}
		e := m.NormFloat64() / math.Sqrt(chi/3) * percent
		if m.IntN(50) == 0 {
			e += 20 * percent * m.ExpFloat64()
		}
		return e
	}
}

// periodic is noise with every so manieth run slower by 15 %.
func periodic(percent float64, period int) func(*moment) float64 {
	return func(m *moment) float64 {
		e := m.NormFloat64() * percent
		if m.clock%period == period-1 {
			e -= 15
		}
		return e
	}
}

// periods are machines on which every second to twelfth run is slow.
func periods() []machine {
	list := []machine{
		{name: "four servers in turn", spread: 2.7, add: periodic(2.7, 4)},
		{name: "two slow of every four", spread: 0.5, add: func(m *moment) float64 {
			if m.clock%4 >= 2 {
				return m.NormFloat64()*0.5 - 15
			}
			return m.NormFloat64() * 0.5
		}},
	}
	for period := 2; period <= 12; period++ {
		list = append(list, machine{
			name: fmt.Sprintf("every %d. run slow", period), spread: 0.5,
			add: periodic(0.5, period),
		})
	}
	return list
}

func machines() []machine {
	return []machine{
		{name: "normal 0.5 %", spread: 0.5, add: normal(0.5)},
		{name: "normal 2.7 %", spread: 2.7, add: normal(2.7)},
		{name: "normal 6 %", spread: 6, add: normal(6)},
		{name: "heavy tails", spread: 2.7, add: heavy(2.7)},
		{name: "drifting machine", spread: 2.7, add: func(m *moment) float64 {
			m.slow += 0.3 + 0.5*m.NormFloat64()
			return m.NormFloat64()*2.7 + m.slow
		}},
		{name: "order of runs", spread: 2.7, add: func(m *moment) float64 {
			e := m.NormFloat64() * 2.7
			if m.second {
				e += 5.4
			}
			return e
		}},
		{name: "repeats by luck", spread: 2.7, add: normal(2.7), step: 2.7},
		{name: "few values", spread: 2.7, add: normal(2.7), step: 8.1},
		{name: "flaky count", spread: 1, step: 1, add: func(m *moment) float64 {
			if m.IntN(4) == 0 {
				return -1
			}
			return 0
		}},
		{name: "directory", spread: 2.7, add: func(m *moment) float64 { return m.NormFloat64()*2.7 + m.place[m.side] }},
	}
}

// bench is a machine at work.
type bench struct {
	machine
	moment
}

func newBench(m machine, seed uint64) *bench {
	return &bench{machine: m, moment: moment{
		Rand:  rand.New(rand.NewPCG(seed, 1)),
		place: map[decision.Side]float64{},
	}} //nolint:gosec // a simulation has to be repeatable
}

// build gives both sides new directories, of which some are faster for good.
func (b *bench) build() {
	b.place[decision.Incumbent], b.place[decision.Candidate] = b.NormFloat64()*5.4, b.NormFloat64()*5.4
}

// exchange lets the sides change places in directories that are built anew,
// which keeps half of what a directory does.
func (b *bench) exchange() {
	old := b.place[decision.Incumbent]
	b.place[decision.Incumbent], b.place[decision.Candidate] = b.place[decision.Candidate], old
}

func (b *bench) measure(side decision.Side, truth float64) metric.Measurement {
	b.side = side
	value := truth + b.add(&b.moment)
	b.clock++
	b.second = !b.second
	if b.step > 0 {
		value = math.Round(value/b.step) * b.step
	}
	v, err := metric.FromFloat(value)
	if err != nil {
		panic(err)
	}
	return metric.Measurement{Metric: &v}
}

// records are what a simulated program remembers.
type simulated struct {
	*bench
	regime decision.Regime
	best   *metric.Value
	truth  float64 // of the incumbent
	kept   int
}

func begin(b *bench) *simulated {
	b.build()
	s := &simulated{bench: b, truth: 100, regime: decision.Repeatable}
	s.best = b.measure(decision.Incumbent, s.truth).Metric
	if b.measure(decision.Incumbent, s.truth).Metric.Cmp(*s.best) != 0 {
		s.regime = decision.Noisy
	}
	return s
}

// propose measures a candidate whose true value differs by gain and reports
// whether it was kept.
func (s *simulated) propose(gain float64) bool {
	trial := decision.NewTrial(decision.Standard{
		Rule: decision.Rule{
			Regime: s.regime, Pairs: decision.DefaultPairs, MaxPairs: 2 * decision.DefaultPairs, Confidence: 0.95,
		},
		Seed: fmt.Sprint(s.Uint64()), Direction: metric.Higher, Best: s.best,
	})
	stage := decision.Stage("")
	for step, more := trial.Next(); more; step, more = trial.Next() {
		if step.Stage != stage && (step.Stage == decision.Pairs || step.Stage == decision.Once) {
			s.build()
		}
		if step.Stage != stage && step.Stage == decision.Confirmation {
			s.exchange()
		}
		if step.Stage != stage {
			stage, s.second = step.Stage, false
		}
		truth := s.truth
		if step.Side == decision.Candidate {
			truth += gain
		}
		trial.Add(step, s.measure(step.Side, truth))
	}
	d := trial.Decision()
	s.regime, s.best = trial.Regime(), d.Best
	if d.Verdict != decision.Improved {
		return false
	}
	s.kept++
	s.truth += gain
	return true
}

// repeats is how many programs a row has.
const repeats = 150

// simulate is how many of 30 candidates that change nothing are kept, and how often one that is better by two
// standard deviations is.
func simulate(m machine) (falseKeeps, power float64) {
	for seed := range uint64(repeats) {
		s := begin(newBench(m, seed))
		for range 30 {
			s.propose(0)
		}
		falseKeeps += float64(s.kept) / repeats
		if begin(newBench(m, seed<<8+2)).propose(2 * m.spread) {
			power += 1.0 / repeats
		}
	}
	return falseKeeps, power
}

func TestNoiseIsNotKept(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	// TestCommentsAreNotKept has the noise of this one: a number around 1000 in whole numbers.
	rounded := machine{name: "normal 2.7 % rounded", spread: 2.7, add: normal(2.7), step: 0.1}
	for _, m := range append(append(machines(), periods()...), rounded) {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			falseKeeps, power := simulate(m)
			assert.Less(t, falseKeeps, 0.05, "false keeps per 30 candidates")
			if strings.HasPrefix(m.name, "normal") {
				assert.GreaterOrEqual(t, power, 0.85, "power at two standard deviations")
			}
		})
	}
}
