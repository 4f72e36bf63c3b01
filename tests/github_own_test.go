package tests

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// hub is a scene with its server.
type hub struct {
	*scene
	*githubtest.Server
}

// newHub makes a repository on GitHub whose agent tries these values.
func newHub(t *testing.T, files map[string]string, tries ...string) *hub {
	t.Helper()
	return newScene(t, files, tries...).hub(ownedByAlice())
}

// ownedByAlice is a repository in which Bob collaborates.
func ownedByAlice() *githubtest.State {
	state := githubtest.NewState("org/repo")
	state.Roles["alice"], state.Roles["bob"] = "OWNER", "COLLABORATOR"
	return state
}

// hub starts our server beside a scene.
func (s *scene) hub(state *githubtest.State) *hub {
	s.t.Helper()
	h := &hub{scene: s, Server: githubtest.New(s.t, state)}
	h.Change(func(*githubtest.State) {
		h.Token, h.Heads = hubToken, func(branch string) string { return head(s.t, s.bare, branch) }
	})
	s.site = ours{h.Server}
	require.NoError(s.t, githubtest.Protect(s.bare, filepath.Join(binaries, "receive")))
	s.env = append(s.env, "GITHUB_API_URL="+h.URL, "GITHUB_REPOSITORY=org/repo", "GITHUB_TOKEN="+hubToken)
	return h
}

// ours is our test server in the hands of people and CI.
type ours struct{ *githubtest.Server }

func (o ours) open(author, title, body string, labels ...string) (number int) {
	o.Change(func(s *githubtest.State) { number = s.OpenIssue(author, title, body, time.Now(), labels...).Number })
	return number
}

func (o ours) rewrite(issue int, title, body string) {
	o.Change(func(s *githubtest.State) { s.Issue(issue).Title, s.Issue(issue).Body = title, body })
}

func (o ours) say(author string, on int, body string) {
	o.Change(func(s *githubtest.State) { s.Say(author, on, body, time.Now()) })
}

func (o ours) review(author string, pull int, path, body string) {
	o.Change(func(s *githubtest.State) { s.Say(author, pull, body, time.Now()).Path = path })
}

func (o ours) report(commit, name, conclusion, text string) {
	o.Change(func(s *githubtest.State) { s.Report(commit, name, conclusion, text, time.Now()) })
}

func (o ours) judge(judge func(commit string) string) {
	o.Change(func(*githubtest.State) { o.CI = judge })
}

func (o ours) merged(pull int) { o.Merge(pull, o.Heads("main")) }

func (o ours) closed(number int) {
	pull := false
	o.Change(func(s *githubtest.State) {
		if pull = s.Pull(number) != nil; !pull {
			s.Issue(number).Open = false
		}
	})
	if pull {
		o.Close(number)
	}
}

func (o ours) look() (state *githubtest.State) {
	o.Change(func(s *githubtest.State) { state = s.Copy() })
	return state
}

// requests leaves out those about CI.
func (o ours) requests() int {
	return len(slices.DeleteFunc(o.Calls(), func(c githubtest.Call) bool { return aboutCI(c.Pattern) }))
}

// aboutCI reports whether a request reads checks, or which are required.
func aboutCI(path string) bool {
	return strings.Contains(path, "/commits/") || strings.Contains(path, "/branches/")
}
