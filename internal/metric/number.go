package metric

import (
	"errors"
	"strings"
)

// Number is a number out of a measurement: exact when it is finite, and marked
// when it is not (NaN, an infinity, or beyond a float64), so that what cannot
// be computed with is seen and never skipped. The zero Number is 0.
type Number struct {
	value     Value
	nonFinite bool
}

// NumberOf returns v as a Number.
func NumberOf(v Value) Number { return Number{value: v} }

// NumberFromInt returns n as a Number.
func NumberFromInt(n int64) Number { return Number{value: FromInt(n)} }

// NonFinite returns the Number that stands for NaN and infinities.
func NonFinite() Number { return Number{nonFinite: true} }

// Finite reports whether there is a value.
func (n Number) Finite() bool { return !n.nonFinite }

// Value returns the exact value; ok is false when the number is not finite.
func (n Number) Value() (v Value, ok bool) { return n.value, !n.nonFinite }

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
	value, err := ParseValue(string(text))
	if err != nil && !errors.Is(err, ErrNotFinite) {
		return err
	}
	*n = Number{value: value, nonFinite: err != nil}
	return nil
}

// Known returns the value behind a pointer; ok is false for nil and for what is
// not finite.
func Known(n *Number) (v Value, ok bool) {
	if n == nil {
		return Value{}, false
	}
	return n.Value()
}

// Plus adds two numbers; the sum with one that is not finite is not either.
func (n Number) Plus(o Number) Number {
	if n.nonFinite || o.nonFinite {
		return NonFinite()
	}
	return NumberOf(n.value.Add(o.value))
}

// IsWhole reports whether v is an integer.
func IsWhole(v Value) bool { return v.Rat().IsInt() }
