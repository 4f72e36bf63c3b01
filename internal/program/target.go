package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// maxPatterns bounds the targets and the protected paths of a program.
const maxPatterns = 1000

// readTargets collects the patterns of the Target section. What the
// frontmatter names as target replaces the section's; what either protects is
// protected.
func (b *body) readTargets(targets, protects []section) {
	given := len(b.Targets) > 0
	for _, s := range targets {
		border := b.border(s)
		for _, found := range b.candidates(s) {
			if found.at >= border {
				b.protect(found)
			} else if !given {
				b.target(found)
			}
		}
	}
	for _, s := range protects {
		for _, found := range b.candidates(s) {
			b.protect(found)
		}
	}
	if len(b.Targets) > maxPatterns || len(b.Protected) > maxPatterns {
		b.fail(0, "there are more than %d targets or protected paths; name directories or globs", maxPatterns)
	}
}

// border is the offset from which on the paths of a section are protected: the
// beginning of the first clause that says "Do NOT modify".
func (b *body) border(s section) int {
	prose := bytes.Clone(b.prose[s.start:s.end])
	for _, span := range b.spansWithin(s.start, s.end) {
		at := span.at - s.start
		blank(prose[at:min(at+len(span.text), len(prose))])
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

// candidates are the texts of a section that may be patterns, in order: code
// spans, and first words of list items that look like paths.
func (b *body) candidates(s section) []codeSpan {
	found := slices.Clone(b.spansWithin(s.start, s.end))
	for _, node := range s.nodes {
		_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			if item, ok := node.(*ast.ListItem); ok && entering {
				if word, at := b.firstWord(item); looksLikePath(word) {
					found = append(found, codeSpan{word, at})
				}
			}
			return ast.WalkContinue, nil
		})
	}
	slices.SortStableFunc(found, func(a, b codeSpan) int { return a.at - b.at })
	return found
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
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	words := strings.Fields(text)
	if len(words) == 0 || strings.Contains(words[0], "`") {
		return "", 0
	}
	word = words[0]
	if title, _, link := strings.Cut(strings.TrimPrefix(word, "["), "]("); link {
		word = title
	}
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

func (b *body) target(found codeSpan) {
	line := b.line(found.at)
	pattern, err := newPattern(found.text, line)
	if err != nil {
		b.warn(line, "not read as a target: %v", err)
		return
	}
	b.Targets = addPattern(b.Targets, pattern)
}

func (b *body) protect(found codeSpan) {
	line := b.line(found.at)
	pattern, err := newPattern(found.text, line)
	if err != nil {
		b.fail(line, "cannot be protected: %v", err)
		return
	}
	b.Protected = addPattern(b.Protected, pattern)
}

func addPattern(patterns []Pattern, pattern Pattern) []Pattern {
	same := func(known Pattern) bool { return known.Text == pattern.Text }
	if pattern.Text == "" || len(patterns) > maxPatterns || slices.ContainsFunc(patterns, same) {
		return patterns
	}
	return append(patterns, pattern)
}
