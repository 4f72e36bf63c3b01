package tests

import (
	"strings"

	"github.com/org/autoloop/internal/github/githubtest"
)

// asked is a program whose pull request has everything that one can ask for.
func asked(whenReady string) string {
	return strings.Replace(onIssue, "comments: all\n", `pull-request:
  title: "{type}({scope}): {summary}"
  labels: [fast]
  reviewers: [bob]
  assignees: [alice]
  when-ready: `+whenReady+"\n", 1)
}

// ready marks the open pull request ready for review, or a draft again.
func (h *hub) ready(is bool) {
	h.t.Helper()
	number := h.openPull()
	h.Change(func(s *githubtest.State) { s.Pull(number).Draft = !is })
}
