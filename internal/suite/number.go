package suite

import (
	"errors"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// Number is a number out of a measurement: exact when it is finite, and marked
// when it is not (NaN, an infinity, or beyond a float64), so that what cannot
// be computed with is seen and never skipped. The zero Number is 0.
type Number struct {
	value     metric.Value
	nonFinite bool
}

// Exactly returns v as a Number.
func Exactly(v metric.Value) Number { return Number{value: v} }

// Int returns n as a Number.
func Int(n int64) Number { return Number{value: metric.FromInt(n)} }

// Float returns the Number with the shortest decimal text that reads back as f;
// NaN and infinities become a non-finite Number.
func Float(f float64) Number {
	value, err := metric.FromFloat(f)
	return Number{value: value, nonFinite: err != nil}
}

// NonFinite returns the Number that is none.
func NonFinite() Number { return Number{nonFinite: true} }

// Finite reports whether there is a value.
func (n Number) Finite() bool { return !n.nonFinite }

// Value returns the exact value; ok is false when the number is not finite.
func (n Number) Value() (v metric.Value, ok bool) { return n.value, !n.nonFinite }

// String returns the shortest exact text, or "non-finite".
func (n Number) String() string {
	if n.nonFinite {
		return "non-finite"
	}
	return n.value.String()
}

// MarshalJSON writes the value as a JSON number. A non-finite one is written
// as 1e999, which is JSON and which no reader takes for a finite number.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.nonFinite {
		return []byte("1e999"), nil
	}
	return n.value.MarshalJSON()
}

// UnmarshalJSON reads a JSON number. One that is out of range, and null, are
// non-finite; any other type is an error.
func (n *Number) UnmarshalJSON(text []byte) error {
	if strings.TrimSpace(string(text)) == "null" {
		*n = NonFinite()
		return nil
	}
	value, err := metric.ParseValue(string(text))
	if err != nil && !errors.Is(err, metric.ErrNotFinite) {
		return err
	}
	*n = Number{value: value, nonFinite: err != nil}
	return nil
}

// known returns the value behind a pointer; ok is false for nil and for what is
// not finite.
func known(n *Number) (v metric.Value, ok bool) {
	if n == nil {
		return metric.Value{}, false
	}
	return n.Value()
}
