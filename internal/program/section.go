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

var commentForm = lazyregexp.New(`(?s)<!--.*?-->`)

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
