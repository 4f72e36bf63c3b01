package program

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/org/autoloop/internal/lazyregexp"
)

// markdown reads blocks and code spans. Links, emphasis and inline HTML mean
// nothing here, and a hostile text of them takes quadratic time.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100)),
	)
})

type body struct {
	*Program
	text  []byte
	first int // the file's line of its first line

	document ast.Node
	// prose is text with code blocks, HTML blocks and comments blanked out, so
	// that offsets stay.
	prose []byte
	code  []ast.Node // the code blocks
	spans []codeSpan // outside of comments, in order
	lines []int      // where each line begins
}

// codeSpan is a text in backticks, and where its content begins.
type codeSpan struct {
	text string
	at   int
	// loose is a word that only looks like a path: it is not in backticks.
	loose bool
	// begins says that a list item begins with it.
	begins bool
}

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

// maxMarks bounds the length of the marks that a line of markdown begins with.
const maxMarks = 200

func (b *body) open() {
	if nestsDeeply(b.text) {
		b.fail(b.first, "the text is nested too deeply to be read as markdown")
		b.text = nil
	}
	b.lines = append(b.lines, 0)
	for at, c := range b.text {
		if c == '\n' {
			b.lines = append(b.lines, at+1)
		}
	}
	b.document = markdown().Parse(text.NewReader(b.text))
	b.prose = bytes.Clone(b.text)
	_ = ast.Walk(b.document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.code = append(b.code, node)
			b.blankLines(node.Lines())
		case *ast.HTMLBlock:
			b.blankLines(node.Lines())
			if node.HasClosure() {
				b.blank(node.ClosureLine.Start, node.ClosureLine.Stop)
			}
		case *ast.CodeSpan:
			if span, ok := b.span(node); ok {
				b.spans = append(b.spans, span)
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	b.blankComments()
}

// blankComments blanks inline comments out, and drops the spans in them. What
// looks like the start of one within a span is text.
func (b *body) blankComments() {
	inSpan := func(at int) bool {
		i, found := slices.BinarySearchFunc(b.spans, at, func(s codeSpan, at int) int { return s.at - at })
		return found || i > 0 && at < b.spans[i-1].at+len(b.spans[i-1].text)
	}
	for at := 0; ; {
		start := bytes.Index(b.prose[at:], []byte("<!--"))
		if start < 0 {
			break
		}
		start += at
		if inSpan(start) {
			at = start + 1
			continue
		}
		length := bytes.Index(b.prose[start:], []byte("-->"))
		if length < 0 {
			break
		}
		at = start + length + len("-->")
		b.blank(start, at)
	}
	b.spans = slices.DeleteFunc(b.spans, func(s codeSpan) bool { return b.prose[s.at] != b.text[s.at] })
}

var marksForm = lazyregexp.New(`^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))+`)

// nestsDeeply is a rough look at block quotes and lists in one line, before a
// recursive parser sees them.
func nestsDeeply(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > maxMarks && len(marksForm().Find(line)) > maxMarks {
			return true
		}
	}
	return false
}

func (b *body) blankLines(lines *text.Segments) {
	for i := range lines.Len() {
		b.blank(lines.At(i).Start, lines.At(i).Stop)
	}
}

func (b *body) blank(start, end int) { blank(b.prose[start:end]) }

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// line is the file's line of an offset of the text.
func (b *body) line(at int) int {
	i, found := slices.BinarySearch(b.lines, at)
	if found {
		i++
	}
	return b.first - 1 + i
}

// span returns the content of a code span; ok is false for an empty one.
func (b *body) span(node *ast.CodeSpan) (span codeSpan, ok bool) {
	var out strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		part, isText := child.(*ast.Text)
		if !isText {
			continue
		}
		if !ok {
			span.at, ok = part.Segment.Start, true
		}
		out.Write(part.Segment.Value(b.text))
	}
	span.text = out.String()
	return span, ok && span.text != ""
}

// spansWithin are the spans from one offset up to another.
func (b *body) spansWithin(start, end int) []codeSpan {
	order := func(s codeSpan, at int) int { return s.at - at }
	from, _ := slices.BinarySearchFunc(b.spans, start, order)
	to, _ := slices.BinarySearchFunc(b.spans, end, order)
	return b.spans[from:max(from, to)]
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
