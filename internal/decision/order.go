package decision

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision/statistics"
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
