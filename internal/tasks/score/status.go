package score

import (
	"math/big"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/tasks/format"
)

// status is how well a run did on its checks.
type status struct {
	passed metric.Value
	rate   *big.Rat
}

// extremes returns the fewest and the most checks passed, and the lowest and
// the highest rate, of runs whose numbers are finite.
func extremes(runs []format.Run) [2]status {
	var worst, best status
	for i, run := range runs {
		passed, _ := run.Objective.Passed.Value()
		rate, _ := run.Objective.Rate()
		rate = rounded(rate).Rat()
		if i == 0 {
			worst, best = status{passed, rate}, status{passed, rate}
			continue
		}
		worst = status{further(worst.passed, passed, -1), further(worst.rate, rate, -1)}
		best = status{further(best.passed, passed, 1), further(best.rate, rate, 1)}
	}
	return [2]status{worst, best}
}

// rates are the objectives of runs in whole millionths.
func rates(runs []format.Run) []int64 {
	list := make([]metric.Value, len(runs))
	for i, run := range runs {
		rate, _ := run.Objective.Rate()
		list[i] = rounded(rate)
	}
	return millionths(list)
}

// further is the lesser of two numbers for -1, the greater for 1.
func further[T interface{ Cmp(T) int }](a, b T, sign int) T {
	if b.Cmp(a) == sign {
		return b
	}
	return a
}
