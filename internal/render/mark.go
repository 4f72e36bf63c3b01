package render

import (
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// Every text of Autoloop begins with a mark that is not shown, by which it is found
// again: a step that is repeated edits what is there.
const (
	markStart = "<!-- AUTOLOOP:"
	// StatusMark begins the comment with the status.
	StatusMark = markStart + "STATUS -->"
	// IssueMark begins the body of a file program's own issue.
	IssueMark = markStart + "ISSUE -->"
)

// IterationMark begins the comment on an iteration.
func IterationMark(iteration int) string {
	return fmt.Sprintf("%sITERATION %d -->", markStart, iteration)
}

// ReplyMark begins the answer to a comment.
func ReplyMark(comment int64) string { return fmt.Sprintf("%sREPLY %d -->", markStart, comment) }

// NoticeMark begins the comment that tells people once of an event of the
// ledger, named by its place there.
func NoticeMark(event int) string { return fmt.Sprintf("%sNOTICE %d -->", markStart, event) }

// NoticeIn is the notice at the end of a comment on an iteration, with the line
// break before it, or "". What others said cannot look like one:
// its angle brackets are written otherwise.
func NoticeIn(body string) string {
	if at := strings.Index(body, "\n"+markStart+"NOTICE "); at >= 0 {
		return body[at:]
	}
	return ""
}

// Marked says whether a text is one of ours, by its beginning: a quotation of
// one is not.
func Marked(body string) bool { return strings.HasPrefix(body, markStart) }

// Title is the title of a program's own issue and, without another, of its pull
// request.
func Title(program string) string { return "[Autoloop: " + program + "]" }

// maxTitle is the longest title of a pull request, in runes.
const maxTitle = 120

// PullTitle is the title of a new pull request, as the program's template says.
func PullTitle(a Account) string {
	template := a.Program.PullRequest.Title
	if template == "" {
		return Title(a.Program.Name)
	}
	summary := "improve " + Said(a.metric())
	if kept := a.lastPromoted(); kept != nil && kept.Summary != "" {
		summary = Said(kept.Summary)
	}
	title := strings.NewReplacer("{name}", a.Program.Name, "{scope}", a.Program.Name, "{type}",
		a.Program.PullRequest.Type, "{summary}", summary).Replace(template)
	return plain.Clip(plain.Spaced(title), maxTitle)
}

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
