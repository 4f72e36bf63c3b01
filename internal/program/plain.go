package program

import "bytes"

// plainHeader reads frontmatter of the plainest form, lines of `key: value`
// with a word, a number or a quoted text, many times faster than a YAML
// parser. ok is false for everything else: then YAML decides. What it accepts
// must mean the same in YAML, and a fuzz test holds it to that.
func plainHeader(data []byte) (head header, ok bool) {
	if len(data) > 0 && data[0] == '#' {
		return header{bodyLine: 1}, true
	}
	if !bytes.HasPrefix(data, []byte("---\n")) {
		return header{}, false
	}
	head.fields = make([]field, 0, 8)
	line, at := 1, len("---\n")
	for at < len(data) && at < maxHeader {
		length := bytes.IndexByte(data[at:], '\n')
		if length < 0 {
			length = len(data) - at
		}
		text := data[at : at+length]
		line, at = line+1, min(at+length+1, len(data))
		if string(text) == "---" {
			head.body, head.bodyLine = at, line+1
			return head, true
		}
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		f, ok := plainField(text)
		if !ok {
			return header{}, false
		}
		f.line, f.value.line = line, line
		head.fields = append(head.fields, f)
	}
	return header{}, false
}

func plainField(text []byte) (f field, ok bool) {
	colon := bytes.IndexByte(text, ':')
	if colon < 1 || !letter(text[0]) {
		return f, false
	}
	for _, c := range text[:colon] {
		if !letter(c) && !digit(c) && c != '-' && c != '_' {
			return f, false
		}
	}
	f.name = string(text[:colon])
	f.key = normalKey(f.name)
	rest := text[colon+1:]
	if len(rest) > 0 && rest[0] != ' ' {
		return f, false
	}
	f.value, ok = plainValue(bytes.TrimLeft(rest, " "))
	return f, ok
}

func plainValue(text []byte) (v value, ok bool) {
	if len(text) == 0 || text[0] == '#' {
		return v, true
	}
	if text[0] == '"' || text[0] == '\'' {
		return quotedValue(text)
	}
	end := 0
	for ; end < len(text); end++ {
		if text[end] == '#' && end > 0 && text[end-1] == ' ' {
			break
		}
		if !plainByte(text[end], end == 0) && !negative(text[end:], end == 0) {
			return v, false
		}
	}
	v.kind, v.text = scalar, string(bytes.TrimRight(text[:end], " "))
	switch v.text {
	case "null", "Null", "NULL":
		v = value{}
	}
	return v, true
}

func quotedValue(text []byte) (v value, ok bool) {
	end := 1 + bytes.IndexByte(text[1:], text[0])
	if end < 1 {
		return v, false
	}
	for _, c := range text[1:end] {
		if c < ' ' || c > '~' || c == '\\' {
			return v, false
		}
	}
	rest := text[end+1:]
	comment := bytes.TrimLeft(rest, " ")
	if len(comment) > 0 && (comment[0] != '#' || len(comment) == len(rest)) {
		return v, false
	}
	return value{kind: scalar, text: string(text[1:end])}, true
}

func plainByte(c byte, first bool) bool {
	switch {
	case letter(c), digit(c):
		return true
	case first:
		return c == '.' || c == '/' || c == '_'
	default:
		return c == ' ' || c == '.' || c == '/' || c == '_' || c == '-' || c == '%' || c == '*' || c == '+' || c == '@'
	}
}

func negative(text []byte, first bool) bool {
	return first && text[0] == '-' && len(text) > 1 && digit(text[1])
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }
