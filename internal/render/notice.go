package render

import (
	"fmt"
	"strings"
)

// Issue is the body of a file program's own issue.
func Issue(a Account) string {
	return fmt.Sprintf("%s\nThis issue belongs to the program `%s`. What it came to is in the comments; comments of maintainers steer it.\n\n"+
		"Commands: `/autoloop run`, `/autoloop pause [reason]`, `/autoloop resume`, `/autoloop status`, `/autoloop set target-metric X`, "+
		"`/autoloop undo N`, `/autoloop reactivate`; any other comment is told to the agent at the next iteration.\n\n%s", IssueMark, line(a.Program.File), robot)
}

// Notice tells people once that a program stopped or needs them. Event is the
// place of what happened in the ledger; people are logins.
func Notice(a Account, event int, what, reason string, people []string) string {
	var b strings.Builder
	cure := ""
	if what == "paused" {
		cure = goOn(reason)
	}
	fmt.Fprintf(&b, "%s\n**%s is %s**: %s%s%s\n", NoticeMark(event), line(a.Program.Name), what, Stopped(reason), cure, runLink(a.RunURL))
	var names []string
	for _, login := range people {
		if isLogin(login) {
			names = append(names, "@"+login)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(names, " "))
	}
	return b.String()
}

// isLogin says whether a text is a login and nothing else.
func isLogin(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for _, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Reply answers a comment.
func Reply(comment int64, text string) string {
	return fmt.Sprintf("%s\n%s\n", ReplyMark(comment), text)
}
