package render

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/org/autoloop/internal/plain"
)

// What one report lists at most: failures, and on a terminal rationales.
const (
	maxListed = 100
	maxSaid   = 20
)

// form is how a report is written: as markdown, or for a terminal.
type form struct {
	// text is one line of unknown origin, in which nothing is markup; link names a file.
	text func(text string, most int) string
	link func(label, path string) string
	// strong and paint lay stress on words of ours.
	strong  func(string) string
	table   func(Table) string
	heading func(title string) string
	// fold is a part that is shown when somebody opens it.
	fold func(title, text string) string
	diff func(string) string
	// fact begins a line of the beginning, item one of a list.
	fact, item string
	// said is how much of what a judge says is listed.
	said int
}

// markdown writes headings below a title that begins with so many signs.
func markdown(level string) form {
	return form{
		text: plain.Literal, link: Link, table: Table.Markdown,
		strong:  func(text string) string { return "**" + text + "**" },
		heading: func(title string) string { return "\n" + level + "# " + title + "\n\n" },
		fold: func(title, text string) string {
			return "\n<details><summary>" + title + "</summary>\n\n" + text + "\n</details>\n"
		},
		diff: fencedDiff, fact: "- ", item: "- ", said: maxListed,
	}
}

// onTerminal has no markup.
func onTerminal() form {
	heading := func(title string) string { return "\n" + title + "\n" }
	return form{
		text:   plain.Short,
		link:   func(label, path string) string { return plain.Short(label+" "+path, maxLine) },
		strong: func(text string) string { return text }, table: Table.String, heading: heading,
		fold: func(title, text string) string { return heading(title) + text },
		diff: func(diff string) string { return heading("Diff") + strings.TrimSuffix(Pictured(diff), "\n") + "\n" },
		item: "  - ", said: maxSaid,
	}
}

// onPage is markdown without HTML and links: the page need not lie where the files do.
func onPage() form {
	f := markdown("#")
	f.link = func(label, path string) string { return plain.Literal(label+" "+path, maxLine) }
	f.fold = func(title, text string) string { return f.heading(title) + text }
	return f
}

// html is markdown as HTML, which has none that the markdown has.
func html(markdown string) string {
	var out strings.Builder
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	_ = goldmark.New(goldmark.WithExtensions(table)).Convert([]byte(markdown), &out)
	return out.String()
}

// section is a list under a heading; nothing when it is empty.
func (f form) section(title string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return f.heading(title) + f.list(list)
}

func (f form) list(list []string) string { return f.item + strings.Join(list, "\n"+f.item) + "\n" }

// atMost counts what it leaves out of a list.
func atMost(list []string, most int) []string {
	if more := len(list) - most; more > 0 {
		return append(list[:most:most], fmt.Sprintf("and %d more", more))
	}
	return list
}
