package tuner

import (
	"math"
	"strconv"
	"strings"
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
	for at := valuesStart(code, quoted); at < len(code); {
		end := runEnd(code, at)
		if end == at {
			at++
			continue
		}
		if quoted[at] && !aloneInQuotes(code, at) {
			at = end
			continue
		}
		if lit, ok := parseLiteral(code, at, end); ok {
			found = append(found, lit)
		}
		at = end
	}
	return found
}

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

// runEnd returns the end of the run of name and number characters at at, or at
// itself when no such run begins there.
func runEnd(code string, at int) int {
	end := at
	for end < len(code) {
		b := code[end]
		exponentSign := (b == '+' || b == '-') && end > at && code[end-1]|0x20 == 'e' &&
			startsLikeNumber(code[at:]) && end+1 < len(code) && isDigit(code[end+1])
		if !exponentSign && b != '.' && (b == '-' || !isWord(b)) {
			break
		}
		end++
	}
	return end
}

func startsLikeNumber(text string) bool {
	return isDigit(text[0]) || text[0] == '.' && len(text) > 1 && isDigit(text[1])
}

// parseLiteral reads the number at the beginning of a run, with its sign.
func parseLiteral(code string, start, end int) (literal, bool) {
	text := code[start:end]
	if !startsLikeNumber(text) {
		return literal{}, false
	}
	length := numberLength(text)
	rest := text[length:]
	if length == 0 || rest != "" && rest[0] != '_' && !isLetter(rest[0]) {
		return literal{}, false
	}
	otherBase := len(rest) > 1 && strings.ContainsRune("xXbBoO", rune(rest[0])) &&
		(isDigit(rest[1]) || isLetter(rest[1]))
	if otherBase || len(text) > 1 && text[0] == '0' && isDigit(text[1]) {
		return literal{}, false
	}
	lit := literal{start: start, end: start + length, pointed: strings.ContainsAny(text[:length], ".eE")}
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

// numberLength returns how much of text is a decimal number: digits with single
// underscores, a fraction, an exponent.
func numberLength(text string) int {
	at := digitsLength(text)
	if at < len(text) && text[at] == '.' {
		fraction := digitsLength(text[at+1:])
		if at == 0 && fraction == 0 {
			return 0
		}
		at += 1 + fraction
	}
	if at+1 < len(text) && text[at]|0x20 == 'e' {
		sign := 0
		if text[at+1] == '+' || text[at+1] == '-' {
			sign = 1
		}
		if exponent := digitsLength(text[at+1+sign:]); exponent > 0 {
			at += 1 + sign + exponent
		}
	}
	return at
}

func digitsLength(text string) int {
	at := 0
	for at < len(text) && (isDigit(text[at]) || text[at] == '_' && at > 0 && at+1 < len(text) && isDigit(text[at+1])) {
		at++
	}
	return at
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
	return text != "" && numberLength(text) == len(text)
}

// render writes a value in the manner of the literal that it replaces.
func (l literal) render(value float64, whole bool) string {
	if whole {
		return l.signed(strconv.FormatFloat(value, 'f', 0, 64), value)
	}
	size := math.Abs(value)
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if size != 0 && (size < 1e-6 || size >= 1e21) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0" // a number in YAML 1.1 and in Go alike
		}
		text = mantissa + "e" + exponent
	}
	if l.pointed && !strings.Contains(text, ".") {
		text += ".0"
	}
	return l.signed(text, value)
}

func (l literal) signed(text string, value float64) string {
	if l.plus && value >= 0 {
		return "+" + text
	}
	return text
}
