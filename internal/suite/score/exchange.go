package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// chances are the probabilities of a permutation test over the tasks of a suite.
type chances interface {
	// net returns the one-sided probabilities that a net gain, and a net loss, as
	// large as the observed one comes from no difference.
	net() (gain, loss float64)
	// drop returns the probability that without any difference some task would
	// drop as clearly as this one did.
	drop(task int) float64
}

// sample is one number of every run of a task, in millionths.
type sample struct{ before, after []int64 }

// exchange tests samples, of one task each. Runs that share something, such as
// the hours in which a side was measured or a session of its judge, are exchanged
// between the sides as whole runs; others within each task.
func exchange(samples []sample, shared bool, most int) chances {
	if shared && sameRuns(samples) {
		return newWholeRuns(samples, most)
	}
	strata := make(taskwise, len(samples))
	for i, s := range samples {
		strata[i] = newStratum(s.before, s.after, most)
	}
	return strata
}

// sameRuns reports whether every task has the same number of runs: else they
// cannot be exchanged whole.
func sameRuns(samples []sample) bool {
	return len(samples) > 0 && !slices.ContainsFunc(samples, func(s sample) bool {
		return len(s.before) != len(samples[0].before) || len(s.after) != len(samples[0].after)
	})
}

// taskwise exchanges runs within each task, independently of the others.
type taskwise []stratum

func (t taskwise) net() (gain, loss float64) { return netPValues(t) }

// drop is exact, because the tasks are permuted independently: 1 − Π (1 − P(drop of
// that task ≥ observed)), what Westfall and Young call the p-value adjusted by the
// largest statistic.
func (t taskwise) drop(task int) float64 {
	none := 1.0
	for _, s := range t {
		none *= 1 - s.beyond(t[task].drop)
	}
	return 1 - none
}

// wholeRuns exchanges runs of the whole suite.
type wholeRuns struct {
	// nets has the net gain of each arrangement, the observed one first.
	nets []float64
	// observed is the drop of each task, in standard errors; worst has the largest
	// drop of any task in each arrangement, in ascending order.
	observed, worst []float64
}

func newWholeRuns(samples []sample, most int) *wholeRuns {
	w := &wholeRuns{}
	pooled := make([][]int64, len(samples))
	for i, s := range samples {
		pooled[i] = slices.Concat(s.after, s.before)
	}
	take := func(chosen []bool) {
		net, worst := 0.0, math.Inf(-1)
		for _, values := range pooled {
			drop := 0.0
			if slices.Min(values) != slices.Max(values) {
				diff, spread := split(values, chosen)
				net += diff
				drop = -diff / spread
			}
			worst = max(worst, drop)
			if len(w.nets) == 0 {
				w.observed = append(w.observed, drop)
			}
		}
		w.nets, w.worst = append(w.nets, net), append(w.worst, worst)
	}
	arrange(len(samples[0].after), len(samples[0].before), most, take)
	slices.Sort(w.worst)
	return w
}

func (w *wholeRuns) net() (gain, loss float64) {
	count := netCount{observed: w.nets[0]}
	for _, net := range w.nets {
		count.add(net)
	}
	return float64(count.gains) / float64(count.all), float64(count.losses) / float64(count.all)
}

func (w *wholeRuns) drop(task int) float64 {
	from := sort.Search(len(w.worst), func(i int) bool { return atLeast(w.worst[i], w.observed[task]) })
	return float64(len(w.worst)-from) / float64(len(w.worst))
}

// arrange calls take for every way to label the runs of two sides, the observed
// one first, or for as many drawn ones when there are more.
func arrange(candidates, baselines, most int, take func(chosen []bool)) {
	all := candidates + baselines
	if arrangements(candidates, baselines) <= float64(most) {
		combinations(all, candidates, take)
		return
	}
	chosen := make([]bool, all)
	for i := range candidates {
		chosen[i] = true
	}
	random := rand.New(rand.NewPCG(uint64(candidates), uint64(all)))
	for range most {
		take(chosen)
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
}
