package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// readTargets collects the patterns of the Target section. What the
// frontmatter names as target replaces the section's; what either protects is
// protected.
func (b *body) readTargets(targets, protects []section) {
	given := len(b.Targets) > 0
	for _, s := range targets {
		border := b.border(s)
		for _, node := range s.nodes {
			b.patterns(node, func(text string, at int) {
				if at >= border {
					b.protect(text, at)
				} else if !given {
					b.target(text, at)
				}
			})
		}
	}
	for _, s := range protects {
		for _, node := range s.nodes {
			b.patterns(node, b.protect)
		}
	}
}

// border is the offset from which on the paths of a section are protected: the
// beginning of the first clause that says "Do NOT modify".
func (b *body) border(s section) int {
	prose := bytes.Clone(b.prose[s.start:s.end])
	for _, node := range s.nodes {
		b.spans(node, func(content string, at int) {
			for i := max(at, s.start); i < min(at+len(content), s.end); i++ {
				if prose[i-s.start] != '\n' {
					prose[i-s.start] = ' '
				}
			}
		})
	}
	found := protectForm.FindIndex(prose)
	if found == nil {
		return s.end
	}
	line := bytes.LastIndexByte(prose[:found[0]], '\n') + 1
	clause := 0
	for _, mark := range []string{". ", "; ", "! ", "? ", ", but "} {
		if at := bytes.LastIndex(prose[line:found[0]], []byte(mark)); at >= 0 {
			clause = max(clause, at+len(mark))
		}
	}
	return s.start + line + clause
}

// patterns calls visit for each text below a node that may be a pattern: code
// spans, and the first words of list items.
func (b *body) patterns(node ast.Node, visit func(text string, at int)) {
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.CodeSpan:
			if content, at, ok := b.span(node); ok {
				visit(content, at)
			}
			return ast.WalkSkipChildren, nil
		case *ast.ListItem:
			if word, at := b.firstWord(node); looksLikePath(word) {
				visit(word, at)
			}
		}
		return ast.WalkContinue, nil
	})
}

// firstWord is the first word of a list item, without emphasis and the like.
func (b *body) firstWord(item *ast.ListItem) (word string, at int) {
	block := item.FirstChild()
	if block == nil || block.Lines() == nil || block.Lines().Len() == 0 {
		return "", 0
	}
	switch block.(type) {
	case *ast.TextBlock, *ast.Paragraph:
	default:
		return "", 0
	}
	segment := block.Lines().At(0)
	text := string(segment.Value(b.text))
	if inner, ok := block.FirstChild().(*ast.Link); ok {
		text = string(inner.Text(b.text)) //nolint:staticcheck // the text of a link is what people see
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	words := strings.Fields(text)
	if len(words) == 0 || strings.Contains(words[0], "`") {
		return "", 0
	}
	word = words[0]
	for _, mark := range []string{"**", "__", `"`, "'"} {
		if inner, ok := strings.CutPrefix(word, mark); ok {
			word, _, _ = strings.Cut(inner, mark)
		}
	}
	return strings.TrimRight(word, ".,:;)"), segment.Start
}

// looksLikePath reports whether a word that is not in backticks is a path.
func looksLikePath(word string) bool {
	if word == "" || doubtful(word) || slices.Contains([]string{"e.g", "i.e", "and/or", "n/a", "N/A", "I/O"}, word) {
		return false
	}
	return strings.ContainsAny(strings.Trim(word, "."), "/.*")
}

func (b *body) target(text string, at int) {
	line := b.line(at)
	pattern, err := newPattern(text, line)
	if err != nil {
		b.warn(line, "not read as a target: %v", err)
		return
	}
	b.Targets = addPattern(b.Targets, pattern)
}

func (b *body) protect(text string, at int) {
	line := b.line(at)
	pattern, err := newPattern(text, line)
	if err != nil {
		b.fail(line, "cannot be protected: %v", err)
		return
	}
	b.Protected = addPattern(b.Protected, pattern)
}

func addPattern(patterns []Pattern, pattern Pattern) []Pattern {
	if pattern.Text == "" || slices.ContainsFunc(patterns, func(known Pattern) bool { return known.Text == pattern.Text }) {
		return patterns
	}
	return append(patterns, pattern)
}
