package render

import (
	"github.com/org/autoloop/internal/lazyregexp"
)

// Issue is the body of a file program's own issue.
func Issue(a Account) string {
	return body(MD("%s\nThis issue belongs to the program `%s`. What it came to is in the comments; comments of "+
		"maintainers steer it.\n\nCommands: `/autoloop run`, `/autoloop pause [reason]`, `/autoloop resume`, "+
		"`/autoloop status`, `/autoloop set target-metric X`, `/autoloop undo N`, `/autoloop reactivate`; any other "+
		"comment is told to the agent at the next iteration.\n\n%s", Markup(IssueMark), Name(a.Program.File), robot))
}

// Notice tells people once that a program stopped or needs them. Event is the
// place of what happened in the ledger; people are logins.
func Notice(a Account, event int, what, reason string, people []string) string {
	text := MD("%s\n**%s is %s**: %s", Markup(NoticeMark(event)), a.Program.Name, what, Stopped(reason))
	if what == "paused" {
		text += goOn
	}
	names := Markup("")
	for _, login := range people {
		if loginForm().MatchString(login) {
			names = Joined(" ", names, Markup("@"+login))
		}
	}
	if names != "" {
		names = "\n" + names + "\n"
	}
	return body(text, links(a.RunURL, ""), "\n", names)
}

var loginForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Reply answers a comment; the text is Markup already.
func Reply(comment int64, text string) string { return ReplyMark(comment) + "\n" + text + "\n" }

// CheckMark begins the comment that says whether an issue is a program.
const CheckMark = markStart + "CHECK -->"

// maxCheck bounds what is quoted of a check, in runes.
const maxCheck = 20000

// Check answers who wrote a program as an issue: report is what the validator
// says, stranger why the author's programs are not run ("" when they are).
func Check(name, report, stranger string, ready bool) string {
	text := MD("**`%s` does not run yet.** Edit the issue; this comment follows.", Name(name))
	switch {
	case stranger != "":
		text = MD("**This program does not run**: %s.\n\nAs it stands, the validator says of its text:", stranger)
	case ready:
		text = MD("**`%s` is ready**, and runs when it is due. It will do this:", Name(name))
	}
	return body(CheckMark, "\n", text, "\n\n", Fenced("text", report, maxCheck),
		"\n🤖 *Autoloop read the text and ran nothing of it.*\n")
}
