package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// Markdown renders the table as one of GitHub's markdown; the cells are markup
// already, see plain.Literal.
func (t Table) Markdown() string {
	var out strings.Builder
	rule := make([]string, len(t.Header))
	for i := range rule {
		if rule[i] = "---"; t.right(i) {
			rule[i] = "---:"
		}
	}
	for _, row := range append([][]string{t.Header, rule}, t.Rows...) {
		cells := make([]string, len(t.Header))
		for i := range cells {
			cells[i] = cellText(row, i)
		}
		out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return out.String()
}

var linkable = lazyregexp.New(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// Link renders a link to a file beside the report; a path that is not plain is
// shown without one.
func Link(label, path string) string {
	if !linkable().MatchString(path) {
		return plain.Literal(label, maxLabel) + " at " + plain.Literal(path, maxLine)
	}
	return "[" + plain.Literal(label, maxLabel) + "](" + path + ")"
}

// How much of a text of unknown origin is shown.
const (
	maxLabel = 60
	maxLine  = 300
)

// Few joins names, and counts those that would make the line too long.
func Few(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
