package tuner

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// markForm is what every message about a bad mark shows.
const markForm = "a mark is `tune: min..max`, then any of `step S`, `log`, `int`"

// maxExact bounds whole numbers to those that a float64 holds exactly.
const maxExact = 1 << 53

// tuneMark is what a comment allows for the numbers before it.
type tuneMark struct {
	min, max, step float64
	log, int       bool
	// pointed says that a bound or the step was written with a point or an
	// exponent: then a number without one need not stay whole.
	pointed bool
}

// intended tells a mark, good or bad, from prose that has the word in it.
func intended(c comment) bool {
	text := strings.TrimLeft(c.mark, " \t")
	if c.leading {
		return true
	}
	first, _, _ := strings.Cut(text, " ")
	return strings.Contains(first, "..")
}

// parseMark reads the text after "tune:".
func parseMark(text string) (tuneMark, error) {
	words := strings.Fields(cutProse(strings.ReplaceAll(text, ",", " ")))
	if len(words) == 0 {
		return tuneMark{}, fmt.Errorf("the mark is empty; %s", markForm)
	}
	low, high, found := strings.Cut(words[0], "..")
	if !found || low == "" || high == "" {
		return tuneMark{}, fmt.Errorf("%.40q is no range; %s", words[0], markForm)
	}
	var m tuneMark
	var err error
	if m.min, err = m.number(low); err != nil {
		return tuneMark{}, err
	}
	if m.max, err = m.number(high); err != nil {
		return tuneMark{}, err
	}
	if err := m.options(words[1:]); err != nil {
		return tuneMark{}, err
	}
	return m, m.check()
}

// cutProse ends the mark where a remark begins: `tune: 1..9 int (per second)`.
func cutProse(text string) string {
	if at := strings.IndexAny(text, ";("); at >= 0 {
		text = text[:at]
	}
	for _, dash := range []string{" - ", " -- ", "—", "–", "//", " #"} {
		text, _, _ = strings.Cut(text, dash)
	}
	return text
}

func (m *tuneMark) options(words []string) error {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "log":
			m.log = true
		case word == "int":
			m.int = true
		case word == "step" && len(words) > 0:
			word, words = "step="+words[0], words[1:]
			fallthrough
		case strings.HasPrefix(word, "step="):
			step, err := m.number(strings.TrimPrefix(word, "step="))
			if err != nil {
				return err
			}
			m.step = step
			if step <= 0 {
				return fmt.Errorf("the step %v is not above zero", step)
			}
		default:
			return fmt.Errorf("%.40q is not known; %s, and a remark after `;`", word, markForm)
		}
	}
	return nil
}

func (m *tuneMark) number(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(text, "xX_pP") {
		return 0, fmt.Errorf("%.40q is no number; %s", text, markForm)
	}
	if strings.ContainsAny(text, ".eE") {
		m.pointed = true
	}
	return x, nil
}

func (m *tuneMark) check() error {
	switch {
	case m.min >= m.max:
		return fmt.Errorf("the minimum %v is not below the maximum %v", m.min, m.max)
	case math.IsInf(m.max-m.min, 0):
		return fmt.Errorf("the range %v..%v is too wide", m.min, m.max)
	case m.log && m.min <= 0:
		return fmt.Errorf("a log scale needs a minimum above zero, not %v", m.min)
	case m.int && math.Ceil(m.min) > math.Floor(m.max):
		return fmt.Errorf("no whole number lies in %v..%v", m.min, m.max)
	case m.int && max(math.Abs(m.min), math.Abs(m.max)) > maxExact:
		return fmt.Errorf("whole numbers beyond 2^53 cannot be searched")
	case m.int && m.step != math.Trunc(m.step):
		return fmt.Errorf("the step %v of a whole number is not whole", m.step)
	case m.step > m.max-m.min:
		return fmt.Errorf("the step %v is wider than the range %v..%v", m.step, m.min, m.max)
	}
	return nil
}
