package score

import (
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
)

// Composite is the composite of one run; without a reference nothing is adjusted.
func Composite(run format.Run, reference *format.Cost, weight *metric.Value,
	tolerance metric.Value,
) (composite metric.Value, ok bool) {
	var usual costs
	if reference != nil {
		usual = costsOf(*reference)
	}
	return compositeOf(run, usual, weight, tolerance)
}

// Adjustment is the part of a composite that costs make.
func Adjustment(actual, reference format.Cost, tolerance metric.Value) metric.Value {
	return rounded(adjustment(costsOf(actual), costsOf(reference), tolerance))
}
