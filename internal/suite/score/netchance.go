package score

import (
	"math/rand/v2"
)

// netPValues returns the one-sided probabilities that a net gain, and a net
// loss, as large as the observed one comes from no difference.
func netPValues(strata []stratum) (gain, loss float64) {
	if len(strata) == 0 {
		return 1, 1
	}
	all := 1.0
	observed := 0.0
	for _, s := range strata {
		all *= float64(len(s.diffs))
		observed += s.diffs[0]
	}
	count := netCount{observed: observed}
	if all <= maxExact {
		count.every(strata, 0)
	} else {
		count.drawn(strata)
	}
	return float64(count.gains) / float64(count.all), float64(count.losses) / float64(count.all)
}

// netCount counts arrangements of all tasks together.
type netCount struct {
	observed           float64
	all, gains, losses int
}

func (c *netCount) add(sum float64) {
	c.all++
	if atLeast(sum, c.observed) {
		c.gains++
	}
	if atLeast(-sum, -c.observed) {
		c.losses++
	}
}

func (c *netCount) every(strata []stratum, sum float64) {
	if len(strata) == 0 {
		c.add(sum)
		return
	}
	for _, diff := range strata[0].diffs {
		c.every(strata[1:], sum+diff)
	}
}

// drawn counts the observed arrangement too, so that no probability is 0.
func (c *netCount) drawn(strata []stratum) {
	c.add(c.observed)
	random := rand.New(rand.NewPCG(uint64(len(strata)), netDraws))
	for range netDraws - 1 {
		sum := 0.0
		for _, s := range strata {
			sum += s.diffs[random.IntN(len(s.diffs))]
		}
		c.add(sum)
	}
}
