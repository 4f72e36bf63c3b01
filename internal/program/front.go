package program

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/adrg/frontmatter"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// front is the text between the two lines of `---`, and the file's line that
// it begins at.
type front struct {
	text []byte
	line int
}

// split separates frontmatter and body. Blank lines and HTML comments before
// the frontmatter are skipped.
func (p *Program) split(data []byte) (head front, body []byte, bodyLine int) {
	at := skipComments(data)
	rest := data[at:]
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	if strings.TrimRight(string(first), " \t") != "---" {
		if text := string(bytes.TrimSpace(first)); text == "+++" || text == ";;;" {
			p.warn(line, "only YAML frontmatter between lines of `---` is read; this looks like another format")
		}
		return front{}, data, 1
	}
	if !terminated(rest) {
		p.fail(line, "the frontmatter begins here with `---` and does not end; add a line `---` after the last key")
		return front{}, nil, line
	}
	var text []byte
	format := frontmatter.NewFormat("---", "---", func(found []byte, _ any) error {
		text = append([]byte{}, found...)
		return nil
	})
	body, err := frontmatter.Parse(bytes.NewReader(rest), &struct{}{}, format)
	if err != nil {
		p.fail(line, "the frontmatter cannot be read: %v", err)
		return front{}, nil, line
	}
	if text == nil {
		text = []byte{}
	}
	bodyLine = 1 + bytes.Count(data, []byte("\n")) - bytes.Count(body, []byte("\n"))
	return front{text, line + 1}, body, bodyLine
}

func skipComments(data []byte) int {
	at := 0
	for {
		at += len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t\n"))
		if !bytes.HasPrefix(data[at:], []byte("<!--")) {
			return lineStart(data, at)
		}
		end := bytes.Index(data[at:], []byte("-->"))
		if end < 0 {
			return 0
		}
		at += end + len("-->")
	}
}

func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

func terminated(rest []byte) bool {
	number := 0
	for line := range bytes.Lines(rest) {
		if number++; number > 1 && string(bytes.TrimRight(line, " \t\n")) == "---" {
			return true
		}
	}
	return false
}

var reserved = regexp.MustCompile("^(\\s*(?:-\\s+)?(?:[\\w-]+\\s*:\\s+)?)([@*`%].*?)\\s*$")

func (p *Program) readFront(f front) {
	number := f.line - 1
	for line := range bytes.Lines(f.text) {
		number++
		found := reserved.FindSubmatch(bytes.TrimRight(line, "\n"))
		if found != nil && len(bytes.TrimSpace(found[1])) > 0 {
			p.fail(number, "a value that begins with %q must be quoted: `%s\"%s\"`", found[2][:1], found[1], found[2])
			return
		}
	}
	file, err := parser.ParseBytes(f.text, 0)
	if err != nil {
		p.failYAML(f, err)
		return
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return
	}
	var pairs []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		pairs = body.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{body}
	case *ast.NullNode, *ast.CommentGroupNode:
		return
	default:
		p.fail(f.line, "the frontmatter is no list of `key: value` lines")
		return
	}
	reader := &reader{Program: p, offset: f.line - 1, seen: map[string]string{}}
	reader.read(pairs)
}

func (p *Program) failYAML(f front, err error) {
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		line := f.line
		if token := syntax.GetToken(); token != nil && token.Position != nil {
			line = f.line - 1 + token.Position.Line
		}
		p.fail(line, "%s", firstLine(syntax.GetMessage()))
		return
	}
	p.fail(f.line, "the frontmatter is no YAML: %s", firstLine(err.Error()))
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
