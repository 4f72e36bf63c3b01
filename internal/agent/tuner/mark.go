package tuner

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// markForm is what every message about a bad mark shows.
const markForm = "a mark is `tune: min..max`, then any of `step S`, `log`, `int`"

// maxExact bounds whole numbers to those that a float64 holds exactly.
const maxExact = 1 << 53

// intended tells a mark, good or bad, from prose that has the word in it.
func intended(c comment) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(c.mark, " \t"), " ")
	return c.leading || strings.Contains(first, "..")
}

// remark is where a mark ends: `tune: 1..9 int (per second)`.
var remark = lazyregexp.New(`[;(]| --? |—|–|//| #`)

// parseMark reads the text after "tune:": what it allows for the numbers before it.
// Pointed says that a bound or the step was written with a point or an exponent: then a
// number without one need not stay whole.
func parseMark(text string) (p Param, pointed bool, err error) {
	text = remark().Split(strings.ReplaceAll(text, ",", " "), 2)[0]
	text = strings.Join(strings.Fields(text), " ")
	words := strings.Fields(strings.ReplaceAll(text, " step ", " step="))
	if len(words) == 0 {
		return p, false, fmt.Errorf("the mark is empty; %s", markForm)
	}
	low, high, found := strings.Cut(words[0], "..")
	if !found || low == "" || high == "" {
		return p, false, fmt.Errorf("%.40q is no range; %s", words[0], markForm)
	}
	number := func(text string) float64 {
		x, failed := strconv.ParseFloat(text, 64)
		if failed != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(text, "xX_pP") {
			err = fmt.Errorf("%.40q is no number; %s", text, markForm)
		}
		pointed = pointed || strings.ContainsAny(text, ".eE")
		return x
	}
	p.Max, p.Min = number(high), number(low) // in this order, so that an error names the first one
	for _, word := range words[1:] {
		step, isStep := strings.CutPrefix(word, "step=")
		switch {
		case err != nil:
		case word == "log":
			p.Log = true
		case word == "int":
			p.Int = true
		case isStep:
			if p.Step = number(step); err == nil && p.Step <= 0 {
				err = fmt.Errorf("the step %v is not above zero", p.Step)
			}
		default:
			err = fmt.Errorf("%.40q is not known; %s, and a remark after `;`", word, markForm)
		}
	}
	switch {
	case err != nil:
	case p.Int && max(math.Abs(p.Min), math.Abs(p.Max)) > maxExact:
		err = fmt.Errorf("whole numbers beyond 2^53 cannot be searched")
	case p.Int && p.Step != math.Trunc(p.Step):
		err = fmt.Errorf("the step %v of a whole number is not whole", p.Step)
	case p.Min < p.Max && p.Step > p.Max-p.Min:
		err = fmt.Errorf("the step %v is wider than the range %v..%v", p.Step, p.Min, p.Max)
	}
	return p, pointed, err
}
