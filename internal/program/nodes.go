package program

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
)

func children(node ast.Node) []ast.Node {
	var list []ast.Node
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		list = append(list, child)
	}
	return list
}

// extent is where the lines of a block, and of those within it, begin and end.
func extent(node ast.Node) (start, end int) {
	start = -1
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || node.Type() == ast.TypeInline || node.Lines() == nil {
			return ast.WalkContinue, nil
		}
		if lines := node.Lines(); lines.Len() > 0 {
			if at := lines.At(0).Start; start < 0 || at < start {
				start = at
			}
			end = max(end, lines.At(lines.Len()-1).Stop)
		}
		return ast.WalkContinue, nil
	})
	return max(start, 0), max(end, start, 0)
}

func offset(node ast.Node) int {
	start, _ := extent(node)
	return start
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
	words := strings.Fields(boxForm().ReplaceAllString(string(segment.Value(b.text)), ""))
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

// boxForm is the box of a list of tasks.
var boxForm = lazyregexp.New(`^\[[ xX]\] `)

// looksLikePath reports whether a word that is not in backticks is a path.
func looksLikePath(word string) bool {
	if word == "" || doubtful(word) || slices.Contains([]string{"e.g", "i.e", "and/or", "n/a", "N/A", "I/O"}, word) {
		return false
	}
	return strings.ContainsAny(strings.Trim(word, "."), "/.*")
}
