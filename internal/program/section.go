package program

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
)

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

// section is one heading and what is below it, up to the next heading that is
// not deeper or that announces another section.
type section struct {
	kind       sectionKind
	title      string
	level      int
	line       int
	words      int // words of the title beyond the one that counts
	start, end int // offsets of the content
	nodes      []ast.Node
}

// sections finds the sections by their headings. Of several of one kind those
// with the fewest other words in their titles count.
func (b *body) sections() map[sectionKind][]section {
	var all []section
	open := -1
	for node := b.document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		if !ok || heading.Lines().Len() == 0 {
			if open >= 0 {
				all[open].nodes = append(all[open].nodes, node)
			}
			continue
		}
		next := b.section(heading)
		if open >= 0 && next.level > all[open].level &&
			(next.kind == noSection || next.kind == protectSection && all[open].kind == targetSection) {
			all[open].nodes = append(all[open].nodes, node)
			continue
		}
		if open >= 0 {
			all[open].end = b.headingStart(heading)
		}
		if open = -1; next.kind != noSection {
			all = append(all, next)
			open = len(all) - 1
		}
	}
	return b.closest(all)
}

func (b *body) section(heading *ast.Heading) section {
	s := section{level: heading.Level, start: b.headingEnd(heading), end: len(b.text)}
	s.title = strings.TrimSpace(blockText(heading, b.text))
	s.line = b.line(b.headingStart(heading))
	s.kind, s.words = sectionOf(s.title)
	return s
}

// closest keeps, of each kind, the sections whose titles come closest, and
// says which others are not read.
func (b *body) closest(all []section) map[sectionKind][]section {
	kept := map[sectionKind][]section{}
	least := map[sectionKind]int{}
	for _, s := range all {
		if words, found := least[s.kind]; !found || s.words < words {
			least[s.kind] = s.words
		}
	}
	for i, s := range all {
		switch {
		case s.kind == protectSection || s.words == least[s.kind]:
			kept[s.kind] = append(kept[s.kind], s)
		case i > 0 && i < maxPatterns: // the first is most often the document's own title
			b.warn(s.line, "section %q is not read: another comes closer to `## %s`", clip(s.title), s.kind)
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
	words := wordForm().FindAllString(strings.ToLower(title), -1)
	if forbids(title) {
		return protectSection, 0
	}
	for i, word := range words {
		if strings.Trim(word, "0123456789") != "" {
			others++
		}
		if kind == noSection && (i == 0 || words[i-1] != "non") {
			kind = sectionWords[word]
		}
	}
	if kind == targetSection && aboutNumber().MatchString(title) {
		return noSection, 0
	}
	return kind, others - 1
}

// headingStart is the offset of the first of a heading's lines, its marks
// included.
func (b *body) headingStart(heading *ast.Heading) int {
	return bytes.LastIndexByte(b.text[:heading.Lines().At(0).Start], '\n') + 1
}

// headingEnd is the offset after a heading, with the line below that one
// underlines it with.
func (b *body) headingEnd(heading *ast.Heading) int {
	lines := heading.Lines()
	end := nextLine(b.text, lines.At(lines.Len()-1).Stop)
	first := bytes.TrimLeft(b.text[b.headingStart(heading):], " ")
	if !bytes.HasPrefix(first, []byte("#")) || lines.Len() > 1 {
		end += len(underline().Find(b.text[end:]))
	}
	return end
}

var underline = lazyregexp.New(`^[ \t]*(?:=+|-+)[ \t]*(?:\n|$)`)

// nextLine is the offset after the line that ends at or after an offset.
func nextLine(text []byte, at int) int {
	if at > 0 && text[at-1] == '\n' {
		return at
	}
	if length := bytes.IndexByte(text[at:], '\n'); length >= 0 {
		return at + length + 1
	}
	return len(text)
}
