// Package metric is the arithmetic of the decision: exact metric values, the
// direction in which a metric improves, and reading a metric out of what an
// evaluation printed. It does no I/O.
package metric

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// maxDigits bounds the text of one number, so that a hostile exponent cannot
// make exact arithmetic expensive. It leaves room for every float64 and for
// integers far beyond 2^53.
const maxDigits = 400

var (
	// ErrNotFinite says that a number is NaN, infinite, or too large for a float64.
	ErrNotFinite = errors.New("not a finite number")
	// ErrNotNumber says that a text is no decimal number at all.
	ErrNotNumber = errors.New("not a number")
)

var numberForm = lazyregexp.New(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// Value is one finite decimal number, held exactly as it was written: 0.1 is a
// tenth, and integers beyond 2^53 keep their last digit. The zero Value is 0.
type Value struct{ d decimal.Decimal }

// ParseValue reads a decimal number such as -3, .5, 1.30 or 1e-300. Spaces
// around it are ignored. The error wraps ErrNotFinite or ErrNotNumber.
func ParseValue(text string) (Value, error) {
	text = strings.TrimSpace(text)
	near, beyond := strconv.ParseFloat(text, 64)
	switch {
	case beyond == nil && (math.IsNaN(near) || math.IsInf(near, 0)):
		return Value{}, fmt.Errorf("%q is %w", text, ErrNotFinite)
	case !numberForm().MatchString(text):
		return Value{}, fmt.Errorf("%q is %w", clip(text), ErrNotNumber)
	case len(text) > maxDigits:
		return Value{}, fmt.Errorf("%q has more than %d characters: %w", clip(text), maxDigits, ErrNotNumber)
	}
	d, err := decimal.NewFromString(text)                                                    // it fails for an exponent that is no int32
	if exponent := int(d.Exponent()); beyond != nil || err != nil || exponent > maxDigits || // of a zero, too
		d.NumDigits()+exponent < -maxDigits {
		return Value{}, fmt.Errorf("%q is out of range: %w", text, ErrNotFinite)
	}
	return Value{d}, nil
}

// MustValue is ParseValue for constants and tests; it panics on an error.
func MustValue(text string) Value {
	v, err := ParseValue(text)
	if err != nil {
		panic(err)
	}
	return v
}

// FromFloat returns the Value with the shortest decimal text that reads back
// as f. The error wraps ErrNotFinite.
func FromFloat(f float64) (Value, error) {
	return ParseValue(strconv.FormatFloat(f, 'g', -1, 64))
}

// FromInt returns n as a Value.
func FromInt(n int64) Value { return Value{decimal.NewFromInt(n)} }

// Float64 returns the nearest float64, for statistics and pictures.
func (v Value) Float64() float64 {
	f, _ := strconv.ParseFloat(v.String(), 64)
	return f
}

// Rat returns v as an exact fraction, which the caller may change.
func (v Value) Rat() *big.Rat { return v.d.Rat() }

// Cmp returns -1, 0 or +1 as v is less than, equal to or greater than o.
func (v Value) Cmp(o Value) int { return v.d.Cmp(o.d) }

// Sign returns -1, 0 or +1 for a negative, zero or positive value.
func (v Value) Sign() int { return v.d.Sign() }

// Sub returns v − o exactly.
func (v Value) Sub(o Value) Value { return Value{v.d.Sub(o.d)} }

// Add returns v + o exactly.
func (v Value) Add(o Value) Value { return Value{v.d.Add(o.d)} }

// Mul returns v · o exactly.
func (v Value) Mul(o Value) Value { return Value{v.d.Mul(o.d)} }

// Abs returns |v|.
func (v Value) Abs() Value { return Value{v.d.Abs()} }

// MeanOf is the mean of fractions, 0 of none.
func MeanOf(list []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, one := range list {
		sum.Add(sum, one)
	}
	return sum.Quo(sum, big.NewRat(int64(max(len(list), 1)), 1))
}

// Mean returns (v + o) / 2 exactly: the median of two middle samples.
func (v Value) Mean(o Value) Value {
	return Value{v.d.Add(o.d).Mul(decimal.New(5, -1))}
}

// String returns the shortest exact decimal text: 1.3, -7, 1e-300. Exponents
// appear below 1e-6 and from 1e21 on. ParseValue reads it back: a sum or product
// that it would refuse, for its size or its very many digits, is written as the
// nearest float64.
func (v Value) String() string {
	text := v.exact()
	if len(text) <= maxDigits && strings.IndexByte(text, 'e') < 0 {
		return text
	}
	if _, err := ParseValue(text); err == nil {
		return text
	}
	near, _ := strconv.ParseFloat(text, 64)
	bounded, _ := FromFloat(min(max(near, -math.MaxFloat64), math.MaxFloat64))
	return bounded.exact()
}

func (v Value) exact() string {
	digits := strings.TrimRight(v.d.Coefficient().Abs(v.d.Coefficient()).String(), "0")
	adjusted := v.d.NumDigits() + int(v.d.Exponent()) - 1
	if digits == "" || adjusted >= -6 && adjusted < 21 {
		return v.d.String()
	}
	mantissa := strings.TrimSuffix(digits[:1]+"."+digits[1:], ".")
	if v.Sign() < 0 {
		mantissa = "-" + mantissa
	}
	return mantissa + "e" + strconv.Itoa(adjusted)
}

// Text is the String of a value, and of nil another text.
func Text(v *Value, none string) string {
	if v == nil {
		return none
	}
	return v.String()
}

// Signed returns String with a sign in front, except for zero: +0.2, -0.2, 0.
func (v Value) Signed() string {
	if v.Sign() > 0 {
		return "+" + v.String()
	}
	return v.String()
}

// MarshalJSON writes the value as a JSON number.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalJSON reads a JSON number exactly.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := ParseValue(string(text))
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

func clip(text string) string { return plain.Short(text, 60) }

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
