package metric

import (
	"fmt"
	"strings"
)

// Direction says which way a metric improves.
type Direction string

// The two directions. The zero Direction behaves as Higher.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// ParseDirection reads "higher" or "lower" in any case.
func ParseDirection(text string) (Direction, error) {
	switch d := Direction(strings.ToLower(strings.TrimSpace(text))); d {
	case Higher, Lower:
		return d, nil
	default:
		return "", fmt.Errorf("metric direction %q is neither `higher` nor `lower`", clip(text))
	}
}

// String returns "higher" or "lower"; the zero Direction is "higher".
func (d Direction) String() string {
	if d == Lower {
		return string(Lower)
	}
	return string(Higher)
}

// Compare orders values, the better one first.
func (d Direction) Compare(a, b Value) int {
	if d == Lower {
		return a.Cmp(b)
	}
	return b.Cmp(a)
}

// Better reports whether a is strictly better than b.
func (d Direction) Better(a, b Value) bool { return d.Compare(a, b) < 0 }

// Improved reports whether value is strictly better than best. Without a best
// (nil) the value is the first and counts as improved; a tie never does.
func (d Direction) Improved(value Value, best *Value) bool {
	return best == nil || d.Better(value, *best)
}

// TargetMet reports whether best has reached target: best ≥ target for higher,
// best ≤ target for lower. A nil target is never met.
func (d Direction) TargetMet(best Value, target *Value) bool {
	return target != nil && !d.Better(*target, best)
}

// Delta returns value − best as a signed decimal text, or "" without a best:
// +0.2 and -0.2, 0 for a tie.
func Delta(value Value, best *Value) string {
	if best == nil {
		return ""
	}
	return value.Sub(*best).Signed()
}
