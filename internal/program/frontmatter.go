package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/frontmatter"
	"go.yaml.in/yaml/v3"

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

// value is one YAML value, with the line of the file where it stands.
type value struct{ *yaml.Node }

// field is one key of the frontmatter, or of a mapping in it, with its value.
type field struct {
	name string // as written
	key  string // with dashes
	line int
	value
}

func (v value) isNull() bool { return v.Tag == "!!null" }

func (v value) isScalar() bool { return v.Kind == yaml.ScalarNode && !v.isNull() }

// items are those of a list; none of anything else.
func (v value) items() (list []value) {
	if v.Kind == yaml.SequenceNode {
		for _, item := range v.Content {
			list = append(list, value{item})
		}
	}
	return list
}

// fields are those of a mapping; none of anything else.
func (v value) fields() (list []field) {
	for i := 1; v.Kind == yaml.MappingNode && i < len(v.Content); i += 2 {
		name := v.Content[i-1]
		list = append(list, field{name.Value, normalKey(name.Value), name.Line, value{v.Content[i]}})
	}
	return list
}

const (
	// maxDepth bounds how deep lists and mappings are nested.
	maxDepth = 8
	// opening is how many lines the library is given before the first of the text: it
	// gives no number to an error in its first.
	opening = 1
)

var errMore = errors.New("it has more than one document")

// yamlFields reads YAML that begins at that line of the file, and refuses what a
// program file has no use for: anchors, aliases, tags, keys that are no words.
func (p *Program) yamlFields(text string, line int) []field {
	root, err := readYAML(text, line)
	if err != nil {
		p.failYAML(text, line, err)
		return nil
	}
	return root.fields()
}

func readYAML(text string, line int) (root value, err error) {
	if at := strings.IndexAny(text, "\u0085\u2028\u2029"); at >= 0 { // the library ends a line there
		return root, fault{
			line + strings.Count(text[:at], "\n"),
			errors.New("it has a line break that most editors do not show; remove it"),
		}
	}
	library := yaml.NewDecoder(strings.NewReader(strings.Repeat("---\n", opening) + text))
	var document, more yaml.Node
	if err := library.Decode(&document); err != nil {
		return root, err
	}
	before := line - opening - 1
	if err := library.Decode(&more); err == nil {
		return root, fault{before + more.Line, errMore}
	} else if !errors.Is(err, io.EOF) {
		return root, err
	}
	root.Node = document.Content[0]
	err = check(root, before, 0)
	if err == nil && root.Kind != yaml.MappingNode && !root.isNull() {
		err = fault{root.Line, errors.New("it is no list of `key: value` lines")}
	}
	return root, err
}

// check finds what is not accepted in a value, and makes its lines the file's.
func check(v value, before, depth int) error {
	v.Line += before
	var err error
	switch {
	case depth > maxDepth:
		err = errors.New("it is nested too deeply")
	case v.Kind == yaml.AliasNode || v.Anchor != "":
		err = errors.New("anchors and aliases are not accepted; write the value out")
	case v.Style&yaml.TaggedStyle != 0:
		err = fmt.Errorf("tags such as `%s` are not accepted; write the value alone", clip(v.Tag))
	}
	if err != nil {
		return fault{v.Line, err}
	}
	for i, node := range v.Content {
		one := value{node}
		if err := check(one, before, depth+1); err != nil {
			return err
		}
		switch {
		case v.Kind == yaml.SequenceNode:
		case i%2 == 0 && !one.isScalar():
			return fault{one.Line, errors.New("it cannot be a key; write `key: value`")}
		case one.isNull():
			one.Line = v.Content[i-1].Line // the library puts what is not there anywhere
		}
	}
	return nil
}

// failYAML reports why the frontmatter is no YAML: most often a value that has
// to be quoted.
func (p *Program) failYAML(text string, line int, err error) {
	number := line - 1
	for source := range strings.Lines(text) {
		number++
		if mark, corrected := quoteReserved(strings.TrimRight(source, "\n")); corrected != "" {
			p.fail(number, "a value that begins with `%s` must be quoted: `%s`", mark, clipLine(corrected))
			return
		}
	}
	if at, is := errors.AsType[fault](err); is {
		line, err = at.line, at
	} else if found := libraryError().FindStringSubmatch(err.Error()); found != nil {
		if at, err := strconv.Atoi(found[1]); err == nil {
			if found[3] == "" { // its scanner counts lines from 1, its parser from 0
				at--
			}
			line += min(max(0, at-opening), strings.Count(text, "\n"))
		}
		err = errors.New(found[2])
		if strings.Contains(found[2], "<document start>") {
			err = errMore
		}
	}
	p.fail(line, "the frontmatter is no YAML: %s", clipLine(err.Error()))
}

// libraryError takes the line out of an error of the library, and tells its parser's.
var libraryError = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?((did not find expected (?:<|node|'|key))?.*)$`)

const reserved = "([@*`%](?:[ \\t]*[^\\s\"#,\\]}])*)"

var (
	reservedBlock = lazyregexp.New(`^(\s*(?:-\s+|[\w-]+\s*:\s+)+)` + reserved)
	reservedFlow  = lazyregexp.New(`([\[{,]\s*|:\s+)` + reserved)
)

// quoteReserved returns a line whose values that begin with a reserved
// character are quoted, and the first such character, or "".
func quoteReserved(line string) (mark, corrected string) {
	form := reservedBlock()
	if strings.ContainsAny(line, "[{") {
		form = reservedFlow()
	}
	found := form.FindStringSubmatch(line)
	if found == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
		return "", ""
	}
	return found[2][:1], strings.TrimSpace(form.ReplaceAllString(line, `$1"$2"`))
}

func normalKey(key string) string {
	return strings.ReplaceAll(strings.TrimSpace(key), "_", "-")
}
