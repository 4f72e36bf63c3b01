package render

import (
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
)

// fewest is how many significant digits of a long number people are shown, when they
// tell it apart from those beside it; the ledger has them all.
const fewest = 3

// Figure is a number for people, told apart from those beside it, or "—".
func Figure(v *metric.Value, beside ...*metric.Value) string {
	if v == nil {
		return "—"
	}
	texts := []string{v.String()}
	for _, other := range beside {
		if other != nil {
			texts = append(texts, other.String())
		}
	}
	return Rounded(texts...)[0]
}

// Target is a target in a direction for people, told apart from the best, or "—".
func Target(target, best *metric.Value, direction string) string {
	text := Figure(target, best)
	switch {
	case target == nil:
		return text
	case direction == metric.Lower.String():
		return "≤ " + text
	}
	return "≥ " + text
}

// Signed is a difference for people with its sign, or "—".
func Signed(v *metric.Value) string {
	if v == nil {
		return "—"
	}
	return rounded(v.Signed())
}

// SignedFloat is Signed of what is worked out for people alone.
func SignedFloat(f float64) string {
	text := rounded(strconv.FormatFloat(f, 'f', -1, 64))
	if f > 0 {
		return "+" + text
	}
	return text
}

// Percent is a difference as a share of where it began, with its sign; "" where that
// means nothing.
func Percent(difference, from metric.Value) string {
	if from.Sign() == 0 || difference.Sign() == 0 {
		return ""
	}
	return SignedFloat(100*difference.Float64()/from.Abs().Float64()) + " %"
}

// Rounded shortens the long numbers in texts for people: to three significant digits,
// or to as many as tell all the numbers in them apart.
func Rounded(texts ...string) []string {
	const every = 17 // digits tell any two numbers apart
	all := map[string]bool{}
	for _, text := range texts {
		for _, number := range number().FindAllString(text, -1) {
			all[roundTo(strings.TrimSuffix(number, "."), every)] = true
		}
	}
	digits := fewest
	for ; digits < every; digits++ {
		short := map[string]bool{}
		for number := range all {
			short[roundTo(number, digits)] = true
		}
		if len(short) == len(all) {
			break
		}
	}
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = longNumber().ReplaceAllStringFunc(text, func(found string) string {
			if strings.Count(found, ".") != 1 || strings.HasSuffix(found, ".") {
				return found // a version, or a whole number that may be a name
			}
			return roundTo(found, digits)
		})
	}
	return list
}

func rounded(text string) string { return Rounded(text)[0] }

// roundTo is a number with at most so many significant digits, or all of its whole
// part, without an exponent where it can be read without one.
func roundTo(text string, digits int) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if size := math.Abs(f); size >= 1 && size < 1e15 {
		digits = max(digits, 1+int(math.Log10(size)))
	}
	short := strconv.FormatFloat(f, 'g', digits, 64)
	if f, err = strconv.ParseFloat(short, 64); err == nil && (f == 0 || math.Abs(f) >= 1e-6 && math.Abs(f) < 1e15) {
		short = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if strings.HasPrefix(text, "+") {
		short = "+" + short
	}
	if len(short) >= len(text) {
		return text
	}
	return short
}

var number = lazyregexp.New(`\d[\d.]*(e[+-]?\d+)?`)

var longNumber = lazyregexp.New(`[+-]?\d[\d.]{6,}(e[+-]?\d+)?`)

// Said is one line of an agent's or an evaluation's words, or of reasons that
// quote them: harmless, and its numbers rounded.
func Said(text string) string {
	const longest = 8 // bytes for each character
	return plain.Quote(Rounded(text[:min(len(text), longest*maxLine)])[0], maxLine)
}

// ours are words of our own in why a program stopped: people copy the cure, and follow
// the link.
var ours = strings.NewReplacer(
	"/\u200bautoloop resume", "/autoloop resume",
	"pull request #\u200b", "pull request #",
)

// Stopped is why a program stopped, in which words of others may be.
func Stopped(reason string) Markup { return Markup(ours.Replace(string(MD("%s", reason)))) }

// USD is money for people: in cents, of less than a dollar in three significant digits.
func USD(usd float64) string {
	text := strconv.FormatFloat(usd, 'f', 2, 64)
	if short := roundTo(strconv.FormatFloat(usd, 'f', -1, 64), fewest); math.Abs(usd) < 1 && len(short) > len(text) {
		text = short
	}
	return text + " USD"
}

// Minutes is a time for people: of under a minute in seconds, of two hours and more in hours,
// of two days and more in days.
func Minutes(minutes float64) string {
	switch {
	case minutes < 1:
		return strconv.FormatFloat(minutes*60, 'g', fewest, 64) + " s"
	case minutes < 120:
		return strconv.FormatFloat(minutes, 'g', fewest, 64) + " min"
	case minutes < 2*24*60:
		return roundTo(strconv.FormatFloat(minutes/60, 'f', 1, 64), fewest) + " h"
	}
	return roundTo(strconv.FormatFloat(minutes/60/24, 'f', 1, 64), fewest) + " d"
}

// Count is a number of things: "1 iteration", "2 iterations". A plural that is not one with
// an s behind it is given too.
func Count(n int, one string, more ...string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + append(more, one+"s")[0]
}
