package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/plain"
)

// Markup is markdown of ours. There is one way from the words of somebody else to it: MD,
// which quotes them. What is formed by hand is told from that by its type.
type Markup string

// MD fills words of ours with parts. A Markup and a whole number stand as they are;
// everything else is somebody else's: it becomes one harmless line of at most 300
// characters, whose long numbers are shortened.
func MD(ours string, parts ...any) Markup {
	for i, part := range parts {
		switch part := part.(type) {
		case Markup, int, int64:
		default:
			parts[i] = Markup(strings.ReplaceAll(Said(fmt.Sprint(part)), "|", `\|`))
		}
	}
	return Markup(fmt.Sprintf(ours, parts...))
}

// Name is a name of ours that people copy or follow: of a commit, a branch or a file.
func Name(text string) Markup {
	return Markup(strings.NewReplacer("|", `\|`, "`", "'").Replace(plain.Inline(text, maxLine)))
}

// Linked is a label that leads somewhere; the label alone where there is no safe address.
func Linked(label any, address string) Markup {
	text := MD("%v", label)
	if url := state.SafeURL(address); url != "" {
		return MD("[%s](%s)", Markup(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(string(text))), Markup(url))
	}
	return text
}

// Joined puts what is not empty behind one another.
func Joined(separator Markup, parts ...Markup) Markup {
	var text Markup
	for _, part := range parts {
		if text != "" && part != "" {
			text += separator
		}
		text += part
	}
	return text
}

// List lists lines of ours; nothing for none.
func List(lines ...Markup) Markup {
	if len(lines) == 0 {
		return ""
	}
	return "- " + Joined("\n- ", lines...) + "\n\n"
}

// Grid is a table; align has a letter for each column, see Table.
func Grid(align string, header []any, rows ...[]any) Markup {
	cells := func(row []any) []string {
		return lists.Map(row, func(cell any) string { return string(MD("%v", cell)) })
	}
	return Markup(Table{Header: cells(header), Align: align, Rows: lists.Map(rows, cells)}.Markdown())
}

// Fold is a part that is shown when somebody opens it; nothing for nothing.
func Fold(title, text Markup) Markup {
	if text == "" {
		return ""
	}
	return "\n<details><summary>" + title + "</summary>\n\n" + text + "\n</details>\n"
}

// Fenced puts a text behind a fence that nothing in it closes; inside of it
// neither mentions nor HTML mean anything.
func Fenced(language, text string, most int) Markup {
	text = strings.TrimRight(plain.Clip(plain.Text(text), most), "\n")
	fence := plain.Fence(text)
	return Markup(fence + language + "\n" + text + "\n" + fence + "\n")
}

// maxBody is the longest text that GitHub takes, with room to spare.
const maxBody = 60_000

// body is a text for GitHub, cut where it would be refused for its length.
func body(parts ...Markup) string {
	text := string(Joined("", parts...))
	if len(text) <= maxBody {
		return text
	}
	return strings.ToValidUTF8(text[:maxBody], "") + "\n\n… (cut here; the state file has the rest)\n"
}

const robot Markup = "🤖 *Autoloop: an agent proposed the changes; a program measured them and decided.*\n"

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
