package program

import "strings"

// flow reads `[…]` or `{…}`, also over several lines, and stands behind it.
func (y *yaml) flow(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, y.fail(tooDeep)
	}
	v, ends := value{kind: list, line: y.line}, byte(']')
	if y.peek(0) == '{' {
		v.kind, ends = mapping, '}'
	}
	items, fields := len(y.items), len(y.open)
	y.pos++
	for {
		y.flowSpace()
		if !y.ended() && y.peek(0) == ends {
			y.pos++
			if v.kind == list {
				v.items = closed(&y.items, items)
			} else {
				v.fields = closed(&y.open, fields)
			}
			return v, nil
		}
		one, err := y.flowEntry(depth)
		if err != nil {
			return v, err
		}
		switch {
		case v.kind == mapping && !one.keyed:
			line := one.value.line
			y.open = append(y.open, field{name: one.text, key: normalKey(one.text), line: line, value: value{line: line}})
		case v.kind == mapping:
			y.open = append(y.open, one.field)
		case one.keyed:
			y.items = append(y.items, value{kind: mapping, line: one.line, fields: []field{one.field}})
		default:
			y.items = append(y.items, one.value)
		}
		y.flowSpace()
		switch {
		case y.ended():
			return v, &syntaxError{line: v.line, message: "a `" + map[byte]string{']': "[", '}': "{"}[ends] + "` in this line is not closed"}
		case y.peek(0) == ',':
			y.pos++
		case y.peek(0) != ends:
			return v, y.fail("there is %q where `,` or `%c` is expected", clip(y.rest()), ends)
		}
	}
}

// flowSpace goes over spaces, line breaks and comments.
func (y *yaml) flowSpace() {
	for !y.ended() {
		switch c := y.text[y.pos]; {
		case isBlank(c):
			y.pos++
		case c == '\n', c == '#' && (y.pos == y.start || isBlank(y.text[y.pos-1])):
			y.newline()
		default:
			return
		}
	}
}

// flowItem is an item within brackets: a value, or a key with its value.
type flowItem struct {
	field
	keyed bool
}

func (y *yaml) flowEntry(depth int) (flowItem, error) {
	line, quotes := y.line, y.peek(0) == '"' || y.peek(0) == '\''
	one, err := y.flowValue(depth)
	if err != nil {
		return flowItem{}, err
	}
	y.flowSpace()
	if y.ended() || y.peek(0) != ':' || !quotes && !y.flowEnds(1) {
		return flowItem{field: field{value: one}}, nil
	}
	if one.kind == list || one.kind == mapping {
		return flowItem{}, y.fail("a list or a mapping cannot be a key")
	}
	key := field{name: one.text, key: normalKey(one.text), line: line}
	y.pos++
	y.flowSpace()
	key.value = value{line: y.line}
	if c := y.peek(0); c != ',' && c != ']' && c != '}' {
		key.value, err = y.flowValue(depth)
	}
	return flowItem{field: key, keyed: true}, err
}

// flowEnds reports whether the byte ahead ends a key or a value in brackets.
func (y *yaml) flowEnds(ahead int) bool {
	c := y.peek(ahead)
	return isSpace(c) || strings.IndexByte(",[]{}", c) >= 0
}

func (y *yaml) flowValue(depth int) (v value, err error) {
	v.line = y.line
	switch c := y.peek(0); c {
	case '[', '{':
		return y.flow(depth + 1)
	case '"', '\'':
		v.kind = scalar
		v.text, err = y.quoted()
		return v, err
	}
	if err := y.plainStart(); err != nil {
		return v, err
	}
	if c := y.peek(0); c == '?' || c == '-' && y.flowEnds(1) {
		return v, y.fail("a value within brackets cannot begin with `%c`; quote it", c)
	}
	v = plainValue(y.flowPlain(), v.line)
	if y.flowSpace(); !y.ended() && !y.flowEnds(0) && y.peek(0) != ':' {
		return v, y.fail("a value within brackets goes on in another line; quote it")
	}
	return v, nil
}

// flowPlain reads a plain scalar within brackets.
func (y *yaml) flowPlain() string {
	text := y.rest()
	end := 0
	for ; end < len(text); end++ {
		c := text[end]
		if strings.IndexByte(",[]{}", c) >= 0 || c == '#' && end > 0 && isBlank(text[end-1]) ||
			c == ':' && (end+1 == len(text) || isBlank(text[end+1]) || strings.IndexByte(",[]{}", text[end+1]) >= 0) {
			break
		}
	}
	y.pos += end
	return strings.TrimRight(text[:end], " \t")
}
