package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// Issue is the body of a file program's own issue.
func Issue(a Account) string {
	return fmt.Sprintf("%s\nThis issue belongs to the program `%s`. What it came to is in the comments; comments of "+
		"maintainers steer it.\n\n"+
		"Commands: `/autoloop run`, `/autoloop pause [reason]`, `/autoloop resume`, `/autoloop status`, `/autoloop "+
		"set target-metric X`, "+
		"`/autoloop undo N`, `/autoloop reactivate`; any other comment is told to the agent at the next iteration.\n\n%s", IssueMark, named(a.Program.File), robot)
}

// Notice tells people once that a program stopped or needs them. Event is the
// place of what happened in the ledger; people are logins.
func Notice(a Account, event int, what, reason string, people []string) string {
	var b strings.Builder
	cure := ""
	if what == "paused" {
		cure = goOn
	}
	fmt.Fprintf(&b, "%s\n**%s is %s**: %s%s%s\n", NoticeMark(event), line(a.Program.Name), what, Stopped(reason), cure,
		runLink(a.RunURL))
	names := ""
	for _, login := range people {
		if loginForm().MatchString(login) {
			names += " @" + login
		}
	}
	if names != "" {
		fmt.Fprintf(&b, "\n%s\n", names[1:])
	}
	return b.String()
}

var loginForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Reply answers a comment.
func Reply(comment int64, text string) string {
	return fmt.Sprintf("%s\n%s\n", ReplyMark(comment), text)
}

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
		fmt.Fprintf(&b, "%s\n**`%s` does not run yet.** Edit the issue; this comment follows.\n\n",
			CheckMark, code(name))
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
