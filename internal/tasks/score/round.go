package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
)

// decimals is how far composites, rates, deltas and sums are told apart.
const decimals = 6

// rounded returns r with six decimals, halves away from zero.
func rounded(r *big.Rat) metric.Value {
	return metric.MustValue(r.FloatString(decimals))
}

func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// clampTo returns r, but not below low and not above high.
func clampTo(r *big.Rat, low, high int64) *big.Rat {
	if floor := big.NewRat(low, 1); r.Cmp(floor) < 0 {
		return floor
	}
	if ceiling := big.NewRat(high, 1); r.Cmp(ceiling) > 0 {
		return ceiling
	}
	return r
}

// millionths returns composites as whole millionths.
func millionths(values []metric.Value) []int64 {
	list := make([]int64, len(values))
	for i, v := range values {
		list[i] = new(big.Rat).Mul(v.Rat(), big.NewRat(1_000_000, 1)).Num().Int64()
	}
	return list
}
