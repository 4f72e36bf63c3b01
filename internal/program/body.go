package program

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// body is the markdown after the frontmatter.
type body struct {
	*Program
	text  []byte
	first int // the file's line of its first line

	document ast.Node
	// prose is text with code blocks and HTML blanked out, so that offsets
	// stay; code has their fences' lines.
	prose []byte
	code  []ast.Node
}

// read reads the body whole.
func (b *body) read() {
	b.open()
	sections := b.sections()
	b.readGoal(sections[goalSection])
	b.readTargets(sections[targetSection], sections[protectSection])
	b.readEvaluation(sections[evaluationSection])
	b.readMetric()
	b.readPlaceholders()
	b.readDirection()
}

// skim reads what choosing among programs needs, and nothing when a look at
// the bytes shows that there is nothing to find.
func (b *body) skim() {
	placeholders := !b.Unconfigured && (bytes.Contains(b.text, []byte("TODO")) || bytes.Contains(b.text, []byte("REPLACE")))
	contradicts := b.mayContradict()
	if !placeholders && !contradicts {
		return
	}
	b.open()
	b.readPlaceholders()
	b.readDirection()
}

// maxMarks bounds how deeply markdown may nest.
const maxMarks = 100

// open parses the markdown.
func (b *body) open() {
	source := b.text
	if nestsDeeply(source) {
		b.fail(b.first, "the text is nested too deeply to be read as markdown")
		source = nil
		b.text = nil
	}
	b.document = goldmark.DefaultParser().Parse(text.NewReader(source))
	b.prose = bytes.Clone(source)
	_ = ast.Walk(b.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.code = append(b.code, node)
			b.blank(node.Lines())
		case *ast.HTMLBlock:
			b.blank(node.Lines())
			if node.HasClosure() {
				b.blankSegment(node.ClosureLine)
			}
		case *ast.RawHTML:
			b.blank(node.Segments)
		}
		return ast.WalkContinue, nil
	})
}

// nestsDeeply is a rough look at block quotes and lists in one line, before a
// recursive parser sees them.
func nestsDeeply(text []byte) bool {
	marks := 0
	fresh := true
	for _, c := range text {
		switch {
		case c == '\n':
			marks, fresh = 0, true
		case !fresh:
		case c == '>' || c == '-' || c == '*' || c == '+':
			if marks++; marks > maxMarks {
				return true
			}
		case c != ' ' && c != '\t':
			fresh = false
		}
	}
	return false
}

func (b *body) blank(lines *text.Segments) {
	for i := range lines.Len() {
		b.blankSegment(lines.At(i))
	}
}

func (b *body) blankSegment(segment text.Segment) {
	for at := segment.Start; at < segment.Stop; at++ {
		if b.prose[at] != '\n' {
			b.prose[at] = ' '
		}
	}
}

// line is the file's line of an offset of the text.
func (b *body) line(at int) int { return b.first - 1 + lineAt(b.text, at) }

// span returns the content of a code span and where it begins; ok is false for
// an empty one.
func (b *body) span(node *ast.CodeSpan) (content string, at int, ok bool) {
	var out strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		part, isText := child.(*ast.Text)
		if !isText {
			continue
		}
		if !ok {
			at, ok = part.Segment.Start, true
		}
		out.Write(part.Segment.Value(b.text))
	}
	return out.String(), at, ok
}

// spans calls visit for each code span below a node, in order.
func (b *body) spans(node ast.Node, visit func(content string, at int)) {
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		span, ok := node.(*ast.CodeSpan)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if content, at, ok := b.span(span); ok {
			visit(content, at)
		}
		return ast.WalkSkipChildren, nil
	})
}

// blockText is the text of a block's lines.
func blockText(node ast.Node, source []byte) string {
	var out strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		out.Write(segment.Value(source))
	}
	return out.String()
}
