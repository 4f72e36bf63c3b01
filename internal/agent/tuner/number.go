package tuner

import (
	"math"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// literal is one number in a line of code.
type literal struct {
	start, end int // in the line
	value      float64
	// pointed says that it was written with a point or an exponent, and is
	// written so again.
	pointed bool
	plus    bool // written with a leading +
}

// literals returns the decimal numbers of code that a mark means: those after
// the first assignment (`=` or `:=`), else after the first colon, else after
// the first parenthesis, else all. Numbers inside names (x2), in dotted
// versions, in other bases, with leading zeros, and inside quotes that hold
// more than the number do not count. A unit after a number (0.5f, 10ms) does
// not belong to it.
func literals(code string) []literal {
	quoted := quotes(code)
	var found []literal
	start := valuesStart(code, quoted)
	for _, at := range nameRun().FindAllStringIndex(code[start:], -1) {
		from, to := start+at[0], start+at[1]
		if quoted[from] && !aloneInQuotes(code, from) {
			continue
		}
		if lit, ok := parseLiteral(code, from, to); ok {
			found = append(found, lit)
		}
	}
	return found
}

var (
	// nameRun is a run of the characters of names and numbers.
	nameRun = lazyregexp.New(`\.?\d(?:[eE][+-]\d|[\w.$]|[^\x00-\x7F])*|(?:[\w.$]|[^\x00-\x7F])+`)
	// decimal is a number at the beginning of a run: digits with single underscores, a
	// fraction, an exponent.
	decimal = lazyregexp.New(`^(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?`)
	// otherwise is what no decimal number goes on with: 1.2.3, 0x1f.
	otherwise   = lazyregexp.New(`^[^_A-Za-z]|^[xXbBoO][0-9A-Za-z]`)
	leadingZero = lazyregexp.New(`^0\d`)
)

// valuesStart is where the values of a line begin.
func valuesStart(code string, quoted []bool) int {
	colon, paren := -1, -1
	for at := 0; at < len(code); at++ {
		if quoted[at] {
			continue
		}
		switch code[at] {
		case '=':
			if isAssignment(code, at) {
				return at + 1
			}
		case ':':
			double := at+1 < len(code) && code[at+1] == ':' || at > 0 && code[at-1] == ':'
			if colon < 0 && !double {
				colon = at + 1
			}
		case '(':
			if paren < 0 {
				paren = at + 1
			}
		}
	}
	switch {
	case colon >= 0:
		return colon
	case paren >= 0:
		return paren
	}
	return 0
}

func isAssignment(code string, at int) bool {
	if at+1 < len(code) && (code[at+1] == '=' || code[at+1] == '>') {
		return false
	}
	return at == 0 || !strings.ContainsRune("=<>!~", rune(code[at-1]))
}

// parseLiteral reads the number at the beginning of a run, with its sign.
func parseLiteral(code string, start, end int) (literal, bool) {
	text := code[start:end]
	number := decimal().FindString(text)
	if number == "" || otherwise().MatchString(text[len(number):]) || leadingZero().MatchString(text) {
		return literal{}, false
	}
	lit := literal{start: start, end: start + len(number), pointed: strings.ContainsAny(number, ".eE")}
	if sign := signBefore(code, start); sign != 0 {
		lit.start--
		lit.plus = sign == '+'
	}
	digits := strings.ReplaceAll(code[lit.start:lit.end], "_", "")
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) {
		return literal{}, false
	}
	lit.value = value
	return lit, true
}

// signBefore returns the sign directly before a number, or 0 when there is none
// or when it is the operator of a sum.
func signBefore(code string, start int) byte {
	if start == 0 || code[start-1] != '-' && code[start-1] != '+' {
		return 0
	}
	before := strings.TrimRight(code[:start-1], " \t")
	if before == "" || len(before) < start-1 {
		return code[start-1]
	}
	last := before[len(before)-1]
	if last != '-' && isWord(last) || strings.ContainsRune(")]}.", rune(last)) {
		return 0
	}
	if last == code[start-1] {
		return 0 // i--5 and the like are no place for a new sign
	}
	return code[start-1]
}

// aloneInQuotes reports whether the quotes around at hold a number alone.
func aloneInQuotes(code string, at int) bool {
	open := at
	for open > 0 && !strings.ContainsRune("\"'`", rune(code[open])) {
		open--
	}
	end := closingQuote(code, open)
	if end < 0 {
		return false
	}
	text := strings.TrimLeft(code[open+1:end], "+-")
	return text != "" && decimal().FindString(text) == text
}

// render writes a value in the manner of the literal that it replaces.
func (l literal) render(value float64, whole bool) string {
	text := shortText(value)
	if mantissa, exponent, small := strings.Cut(text, "e"); whole {
		text = strconv.FormatFloat(value, 'f', 0, 64)
	} else if (l.pointed || small) && !strings.Contains(mantissa, ".") {
		text = strings.TrimSuffix(mantissa+".0e"+exponent, "e") // a number in YAML 1.1 and in Go alike
	}
	if l.plus && value >= 0 {
		return "+" + text
	}
	return text
}
