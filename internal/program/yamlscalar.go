package program

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plain reads a scalar without quotes, also over several lines, which are right
// of the column parent.
func (y *yaml) plain(parent int) (value, error) {
	line := y.line
	text, more, err := y.plainLine()
	for more && err == nil {
		at := *y
		blank := y.blankLines()
		column := y.pos - y.start
		if y.ended() || column <= parent || y.peek(0) == '#' || y.peek(0) == '\t' {
			*y = at
			break
		}
		var next string
		next, more, err = y.plainLine()
		text += lineBreak(blank) + next
	}
	y.newline()
	return plainValue(text, line), err
}

// plainLine reads the part of a plain scalar that is in this line. It may go on
// in the next unless a comment follows.
func (y *yaml) plainLine() (text string, more bool, err error) {
	line := y.rest()
	if plainColon(line) >= 0 {
		return "", false, y.fail("there is a second `: ` in the line; quote the value")
	}
	y.pos += len(line)
	for at := 1; at < len(line); at++ {
		if line[at] == '#' && isBlank(line[at-1]) {
			return strings.TrimRight(line[:at], " \t"), false, nil
		}
	}
	return strings.TrimRight(line, " \t"), true, nil
}

// blankLines goes from the end of a line to the first byte but a space in the next
// that is not blank, and counts the blank ones.
func (y *yaml) blankLines() (blank int) {
	y.newline()
	for ; !y.ended() && strings.TrimSpace(y.rest()) == ""; y.newline() {
		blank++
	}
	for y.peek(0) == ' ' {
		y.pos++
	}
	return blank
}

// plainValue is a scalar without quotes, or none.
func plainValue(text string, line int) value {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return value{text: text, line: line}
	}
	return value{kind: scalar, text: text, line: line}
}

// lineBreak is what a line break with so many blank lines behind it stands for.
func lineBreak(blank int) string {
	if blank == 0 {
		return " "
	}
	return strings.Repeat("\n", blank)
}

// quoted reads a text in quotes, also over several lines, and stands behind it.
func (y *yaml) quoted() (string, error) {
	begun, quote := y.line, y.peek(0)
	if text := y.rest(); !strings.ContainsRune(text, '\\') && !strings.Contains(text, "''") {
		if end := quotedEnd(text); end > 0 {
			y.pos += end
			return text[1 : end-1], nil
		}
	}
	var out []byte
	fixed := 0 // spaces before that are not cut off at the end of a line
	for y.pos++; !y.ended(); {
		c := y.text[y.pos]
		switch {
		case c == quote && quote == '\'' && y.peek(1) == '\'':
			out, y.pos = append(out, c), y.pos+2
		case c == quote:
			y.pos++
			return string(out), nil
		case c == '\n':
			for len(out) > fixed && isBlank(out[len(out)-1]) {
				out = out[:len(out)-1]
			}
			out = append(out, lineBreak(y.blankLines())...)
			y.blanks()
			fixed = len(out)
		case c == '\\' && quote == '"':
			var err error
			if out, err = y.escape(out); err != nil {
				return "", err
			}
			fixed = len(out)
		default:
			out, y.pos = append(out, c), y.pos+1
		}
	}
	return "", &syntaxError{line: begun, message: "a quoted text that begins in this line does not end"}
}

// escape reads an escape of a text in double quotes.
func (y *yaml) escape(out []byte) ([]byte, error) {
	const from, to = "abtnvfre \"/\\N_LP\t", "\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029\t"
	c := y.peek(1)
	if c == '\n' {
		y.pos++
		out = append(out, strings.Repeat("\n", y.blankLines())...)
		y.blanks()
		return out, nil
	}
	if at := strings.IndexByte(from, c); at >= 0 {
		y.pos += 2
		return utf8.AppendRune(out, []rune(to)[at]), nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	end := y.pos + 2 + digits
	if digits == 0 || end > len(y.text) {
		return out, y.fail("`\\%c` means nothing in double quotes; write `\\\\` for a backslash, or use single quotes", c)
	}
	code, err := strconv.ParseUint(y.text[y.pos+2:end], 16, 32)
	if err != nil || !utf8.ValidRune(rune(code)) || code == 0 {
		return out, y.fail("`%s` is no character", clip(y.text[y.pos:end]))
	}
	y.pos = end
	return utf8.AppendRune(out, rune(code)), nil
}

// blockScalar reads the lines behind `|` or `>`, which are right of the column
// parent.
func (y *yaml) blockScalar(parent int) (string, error) {
	folded := y.peek(0) == '>'
	y.pos++
	keep, indent := byte(0), 0
	for c := y.peek(0); !isSpace(c); c = y.peek(0) {
		switch {
		case (c == '+' || c == '-') && keep == 0:
			keep = c
		case c >= '1' && c <= '9' && indent == 0:
			indent = max(parent, 0) + int(c-'0')
		default:
			return "", y.fail("`%c` cannot stand behind `|` or `>`", c)
		}
		y.pos++
	}
	if err := y.lineEnd(); err != nil {
		return "", err
	}
	lines := y.blockLines(parent, indent)
	end := len(lines)
	for end > 0 && len(lines[end-1]) == 0 {
		end--
	}
	text := strings.Join(lines[:end], "\n")
	if folded {
		text = fold(lines[:end])
	}
	switch {
	case keep == '+':
		return text + strings.Repeat("\n", len(lines)-end+min(end, 1)), nil
	case keep == '-' || end == 0:
		return text, nil
	}
	return text + "\n", nil
}

// blockLines are the lines of a block scalar without their indentation, that of
// the first unless it is given.
func (y *yaml) blockLines(parent, indent int) []string {
	var lines []string
	for ; !y.ended(); y.newline() {
		line := y.rest()
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case spaces == len(line) && (indent == 0 || spaces <= indent):
			lines = append(lines, "")
			continue
		case indent == 0 && spaces > parent:
			indent = max(spaces, 1)
		}
		if spaces < indent || indent == 0 {
			return lines
		}
		lines = append(lines, line[indent:])
	}
	return lines
}

// fold joins lines by spaces; blank lines are line breaks, and lines that are
// indented more stay as they are.
func fold(lines []string) string {
	var out strings.Builder
	blank, before := 0, true // before: no folding next to it
	for i, line := range lines {
		if line == "" {
			blank++
			continue
		}
		deeper := isBlank(line[0])
		switch {
		case i == blank: // nothing but blank lines before
			out.WriteString(strings.Repeat("\n", blank))
		case deeper || before:
			out.WriteString(strings.Repeat("\n", blank+1))
		default:
			out.WriteString(lineBreak(blank))
		}
		out.WriteString(line)
		blank, before = 0, deeper
	}
	return out.String()
}
