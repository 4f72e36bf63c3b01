package program

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// The frontmatter is read by a YAML reader of our own: it takes mappings, lists
// and scalars in every form that people write them in, refuses what a program
// file has no use for (anchors, aliases, tags, keys that are no words), and
// reads a thousand files in the time in which a complete parser reads a few.

// value is one YAML value, with the line of the file where it stands.
type value struct {
	kind   valueKind
	text   string // of a scalar, without quotes; of null as it is written
	line   int
	items  []value
	fields []field
}

type valueKind int

const (
	null valueKind = iota
	scalar
	list
	mapping
)

// maxDepth bounds how deep lists and mappings are nested.
const maxDepth = 8

// syntaxError is what keeps a text from being read, with its line.
type syntaxError struct {
	line    int
	message string
}

func (e *syntaxError) Error() string { return e.message }

const (
	noFields  = "it is no list of `key: value` lines"
	tooDeep   = "the frontmatter is nested too deeply"
	aliasText = "anchors and aliases are not accepted; write the value out"
)

// yamlFields reads YAML that begins at that line of the file. What it returns are
// parts of the text, which is not copied again.
func (p *Program) yamlFields(text string, line int) []field {
	y := yaml{text: text, line: line, open: make([]field, 0, 1+strings.Count(text, "\n"))}
	fields, err := y.document()
	if err != nil {
		p.failYAML(text, line, err)
		return nil
	}
	return fields
}

// failYAML reports why the frontmatter is no YAML: most often a value that has
// to be quoted.
func (p *Program) failYAML(text string, line int, err error) {
	at := &syntaxError{line: line, message: err.Error()}
	errors.As(err, &at)
	if at.message == tooDeep {
		p.fail(at.line, "%s", at.message)
		return
	}
	number := line - 1
	for source := range strings.Lines(text) {
		number++
		if mark, corrected := quoteReserved(strings.TrimRight(source, "\n")); corrected != "" {
			p.fail(number, "a value that begins with `%s` must be quoted: `%s`", mark, clipLine(corrected))
			return
		}
	}
	p.fail(at.line, "the frontmatter is no YAML: %s", clipLine(at.message))
}

var (
	reservedBlock = lazyregexp.New("^(\\s*(?:-\\s+)*(?:[\\w-]+\\s*:\\s+)?)([@*`%][^\"]*?)(\\s+#.*)?\\s*$")
	reservedFlow  = lazyregexp.New("([\\[,]\\s*|[:]\\s+)([@*`%][^\",\\]\\}]*)")
)

// quoteReserved returns a line whose values that begin with a reserved
// character are quoted, and the first such character, or "".
func quoteReserved(line string) (mark, corrected string) {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return "", ""
	}
	if found := reservedBlock().FindStringSubmatch(line); found != nil && strings.TrimSpace(found[1]) != "" {
		return found[2][:1], strings.TrimSpace(found[1] + `"` + strings.TrimSpace(found[2]) + `"` + found[3])
	}
	if found := reservedFlow().FindStringSubmatch(line); found != nil && strings.ContainsAny(line, "[{") {
		return found[2][:1], strings.TrimSpace(reservedFlow().ReplaceAllStringFunc(line, func(part string) string {
			pieces := reservedFlow().FindStringSubmatch(part)
			return pieces[1] + `"` + strings.TrimSpace(pieces[2]) + `"`
		}))
	}
	return "", ""
}

// yaml reads a text from front to back. It stands at pos, in the line that
// begins at start and is that line of the file.
type yaml struct {
	text       string
	pos, start int
	line       int

	// open are the fields of mappings, and the items of lists, that are being read:
	// those of the innermost are the last.
	open  []field
	items []value
}

func (y *yaml) fail(format string, args ...any) error {
	return &syntaxError{line: y.line, message: fmt.Sprintf(format, args...)}
}

// document reads the whole text as the fields of one mapping.
func (y *yaml) document() ([]field, error) {
	indent, err := y.content()
	if err != nil || indent < 0 {
		return nil, err
	}
	found, err := y.node(indent, -1, 0)
	if err != nil {
		return nil, err
	}
	if found.kind != mapping && found.kind != null {
		return nil, &syntaxError{line: found.line, message: noFields}
	}
	if indent, err = y.content(); err == nil && indent >= 0 {
		err = y.fail("the line is indented otherwise than those before it")
	}
	return found.fields, err
}

// peek is the byte at pos+ahead, a newline at the end of the text.
func (y *yaml) peek(ahead int) byte {
	if at := y.pos + ahead; at < len(y.text) {
		return y.text[at]
	}
	return '\n'
}

func (y *yaml) ended() bool { return y.pos >= len(y.text) }

func (y *yaml) blanks() {
	for !y.ended() && isBlank(y.text[y.pos]) {
		y.pos++
	}
}

func (y *yaml) rest() string {
	text := y.text[min(y.pos, len(y.text)):]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		return text[:end]
	}
	return text
}

func (y *yaml) newline() {
	y.pos += len(y.rest())
	if !y.ended() {
		y.pos++
		y.line++
	}
	y.start = y.pos
}

// content goes to the next thing that is neither blank nor a comment, from the
// beginning of a line, and returns how far it is indented; -1 at the end.
func (y *yaml) content() (indent int, err error) {
	for !y.ended() {
		for y.peek(0) == ' ' {
			y.pos++
		}
		indent = y.pos - y.start
		y.blanks()
		switch c := y.peek(0); {
		case c == '\n', c == '#':
			y.newline()
		case y.pos-y.start > indent:
			return 0, y.fail("a tab does not indent; use spaces")
		case indent == 0 && c == '.' && strings.TrimRight(y.rest(), " \t") == "...":
			return y.documentEnd()
		default:
			return indent, nil
		}
	}
	return -1, nil
}

// documentEnd is behind `...`, where nothing more may follow.
func (y *yaml) documentEnd() (int, error) {
	at := y.line
	for y.newline(); !y.ended(); y.newline() {
		if strings.TrimSpace(y.rest()) != "" {
			return 0, &syntaxError{line: at, message: "it has more than one document"}
		}
	}
	return -1, nil
}

// node reads what begins at pos, in that column; parent is the column of what it
// belongs to, which what it has in the next lines must be right of.
func (y *yaml) node(column, parent, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, y.fail(tooDeep)
	}
	if y.dash() {
		return y.sequence(column, depth)
	}
	if y.keyColon() >= 0 {
		return y.mapping(column, depth)
	}
	return y.inline(parent, depth)
}

// dash reports whether an item of a list begins here.
func (y *yaml) dash() bool { return y.peek(0) == '-' && isSpace(y.peek(1)) }

// sequence reads the items of a list whose dashes are in a column.
func (y *yaml) sequence(column, depth int) (value, error) {
	v, first := value{kind: list, line: y.line}, len(y.items)
	for {
		y.pos++
		item, err := y.behind(column, depth, false)
		if err != nil {
			return v, err
		}
		y.items = append(y.items, item)
		indent, err := y.content()
		if err != nil || indent < column || indent == column && !y.dash() {
			v.items = closed(&y.items, first)
			return v, err
		}
		if indent > column {
			return v, y.fail("the line is indented otherwise than those before it")
		}
	}
}

// mapping reads the fields of a mapping whose keys are in a column.
func (y *yaml) mapping(column, depth int) (value, error) {
	v, first := value{kind: mapping, line: y.line}, len(y.open)
	for {
		colon := y.keyColon()
		if colon < 0 {
			return v, y.fail("the line is no `key: value`")
		}
		f := field{line: y.line}
		var err error
		if f.name, err = y.key(colon); err != nil {
			return v, err
		}
		f.key = normalKey(f.name)
		y.blanks()
		y.pos++ // the colon
		if f.value, err = y.behind(column, depth, true); err != nil {
			return v, err
		}
		y.open = append(y.open, f)
		indent, err := y.content()
		if err != nil || indent < column {
			v.fields = closed(&y.open, first)
			return v, err
		}
		if indent > column {
			return v, y.fail("the line is indented otherwise than those before it")
		}
	}
}

// closed takes those from one on, which are read now, from the open ones. All of them
// need no copy.
func closed[T any](open *[]T, first int) (found []T) {
	if first == 0 {
		found, *open = *open, nil
		return found
	}
	found = append(found, (*open)[first:]...)
	*open = (*open)[:first]
	return found
}

// behind reads the value behind a dash, or behind the colon of a key: in the same
// line, or in the next lines when they are indented more. The items of a list may
// be as far left as the key that they belong to.
func (y *yaml) behind(column, depth int, key bool) (value, error) {
	line := y.line
	y.blanks()
	if c := y.peek(0); c != '\n' && c != '#' {
		if key {
			if y.dash() {
				return value{}, y.fail("a list begins in a line of its own, or is written as `[a, b]`")
			}
			return y.inline(column, depth+1)
		}
		return y.node(y.pos-y.start, column, depth+1)
	}
	y.newline()
	indent, err := y.content()
	if err != nil {
		return value{}, err
	}
	if indent > column || key && indent == column && y.dash() {
		return y.node(indent, column, depth+1)
	}
	return value{line: line}, nil
}

// keyColon is the offset, from here on, of the colon behind a key that begins here:
// a word, or a quoted text; -1 when none does.
func (y *yaml) keyColon() int {
	text := y.rest()
	if text == "" {
		return -1
	}
	switch c := text[0]; {
	case c == '"' || c == '\'':
		at := quotedEnd(text)
		for at > 0 && at < len(text) && isBlank(text[at]) {
			at++
		}
		if at > 0 && at < len(text) && text[at] == ':' && (at+1 == len(text) || isBlank(text[at+1])) {
			return at
		}
		return -1
	case indicator(c) || c == '?' && (len(text) == 1 || isBlank(text[1])):
		return -1
	}
	if colon := plainColon(text); colon > 0 {
		return colon
	}
	return -1
}

// plainColon is the offset of the first colon that ends a key; -1 for none.
func plainColon(text string) int {
	for at := range len(text) {
		c := text[at]
		if c == '#' && at > 0 && isBlank(text[at-1]) {
			break
		}
		if c == ':' && (at+1 == len(text) || isBlank(text[at+1])) {
			return at
		}
	}
	return -1
}

// quotedEnd is the offset behind a quoted text that ends in the same line; 0 when
// it does not.
func quotedEnd(text string) int {
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] == '\\' && text[0] == '"':
			at++
		case text[at] != text[0]:
		case text[0] == '\'' && at+1 < len(text) && text[at+1] == '\'':
			at++
		default:
			return at + 1
		}
	}
	return 0
}

// key reads a key up to its colon, which is so far away.
func (y *yaml) key(colon int) (string, error) {
	if c := y.peek(0); c == '"' || c == '\'' {
		return y.quoted()
	}
	name := y.text[y.pos : y.pos+colon]
	y.pos += colon
	return strings.TrimRight(name, " \t"), nil
}

// inline reads a value that begins here, and the rest of its last line. What it
// has in the next lines is right of the column parent.
func (y *yaml) inline(parent, depth int) (v value, err error) {
	if depth > maxDepth {
		return v, y.fail(tooDeep)
	}
	v.line = y.line
	switch c := y.peek(0); c {
	case '[', '{':
		v, err = y.flow(depth)
	case '"', '\'':
		v.kind = scalar
		v.text, err = y.quoted()
	case '|', '>':
		v.kind = scalar
		v.text, err = y.blockScalar(parent)
		return v, err
	default:
		if err = y.plainStart(); err != nil {
			return v, err
		}
		return y.plain(parent)
	}
	if err != nil {
		return v, err
	}
	return v, y.lineEnd()
}

// lineEnd goes to the next line; but for a comment nothing may stand before it.
func (y *yaml) lineEnd() error {
	from := y.pos
	y.blanks()
	switch c := y.peek(0); {
	case c == '\n', c == '#' && y.pos > from:
		y.newline()
		return nil
	default:
		return y.fail("there is %q behind the end of a value", clip(y.rest()))
	}
}

// plainStart refuses what a plain scalar cannot begin with.
func (y *yaml) plainStart() error {
	switch c := y.peek(0); {
	case c == '&', c == '*':
		return y.fail(aliasText)
	case c == '!':
		word, _, _ := strings.Cut(y.rest(), " ")
		return y.fail("tags such as `%s` are not accepted; write the value alone", clip(word))
	case c == '?' && isSpace(y.peek(1)):
		return y.fail("keys that begin with `?` are not accepted; write `key: value`")
	case indicator(c), c == '-' && isSpace(y.peek(1)):
		return y.fail("a value cannot begin with `%c`; quote it", c)
	}
	return nil
}

// indicator reports whether no plain scalar begins with a byte.
func indicator(c byte) bool { return strings.IndexByte(",[]{}#&*!|>'\"%@`", c) >= 0 }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isSpace(c byte) bool { return isBlank(c) || c == '\n' }

func normalKey(key string) string {
	key = strings.TrimSpace(key)
	if strings.IndexByte(key, '_') < 0 {
		return key
	}
	return strings.ReplaceAll(key, "_", "-")
}
