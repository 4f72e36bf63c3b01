package report

import "github.com/org/autoloop/internal/score"

// WithinNoise reports whether two scores of single runs differ, but by less than
// a grader's own noise, 0.05: such a difference says little. A tie is none.
func WithinNoise(a, b score.Value) bool {
	difference := a.Sub(b).Abs()
	return difference.Sign() > 0 && difference.Cmp(score.MustValue(graderNoise)) < 0
}
