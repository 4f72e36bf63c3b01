package render

import (
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// digits is how many significant digits of a number people are shown; the ledger
// has them all.
const digits = 6

// Figure is a number for people, or "—".
func Figure(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return rounded(v.String())
}

// rounded is a number with at most six significant digits, without an exponent
// where it can be read without one.
func rounded(text string) string { return roundTo(text, digits) }

// shortDigits is how many significant digits scores of skills and tasks have for
// people; their records have them all.
const shortDigits = 4

var decimal = lazyregexp.New(`[+-]?\d[\d.]*\d`)

// Short is a text with every decimal number in it at most four digits long.
func Short(text string) string {
	return decimal().ReplaceAllStringFunc(text, func(found string) string {
		if strings.Count(found, ".") != 1 {
			return found // a whole number, a version or an address
		}
		return roundTo(found, shortDigits)
	})
}

// ShortValue is a number with at most four digits, or "—".
func ShortValue(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return Short(v.String())
}

// roundTo is a number with at most so many significant digits.
func roundTo(text string, digits int) string {
	if significant(text) <= digits {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	short := strconv.FormatFloat(f, 'g', digits, 64)
	if f, err = strconv.ParseFloat(short, 64); err == nil && (f == 0 || math.Abs(f) >= 1e-6 && math.Abs(f) < 1e15) {
		short = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if strings.HasPrefix(text, "+") {
		short = "+" + short
	}
	return short
}

// significant counts the significant digits of a number.
func significant(text string) int {
	text, _, _ = strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	whole, fraction, _ := strings.Cut(text, ".")
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	return len(strings.TrimLeft(whole+fraction, "0"))
}

var longNumber = lazyregexp.New(`[+-]?\d[\d.]{6,}(e[+-]?\d+)?`)

// Said is one line of an agent's or an evaluation's words, or of reasons that
// quote them: harmless, and its numbers rounded.
func Said(text string) string {
	const most = 300
	text = longNumber().ReplaceAllStringFunc(text[:min(len(text), 8*most)], func(found string) string {
		if strings.Count(found, ".") != 1 || strings.HasSuffix(found, ".") {
			return found // a version, or a whole number that may be a name
		}
		return rounded(found)
	})
	return plain.Quote(text, most)
}

// Stopped is why a program stopped: words of others may be in it, and our cure is,
// which people copy.
func Stopped(reason string) string {
	return strings.ReplaceAll(Said(reason), "/\u200bautoloop resume", "/autoloop resume")
}

// saidCell is Said for a cell of a table.
func saidCell(text string) string { return strings.ReplaceAll(Said(text), "|", `\|`) }

// Count is a number of things: "1 iteration", "2 iterations".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
