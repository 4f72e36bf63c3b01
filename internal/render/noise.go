package render

import "github.com/org/autoloop/internal/metric"

// WithinNoise reports whether two scores of single runs differ, but by less than
// a grader's own noise, 0.05: such a difference says little. A tie is not one.
func WithinNoise(a, b metric.Value) bool {
	difference := a.Sub(b).Abs()
	return difference.Sign() > 0 && difference.Cmp(metric.MustValue(graderNoise)) < 0
}
