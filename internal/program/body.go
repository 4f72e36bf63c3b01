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

// markdown reads blocks, code spans and comments. Links, emphasis and other inline HTML mean
// nothing here, and a hostile text of them takes quadratic time.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(comments{parser.NewRawHTMLParser()}, 200)),
	)
})

const commentStart = "<!--"

// comments reads those within a paragraph. Of one that does not end there it takes the beginning.
type comments struct{ parser.InlineParser }

// Parse reads a comment, nil for other HTML.
func (c comments) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, at := block.PeekLine()
	if !bytes.HasPrefix(line, []byte(commentStart)) {
		return nil
	}
	if whole := c.InlineParser.Parse(parent, block, pc); whole != nil {
		return whole
	}
	begun := ast.NewRawHTML()
	begun.Segments.Append(at.WithStop(at.Start + len(commentStart)))
	block.Advance(len(commentStart))
	return begun
}

type body struct {
	*Program
	text   []byte
	shown  []byte // text with comments blanked out
	line   int    // the file's, of what is read next
	at     int    // where that is
	blocks []block
	// unclear says that a comment is.
	unclear bool
}

// block is a heading, a paragraph, the text of a list item, or code, in the order of the
// text. HTML makes no block.
type block struct {
	node    ast.Node
	at, end int // in the body
	line    int // of the file
	// text is what is shown there.
	text  []byte
	spans []codeSpan
	items []ast.Node // the list items that it is in, from the outermost
	first bool       // the innermost of them begins with it
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
	b.shown = bytes.Clone(b.text)
	b.walk(markdown().Parse(text.NewReader(b.text)), nil)
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

// lineOf is the file's line of an offset, which is not before the last one that was asked for.
func (b *body) lineOf(at int) int {
	b.line += bytes.Count(b.text[b.at:at], []byte("\n"))
	b.at = at
	return b.line
}

// checkHTML reports the first comment that readers may understand in two ways: it does not end in
// the block in which it begins, or has a text behind it on a line that it begins.
func (b *body) checkHTML(start, end int, comment bool) {
	rest := commentForm().ReplaceAll(b.text[start:end], nil)
	if !b.unclear && (bytes.Contains(rest, []byte(commentStart)) || comment && len(bytes.TrimSpace(rest)) > 0) {
		b.unclear = true
		b.fail(b.lineOf(start+bytes.LastIndex(b.text[start:end], []byte(commentStart))), "this comment does not end in "+
			"the paragraph in which it begins, or has a text behind it, so that some readers see what it hides; begin and "+
			"end it on lines of its own")
	}
}

// walk reads the blocks within a node.
func (b *body) walk(within ast.Node, items []ast.Node) {
	for node := within.FirstChild(); node != nil; node = node.NextSibling() {
		switch html := node.(type) {
		case *ast.HTMLBlock:
			end := html.Lines().At(html.Lines().Len() - 1).Stop
			b.checkHTML(html.Lines().At(0).Start, max(end, html.ClosureLine.Stop), html.HTMLBlockType == ast.HTMLBlockType2)
		case *ast.ListItem:
			b.walk(node, append(slices.Clip(items), node))
		case *ast.List, *ast.Blockquote:
			b.walk(node, items)
		case *ast.Heading, *ast.Paragraph, *ast.TextBlock, *ast.FencedCodeBlock, *ast.CodeBlock:
			if lines := node.Lines(); lines.Len() > 0 {
				start := lines.At(0).Start
				end := start + len(bytes.TrimRight(b.text[start:lines.At(lines.Len()-1).Stop], "\n"))
				line := b.lineOf(start)
				for inner := node.FirstChild(); inner != nil; inner = inner.NextSibling() {
					if comment, is := inner.(*ast.RawHTML); is {
						parts := comment.Segments
						from, to := parts.At(0).Start, parts.At(parts.Len()-1).Stop
						b.checkHTML(from, to, true)
						blank(b.shown[from:to])
					}
				}
				_, first := within.(*ast.ListItem)
				c := block{
					node: node, at: start, end: end, line: line, text: b.shown[start:end], items: items,
					first: first && node == within.FirstChild(),
				}
				c.readSpans()
				b.blocks = append(b.blocks, c)
			}
		}
	}
}

// readSpans finds what is in backticks and not struck out. A list item may also begin with a
// path without backticks.
func (c *block) readSpans() {
	line, from := c.line, 0
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
		line, from = line+bytes.Count(c.text[from:at], []byte("\n")), at
		if !bytes.HasSuffix(bytes.TrimRight(c.text[:at], "` "), []byte("~~")) {
			c.spans = append(c.spans, codeSpan{text: string(c.text[at:end]), at: at, line: line})
		}
	}
	if len(c.spans) > 0 && c.first {
		c.spans[0].begins = strings.Trim(string(c.text[:c.spans[0].at]), "`*_-+.)[]xX 0123456789✅❌🚫🔒⛔🛑") == ""
	}
}

// firstWord is the first word of a list item, without emphasis and the like.
func (c *block) firstWord() string {
	line, _, _ := strings.Cut(string(c.text), "\n")
	words := strings.Fields(boxForm().ReplaceAllString(line, ""))
	if !c.first || c.isCode() || len(words) == 0 || strings.Contains(words[0], "`") {
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

// sectionKind is what a heading announces.
type sectionKind string

const (
	noSection         sectionKind = ""
	goalSection       sectionKind = "Goal"
	targetSection     sectionKind = "Target"
	evaluationSection sectionKind = "Evaluation"
	// protectSection is one whose own heading says that files may not change.
	protectSection sectionKind = "Do NOT modify"
)

// section is what is below a heading, up to the next heading that is not deeper or that
// announces another section.
type section struct {
	kind    sectionKind
	words   int // of the title, beyond the one that counts
	level   int
	heading block
	end     int // in the body
	blocks  []block
}

// sections finds the sections by their headings. Of several of one kind those
// with the fewest other words in their titles count; which others are not read is said.
func (b *body) sections() map[sectionKind][]section {
	var all []section
	var open *section
	for _, c := range b.blocks {
		if heading, is := c.node.(*ast.Heading); is && heading.Parent().Kind() == ast.KindDocument {
			kind, words := sectionOf(string(c.text))
			inner := open != nil && heading.Level > open.level &&
				(kind == noSection || kind == protectSection && open.kind == targetSection)
			if open != nil && !inner {
				open.end = bytes.LastIndexByte(b.text[:c.at], '\n') + 1
				open = nil
			}
			if !inner && kind != noSection {
				all = append(all, section{kind: kind, words: words, level: heading.Level, heading: c, end: len(b.text)})
				open = &all[len(all)-1]
			}
			if !inner {
				continue
			}
		}
		if open != nil {
			open.blocks = append(open.blocks, c)
		}
	}
	least := map[sectionKind]int{}
	for _, s := range all {
		if words, found := least[s.kind]; !found || s.words < words {
			least[s.kind] = s.words
		}
	}
	kept := map[sectionKind][]section{}
	for i, s := range all {
		switch {
		case s.kind == protectSection || s.words == least[s.kind]:
			kept[s.kind] = append(kept[s.kind], s)
		case i > 0 && i < maxPatterns: // the first is most often the document's own title
			b.warn(s.heading.line, "section %q is not read: another comes closer to `## %s`",
				clip(strings.TrimSpace(string(s.heading.text))), s.kind)
		}
	}
	return kept
}

var wordForm = lazyregexp.New(`[\pL\pN]+`)

var sectionWords = map[string]sectionKind{
	"goal": goalSection, "goals": goalSection, "target": targetSection, "targets": targetSection,
	"evaluation": evaluationSection, "evaluations": evaluationSection, "evaluate": evaluationSection,
}

// aboutNumber is a title with the word target that is about the value to reach, as in
// "Target metric".
var aboutNumber = lazyregexp.New(`(?i)\b(?:metric|value|score|number)\b`)

// sectionOf reads a heading: "Target", "2. Permitted targets", "Target files".
// The first word that counts decides.
func sectionOf(title string) (kind sectionKind, others int) {
	if forbids(title) {
		return protectSection, 0
	}
	before := ""
	for _, word := range wordForm().FindAllString(strings.ToLower(title), -1) {
		if strings.Trim(word, "0123456789") != "" {
			others++
		}
		if kind == noSection && before != "non" {
			kind = sectionWords[word]
		}
		before = word
	}
	if kind == targetSection && aboutNumber().MatchString(title) {
		return noSection, 0
	}
	return kind, others - 1
}

// underline is the line below a heading that makes it one, or the heading's own end.
var underline = lazyregexp.New(`^[^\n]*(?:\n|$)(?:[ \t]*(?:=+|-+)[ \t]*(?:\n|$))?`)

// commentForm is a comment to its end as browsers know it.
var commentForm = lazyregexp.New(`(?s)<!--(?:-?>|.*?--!?>)`)

// readGoal takes the Goal section, or else the body.
func (b *body) readGoal(sections []section) {
	goal := string(b.text)
	for i, s := range sections {
		if i == 0 {
			goal = ""
		}
		below := string(b.text[s.heading.end:s.end])
		goal += "\n" + below[len(underline().FindString(below)):]
	}
	b.Goal = strings.TrimSpace(commentForm().ReplaceAllString(goal, ""))
}
