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
	text   []byte
	line   int // the file's, of what is read next
	at     int // where that is
	blocks []block
}

// block is a heading, a paragraph, the text of a list item, or code, in the order of the
// text. HTML makes no block.
type block struct {
	node    ast.Node
	at, end int // in the body
	line    int // of the file
	// text is what stands there, with comments blanked out.
	text  []byte
	spans []codeSpan
	list  ast.Node // the outermost list that it is in, or nil
	depth int      // how many lists it is in
	item  bool     // a list item begins with it
}

// codeSpan is a text in backticks, and where it begins in its block.
type codeSpan struct {
	text     string
	at, line int
	// loose is a word that only looks like a path: it is not in backticks.
	loose bool
	// begins says that a list item begins with it.
	begins bool
}

func (b *body) read() {
	if nestsDeeply(b.text) {
		b.fail(b.line, "the text is nested too deeply to be read as markdown")
		b.text = nil
	}
	b.walk(markdown().Parse(text.NewReader(b.text)), nil, 0)
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

// walk reads the blocks within a node.
func (b *body) walk(within, list ast.Node, depth int) {
	for node := within.FirstChild(); node != nil; node = node.NextSibling() {
		switch node.(type) {
		case *ast.List:
			outermost := list
			if depth == 0 {
				outermost = node
			}
			b.walk(node, outermost, depth+1)
		case *ast.ListItem, *ast.Blockquote:
			b.walk(node, list, depth)
		case *ast.Heading, *ast.Paragraph, *ast.TextBlock, *ast.FencedCodeBlock, *ast.CodeBlock:
			if lines := node.Lines(); lines.Len() > 0 {
				start := lines.At(0).Start
				end := start + len(bytes.TrimRight(b.text[start:lines.At(lines.Len()-1).Stop], "\n"))
				b.line += bytes.Count(b.text[b.at:start], []byte("\n"))
				b.at = start
				_, item := within.(*ast.ListItem)
				c := block{
					node: node, at: start, end: end, line: b.line, text: bytes.Clone(b.text[start:end]), list: list,
					depth: depth, item: item && node == within.FirstChild(),
				}
				c.readSpans()
				b.blocks = append(b.blocks, c)
			}
		}
	}
}

// readSpans finds what is in backticks, and is neither in a comment nor struck out, and blanks
// comments out; what looks like the start of one in backticks is text. A list item may also
// begin with a path without backticks.
func (c *block) readSpans() {
	line, from, comment := c.line, 0, 0
	last := bytes.LastIndex(c.text, []byte("-->"))
	blankComments := func(before int) {
		for before = min(before, last); comment < before; {
			start := bytes.Index(c.text[comment:before], []byte("<!--"))
			if start < 0 {
				return
			}
			start += comment
			comment = start + bytes.Index(c.text[start:], []byte("-->")) + len("-->")
			blank(c.text[start:comment])
		}
	}
	if word := c.firstWord(); looksLikePath(word) {
		c.spans = []codeSpan{{text: word, line: c.line, loose: true}}
	}
	for node := c.node.FirstChild(); node != nil; node = node.NextSibling() {
		first, ok := node.FirstChild().(*ast.Text)
		if node.Kind() != ast.KindCodeSpan || !ok {
			continue
		}
		last, _ := node.LastChild().(*ast.Text)
		at, end := first.Segment.Start-c.at, last.Segment.Stop-c.at
		if blankComments(at); at < comment {
			continue
		}
		comment = end
		line, from = line+bytes.Count(c.text[from:at], []byte("\n")), at
		if !bytes.HasSuffix(bytes.TrimRight(c.text[:at], "` "), []byte("~~")) {
			c.spans = append(c.spans, codeSpan{text: string(c.text[at:end]), at: at, line: line})
		}
	}
	blankComments(len(c.text))
	if len(c.spans) > 0 && c.item {
		c.spans[0].begins = strings.Trim(string(c.text[:c.spans[0].at]), "`*_-+.)[]xX 0123456789✅❌🚫🔒⛔🛑") == ""
	}
}

// firstWord is the first word of a list item, without emphasis and the like.
func (c *block) firstWord() string {
	line, _, _ := strings.Cut(string(c.text), "\n")
	words := strings.Fields(boxForm().ReplaceAllString(line, ""))
	if !c.item || c.isCode() || len(words) == 0 || strings.Contains(words[0], "`") {
		return ""
	}
	word := words[0]
	if title, _, link := strings.Cut(strings.TrimPrefix(word, "["), "]("); link {
		word = title
	}
	for _, mark := range []string{"**", "__", `"`, "'"} {
		if inner, ok := strings.CutPrefix(word, mark); ok {
			word, _, _ = strings.Cut(inner, mark)
		}
	}
	return strings.TrimRight(word, ".,:;)")
}

// boxForm is the box of a list of tasks.
var boxForm = lazyregexp.New(`^\[[ xX]\] `)

// looksLikePath reports whether a word that is not in backticks is a path.
func looksLikePath(word string) bool {
	if word == "" || doubtful(word) || slices.Contains([]string{"e.g", "i.e", "and/or", "n/a", "N/A", "I/O"}, word) {
		return false
	}
	return strings.ContainsAny(strings.Trim(word, "."), "/.*")
}

func (c *block) isCode() bool {
	return c.node.Kind() == ast.KindFencedCodeBlock || c.node.Kind() == ast.KindCodeBlock
}

// lineAt is the file's line of an offset in the block.
func (c *block) lineAt(at int) int { return c.line + lineAt(c.text, at) - 1 }

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
