package render

import (
	"fmt"
	"strings"

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
	return plain.Clip(strings.Join(strings.Fields(title), " "), maxTitle)
}
