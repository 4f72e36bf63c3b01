package render

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Plain makes text of unknown origin fit for one line of a terminal: control
// and direction characters are replaced, spaces are joined, and at most width
// characters are left.
func Plain(text string, width int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\ufffd'
		}
		return r
	}, text)
	return Clip(strings.Join(strings.Fields(text), " "), width)
}

// Inline is Plain for markdown: nothing in the text is markup, HTML, a mention,
// a reference to an issue or a link.
func Inline(text string, width int) string {
	return defuse().Replace(Plain(text, width))
}

func defuse() *strings.Replacer {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "]", `\]`,
		"&", "&amp;", "<", "&lt;", ">", "&gt;",
		"@", "@\u200b", "#", "#\u200b", "://", ":\u200b//", "www.", "www\u200b.",
	)
}

// Markdown renders the table as one of GitHub's markdown; the cells are markup
// already, see Inline.
func (t Table) Markdown() string {
	var out strings.Builder
	rule := make([]string, len(t.Header))
	for i := range rule {
		if rule[i] = "---"; t.Right[i] {
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

var linkable = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// Link renders a link to a file beside the report; a path that is not plain is
// shown without one.
func Link(label, path string) string {
	if !linkable.MatchString(path) {
		return Inline(label, maxLabel) + " at " + Inline(path, maxLine)
	}
	return "[" + Inline(label, maxLabel) + "](" + path + ")"
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
