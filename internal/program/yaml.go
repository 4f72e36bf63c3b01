package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/lazyregexp"
)

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

// opening is how many lines the library is given before the first of the text: it
// gives no number to an error in its first.
const opening = 1

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
	moreText  = "it has more than one document"
)

// yamlFields reads YAML that begins at that line of the file, and refuses what a
// program file has no use for: anchors, aliases, tags, keys that are no words.
func (p *Program) yamlFields(text string, line int) []field {
	fields, err := readYAML(text, line)
	if err != nil {
		p.failYAML(text, line, err)
		return nil
	}
	return fields
}

func readYAML(text string, line int) ([]field, error) {
	if at := strings.IndexAny(text,
		"\u0085\u2028\u2029"); at >= 0 { // the library ends a line there, and editors do not
		return nil, &syntaxError{
			line + strings.Count(text[:at], "\n"),
			"it has a line break that most editors do not show; remove it",
		}
	}
	library := yaml.NewDecoder(bytes.NewReader([]byte(strings.Repeat("---\n", opening) + text)))
	var document, more yaml.Node
	if err := library.Decode(&document); err != nil {
		return nil, err
	}
	read := reader{first: line - opening - 1}
	if err := library.Decode(&more); !errors.Is(err, io.EOF) {
		if err == nil {
			err = read.fail(&more, moreText)
		}
		return nil, err
	}
	v, err := read.value(document.Content[0], 0)
	if err == nil && v.kind != mapping && v.kind != null {
		err = &syntaxError{v.line, noFields}
	}
	return v.fields, err
}

// reader makes values of the library's nodes; first is the file's line before theirs.
type reader struct{ first int }

func (r reader) fail(node *yaml.Node, format string, args ...any) error {
	return &syntaxError{r.first + node.Line, fmt.Sprintf(format, args...)}
}

func (r reader) value(node *yaml.Node, depth int) (v value, err error) {
	v = value{line: r.first + node.Line, text: node.Value}
	switch {
	case depth > maxDepth:
		return v, r.fail(node, tooDeep)
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return v, r.fail(node, aliasText)
	case node.Style&yaml.TaggedStyle != 0:
		return v, r.fail(node, "tags such as `%s` are not accepted; write the value alone", clip(node.Tag))
	case node.Kind == yaml.SequenceNode:
		v.kind = list
		for _, item := range node.Content {
			read, err := r.value(item, depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, read)
		}
	case node.Kind == yaml.MappingNode:
		v.kind = mapping
		for i := 0; i+1 < len(node.Content); i += 2 {
			f, err := r.field(node.Content[i], node.Content[i+1], depth+1)
			if err != nil {
				return v, err
			}
			v.fields = append(v.fields, f)
		}
	case node.Tag != "!!null":
		v.kind = scalar
	}
	return v, nil
}

func (r reader) field(key, node *yaml.Node, depth int) (f field, err error) {
	name, err := r.value(key, depth)
	if err != nil {
		return f, err
	}
	if name.kind != scalar {
		return f, r.fail(key, "it cannot be a key; write `key: value`")
	}
	f = field{name: name.text, key: normalKey(name.text), line: name.line}
	if f.value, err = r.value(node, depth); f.kind == null {
		f.value.line = f.line // the library puts what is not there anywhere
	}
	return f, err
}

// failYAML reports why the frontmatter is no YAML: most often a value that has
// to be quoted.
func (p *Program) failYAML(text string, line int, err error) {
	if at, is := errors.AsType[*syntaxError](err); is && at.message == tooDeep {
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
	if at, is := errors.AsType[*syntaxError](err); is {
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
			err = errors.New(moreText)
		}
	}
	p.fail(line, "the frontmatter is no YAML: %s", clipLine(err.Error()))
}

// libraryError takes the line out of an error of the library, and tells its parser's.
var libraryError = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?((did not find expected (?:<|node|'|key))?.*)$`)

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

func normalKey(key string) string {
	return strings.ReplaceAll(strings.TrimSpace(key), "_", "-")
}
