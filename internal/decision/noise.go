package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/stats"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
)

// RuleVersion is the version of the rule, which stands with each decision.
const RuleVersion = 4

// order is which side is measured in each run of a stage, without warm-ups. It is a
// secret of the trial: random within blocks, from a seed that is drawn when the trial
// begins, so that no effect that comes back every few runs falls on one side.
//
// It is shuffled by the seed, for each stage differently and in a way that never changes: the
// n-th number is the first eight bytes of the SHA-256 of seed/stage/n.
func (s Standard) order(stage Stage) []Side {
	drawn := 0
	shuffled := func(sides []Side) []Side {
		for i := len(sides) - 1; i > 0; i-- {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", s.Seed, stage, drawn))
			drawn++
			j := int(binary.BigEndian.Uint64(sum[:8]) % uint64(i+1))
			sides[i], sides[j] = sides[j], sides[i]
		}
		return sides
	}
	switch stage {
	case Once:
		return []Side{Candidate}
	case Again: // a gain that repeats is measured once more
		return shuffled([]Side{Incumbent, Candidate, Candidate})
	default:
		var order []Side
		for _, pairs := range s.blocks() {
			order = append(order, shuffled(slices.Repeat([]Side{Incumbent, Candidate}, pairs))...)
		}
		return order
	}
}

// chance is the two-sided probability that samples that were taken in this order are as
// far apart by chance: the randomisation test of the blocks, which holds whatever
// effect the order met.
func (s Standard) chance(p *part, incumbent, candidate []metric.Value) float64 {
	var blocks []int
	runs := 0
	for _, pairs := range s.blocks() {
		if runs == len(p.taken) {
			break
		}
		runs += 2 * pairs
		blocks = append(blocks, 2*pairs)
	}
	if runs != len(p.taken) {
		return statistics.P(incumbent, candidate) // before the end of a block; it decides nothing
	}
	ours := make([]bool, runs)
	for i := range ours {
		ours[i] = p.order[i] == Candidate
	}
	return statistics.Randomised(metrics(p.taken), ours, blocks)
}

// level is below which probability a difference after so many pairs is no chance. A
// stage that is inconclusive but promising gets as many pairs again, of which the first
// part has three fifths of the chance of a false alarm and the whole the rest.
func (r Rule) level(pairs int) float64 {
	const early = 0.6
	switch {
	case r.MaxPairs <= r.Pairs:
		return 1 - r.Confidence
	case pairs <= r.Pairs:
		return early * (1 - r.Confidence)
	default:
		return (1 - early) * (1 - r.Confidence)
	}
}

// maxBlock is the most pairs in a block.
const maxBlock = 5

// blocks are the numbers of pairs of the blocks: one block of three, after which
// the early look comes, and others of at most maxBlock; a few pairs are one
// block, and so are more whose blocks could not reach the confidence. The
// pairs that an inconclusive stage gets more are blocks of their own.
func (r Rule) blocks() []int {
	first := r.split(r.Pairs)
	if more := r.MaxPairs - r.Pairs; more > 0 {
		return append(first, r.split(more)...)
	}
	return first
}

func (r Rule) split(pairs int) []int {
	if pairs <= maxBlock {
		return []int{pairs}
	}
	blocks := []int{earlyLook}
	rest := pairs - earlyLook
	for n := (rest + maxBlock - 1) / maxBlock; n > 0; n-- {
		blocks = append(blocks, rest/n)
		rest -= rest / n
	}
	least := 2.0
	for _, pairs := range blocks {
		least *= statistics.Least(pairs, pairs)
	}
	if least >= 1-r.Confidence && pairs <= 2*maxBlock {
		return []int{pairs}
	}
	return blocks
}

// disagreeing is the p-value below which two samples of the same files are of two
// machines, or of luck. Three runs beside eight can reach it.
const disagreeing = 0.02

// Disagreement says that the incumbent, measured anew, is not what is on record,
// nil when it is, or when too little was measured to tell. A difference counts when
// it is no chance and twice as large as the recorded samples are apart: recorded
// ones that lie together by luck are compared with again and again.
func Disagreement(recorded, anew []metric.Value) *Reason {
	if len(recorded) == 0 || len(anew) == 0 || Agrees(recorded, anew) {
		return nil
	}
	was, is, apart := statistics.Median(recorded), statistics.Median(anew), width(recorded)
	steady := len(recorded) > 1 && apart.Sign() == 0 && statistics.Same(anew) // leaves nothing to chance
	if !steady && statistics.P(recorded, anew) >= disagreeing {
		return nil
	}
	return &Reason{Kind: Disagrees, Value: &is, Count: len(anew), Beside: &was, Of: len(recorded), High: &apart}
}

// Agrees reports whether the incumbent, measured anew, is as near to what is on
// record as its samples are to each other, twice. What is farther away and may
// still be chance, as after few runs, neither agrees nor disagrees.
func Agrees(recorded, anew []metric.Value) bool {
	if len(recorded) == 0 || len(anew) == 0 {
		return false
	}
	apart := width(recorded)
	return statistics.Median(anew).Sub(statistics.Median(recorded)).Abs().Cmp(apart.Add(apart)) <= 0
}

// width is how far the greatest sample is from the least.
func width(samples []metric.Value) metric.Value {
	return slices.MaxFunc(samples, metric.Value.Cmp).Sub(slices.MinFunc(samples, metric.Value.Cmp))
}

// visiblePower is the chance with which a gain has to be found to count as
// visible.
const visiblePower = 0.8

// Visible estimates the smallest true gain, in the metric's unit, that the rule
// finds four times in five, when runs scatter like these samples: it tries
// candidates whose noise is normal with the samples' deviation (the quartiles'
// distance over 1.349, or the standard deviation where the quartiles agree).
// It is MinImprovement where nothing scatters. Seeded: the same samples give
// the same answer.
func Visible(rule Rule, samples []metric.Value) float64 {
	least := rule.MinImprovement.Of(statistics.Median(samples)).Float64()
	deviation := statistics.Spread(samples).Float64() / 1.349
	if deviation == 0 {
		deviation = stats.StdDev(lists.Map(samples, metric.Value.Float64))
	}
	if deviation == 0 || rule.Regime != Noisy {
		return least
	}
	// Beyond so many pairs the early look decides what is seen.
	const trials, rounds, most = 100, 7, 20
	noise := Standard{Rule: Rule{
		Regime: Noisy, Pairs: min(rule.Pairs, most), MaxPairs: min(rule.MaxPairs, most), Confidence: rule.Confidence,
		MinImprovement: Allowance{Value: scattered(least / deviation)},
	}, Direction: metric.Higher}
	low, high := 0.0, least/deviation+8 // in deviations
	for range rounds {
		gain := (low + high) / 2
		random := rand.New(rand.NewPCG(1, 2))
		found := 0
		for n := range trials {
			noise.Seed = strconv.Itoa(n)
			d, _ := NewTrial(noise).Run(func(step Step) (metric.Measurement, error) {
				value := random.NormFloat64()
				if step.Side == Candidate {
					value += gain
				}
				return metric.Measurement{Metric: new(scattered(value))}, nil
			})
			if d.Verdict == Improved {
				found++
			}
		}
		if float64(found) < visiblePower*trials {
			low = gain
		} else {
			high = gain
		}
	}
	return high * deviation
}

// scattered is a number of enough digits for noise.
func scattered(x float64) metric.Value {
	const digits = 1e6
	value, _ := metric.FromFloat(math.Round(x*digits) / digits) // 0 for what is not finite
	return value
}
