package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// CheckMark begins the comment that says whether an issue is a program.
const CheckMark = markStart + "CHECK -->"

// maxCheck bounds what is quoted of a check, in runes.
const maxCheck = 20000

// Check answers who wrote a program as an issue: report is what the validator
// says, stranger why the author's programs are not run ("" when they are).
func Check(name, report, stranger string, ready bool) string {
	var b strings.Builder
	switch {
	case stranger != "":
		fmt.Fprintf(&b, "%s\n**This program does not run**: %s.\n\n", CheckMark, line(stranger))
		b.WriteString("As it stands, the validator says of its text:\n\n")
	case ready:
		fmt.Fprintf(&b, "%s\n**`%s` is ready**, and runs when it is due. It will do this:\n\n", CheckMark, code(name))
	default:
		fmt.Fprintf(&b, "%s\n**`%s` does not run yet.** Edit the issue; this comment follows.\n\n", CheckMark, code(name))
	}
	b.WriteString(fenced(report))
	b.WriteString("\n🤖 *Autoloop read the text and ran nothing of it.*\n")
	return b.String()
}

// code makes a text harmless between backticks.
func code(text string) string { return strings.ReplaceAll(line(text), "`", "'") }

// fenced puts a text behind a fence that nothing in it closes; inside of it
// neither mentions nor HTML mean anything.
func fenced(text string) string {
	text = strings.TrimRight(plain.Clip(plain.Text(text), maxCheck), "\n")
	fence := plain.Fence(text)
	return fence + "text\n" + text + "\n" + fence + "\n"
}
