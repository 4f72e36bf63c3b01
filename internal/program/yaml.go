package program

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// value is one YAML value, with the line of the file where it stands.
type value struct {
	kind   valueKind
	text   string // of a scalar, without quotes; why, of a value that is refused
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
	refused
)

const (
	maxDepth    = 8
	maxBrackets = 500
)

// yamlFields reads YAML that begins at that line of the file.
func (p *Program) yamlFields(text []byte, line int) []field {
	c := converter{offset: line - 1, last: line + bytes.Count(text, []byte("\n"))}
	if tooDeep(text) {
		p.fail(line, "the frontmatter is nested too deeply")
		return nil
	}
	file, err := parseYAML(text)
	if err != nil {
		p.failYAML(text, line, err, c)
		return nil
	}
	fields, err := c.document(file)
	if err != nil {
		p.failYAML(text, line, err, c)
	}
	return fields
}

// parseYAML shields us from a parser that meets what it was not made for.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it cannot be understood")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// tooDeep is a rough look at nesting, before a recursive parser sees it.
func tooDeep(text []byte) bool {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return true
	}
	for line := range bytes.Lines(text) {
		marks := 0
		for _, c := range line {
			if c == '-' || c == '?' {
				marks++
			} else if c != ' ' {
				break
			}
			if marks > 4*maxDepth {
				return true
			}
		}
	}
	return false
}

// failYAML reports why the frontmatter is no YAML: most often a value that has
// to be quoted.
func (p *Program) failYAML(text []byte, line int, err error, c converter) {
	number := line - 1
	for source := range strings.Lines(string(text)) {
		number++
		if mark, corrected := quoteReserved(strings.TrimRight(source, "\n")); corrected != "" {
			p.fail(number, "a value that begins with `%s` must be quoted: `%s`", mark, clipLine(corrected))
			return
		}
	}
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		p.fail(c.line(syntax.GetToken()), "the frontmatter is no YAML: %s", clipLine(syntax.GetMessage()))
		return
	}
	p.fail(line, "the frontmatter is no YAML: %s", clipLine(err.Error()))
}

var (
	reservedBlock = regexp.MustCompile("^(\\s*(?:-\\s+)*(?:[\\w-]+\\s*:\\s+)?)([@*`%][^\"]*?)(\\s+#.*)?\\s*$")
	reservedFlow  = regexp.MustCompile("([\\[,]\\s*|[:]\\s+)([@*`%][^\",\\]\\}]*)")
)

// quoteReserved returns a line whose values that begin with a reserved
// character are quoted, and the first such character; "" when there is none.
func quoteReserved(line string) (mark, corrected string) {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return "", ""
	}
	if found := reservedBlock.FindStringSubmatch(line); found != nil && strings.TrimSpace(found[1]) != "" {
		return found[2][:1], strings.TrimSpace(found[1] + `"` + strings.TrimSpace(found[2]) + `"` + found[3])
	}
	if found := reservedFlow.FindStringSubmatch(line); found != nil && strings.ContainsAny(line, "[{") {
		return found[2][:1], strings.TrimSpace(reservedFlow.ReplaceAllStringFunc(line, func(part string) string {
			pieces := reservedFlow.FindStringSubmatch(part)
			return pieces[1] + `"` + strings.TrimSpace(pieces[2]) + `"`
		}))
	}
	return "", ""
}

// converter turns YAML nodes into values with lines of the file.
type converter struct{ offset, last int }

func (c converter) line(t *token.Token) int {
	if t == nil || t.Position == nil {
		return c.offset + 1
	}
	return max(c.offset+1, min(c.offset+t.Position.Line, c.last))
}

func (c converter) document(file *ast.File) (fields []field, err error) {
	defer func() {
		if recover() != nil {
			fields, err = nil, errors.New("it cannot be understood")
		}
	}()
	var pairs []*ast.MappingValueNode
	for number, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case *ast.MappingNode:
			pairs = body.Values
		case *ast.MappingValueNode:
			pairs = []*ast.MappingValueNode{body}
		case nil, *ast.NullNode, *ast.CommentGroupNode:
			continue
		default:
			return nil, errors.New("it is no list of `key: value` lines")
		}
		if number > 0 {
			return nil, errors.New("it has more than one document")
		}
	}
	fields = c.pairs(pairs, 0)
	for _, f := range fields {
		if f.aliased() {
			return nil, errors.New(aliasText)
		}
	}
	return fields, nil
}

func (v value) aliased() bool {
	if v.kind == refused && v.text == aliasText {
		return true
	}
	for _, item := range v.items {
		if item.aliased() {
			return true
		}
	}
	for _, f := range v.fields {
		if f.aliased() {
			return true
		}
	}
	return false
}

const aliasText = "anchors and aliases are not accepted; write the value out"

func (c converter) pairs(pairs []*ast.MappingValueNode, depth int) []field {
	fields := make([]field, 0, len(pairs))
	for _, pair := range pairs {
		name := pair.Key.GetToken()
		f := field{name: name.Value, key: normalKey(name.Value), line: c.line(name), value: c.value(pair.Value, depth)}
		fields = append(fields, f)
	}
	return fields
}

func (c converter) value(node ast.Node, depth int) value {
	v := value{line: c.line(node.GetToken())}
	refuse := func(why string) value {
		v.kind, v.text = refused, why
		return v
	}
	if depth > maxDepth {
		return refuse("the value is nested too deeply")
	}
	switch node := node.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		v.kind, v.text = scalar, node.Value
	case *ast.LiteralNode:
		v.kind, v.text = scalar, node.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		v.kind, v.text = scalar, strings.TrimSpace(node.GetToken().Value)
	case *ast.SequenceNode:
		v.kind = list
		for _, item := range node.Values {
			v.items = append(v.items, c.value(item, depth+1))
		}
	case *ast.MappingNode:
		v.kind, v.fields = mapping, c.pairs(node.Values, depth+1)
	case *ast.MappingValueNode:
		v.kind, v.fields = mapping, c.pairs([]*ast.MappingValueNode{node}, depth+1)
	case *ast.AnchorNode, *ast.AliasNode:
		return refuse(aliasText)
	default:
		return refuse(fmt.Sprintf("tags such as `%s` are not accepted; write the value alone", clip(node.GetToken().Value)))
	}
	return v
}

func normalKey(key string) string {
	key = strings.TrimSpace(key)
	if strings.IndexByte(key, '_') < 0 {
		return key
	}
	return strings.ReplaceAll(key, "_", "-")
}
