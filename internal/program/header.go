package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/adrg/frontmatter"

	"github.com/org/autoloop/internal/lazyregexp"
)

// maxHeader bounds the frontmatter, so that a hostile one is refused before
// the YAML parser has to work on it.
const maxHeader = 32 << 10

// header separates frontmatter and body: it returns the fields, and where the body begins, -1 when
// nobody can tell. A byte order mark, blank lines and HTML comments before it are skipped.
func (p *Program) header(data []byte) (fields []field, body int) {
	at, closed := skipComments(data)
	line := lineAt(data, at)
	if !closed {
		p.fail(line, "the HTML comment that begins here does not end; close it with `-->`")
		return nil, -1
	}
	first, following, _ := bytes.Cut(data[at:], []byte("\n"))
	if string(bytes.TrimSpace(first)) != "---" {
		if what := misplaced(first, following); what != "" {
			p.fail(line, "%s", what)
		}
		return nil, len(data) - len(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	}
	var text []byte
	found := false
	split := frontmatter.NewFormat("---", "---", func(between []byte, _ any) error {
		text, found = between, true
		return nil
	})
	rest, err := frontmatter.Parse(bytes.NewReader(data[at:]), nil, split)
	switch {
	case err != nil || !found:
		p.fail(line, "the frontmatter begins here with `---` and does not end; add a line `---` after its last key")
		return nil, -1
	case len(text) > maxHeader:
		p.fail(line, "the frontmatter has %d bytes; it has at most %d", len(text), maxHeader)
		return nil, -1
	}
	return p.yamlFields(string(text), line+1), len(data) - len(rest)
}

const byteOrderMark = "\ufeff"

// skipComments returns the offset of the first thing that is neither blank nor
// an HTML comment, or that of a comment that is not closed.
func skipComments(data []byte) (at int, closed bool) {
	at = len(data) - len(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	for {
		at = len(data) - len(bytes.TrimLeft(data[at:], " \t\n"))
		if !bytes.HasPrefix(data[at:], []byte("<!--")) {
			return at, true
		}
		end := bytes.Index(data[at:], []byte("-->"))
		if end < 0 {
			return at, false
		}
		at += end + len("-->")
	}
}

var (
	keyForm = lazyregexp.New(`^([A-Za-z][A-Za-z0-9_-]*)[ \t]*[:=]`)
	// otherForm is a first line of frontmatter in another form.
	otherForm = lazyregexp.New(`^(?:\+\+\+|;;;|\{|---[ \t]*(?:toml|json|ya?ml))$`)
)

// misplaced says what is wrong with a first line that is meant to begin
// frontmatter and does not; "" when it is prose.
func misplaced(first, following []byte) string {
	text := string(bytes.TrimSpace(first))
	next, _, _ := bytes.Cut(bytes.TrimLeft(following, " \t\n"), []byte("\n"))
	switch {
	case known(text):
		return "a key of the frontmatter stands here without a line `---` before it; frontmatter is YAML between two " +
			"lines of `---`"
	case otherForm().MatchString(text), text != "" && strings.Trim(text, "-—–") == "" && known(string(next)):
		return "frontmatter is YAML between two lines of `---`, and nothing else on them"
	}
	return ""
}

// known reports whether a line gives a key that program files have.
func known(line string) bool {
	found := keyForm().FindStringSubmatch(line)
	return found != nil &&
		slices.ContainsFunc(Keys(), func(key Key) bool { return normalKey(key.Name) == normalKey(found[1]) })
}
