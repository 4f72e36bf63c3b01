package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scene is a repository with GitHub beside it, in the hands of people and CI. Alice owns the
// repository, Bob collaborates, and everybody else is a stranger.
type scene struct {
	*world
	site ours
	bare string
	// jobs, when set, do the work of one run.
	jobs *jobs
}

// one runs one iteration, in one job or in two.
func (s *scene) one(args ...string) iteration {
	s.t.Helper()
	if s.jobs != nil {
		return s.jobs.one()
	}
	return s.world.one(args...)
}

// atMost bounds the requests since the last time that they were counted. Two
// jobs both look at everything.
func (s *scene) atMost(most int) {
	s.t.Helper()
	if s.jobs != nil {
		most *= 2
	}
	assert.LessOrEqual(s.t, s.site.requests(), most)
}

// newScene makes a repository with a remote, whose agent tries these values.
func newScene(t *testing.T, files map[string]string, tries ...string) *scene {
	t.Helper()
	s := &scene{world: newWorld(t, files)}
	s.try(tries...)
	return s.withRemote()
}

// withRemote gives the repository of a scene a remote.
func (s *scene) withRemote() *scene {
	s.t.Helper()
	s.bare = filepath.Join(s.side, "remote.git")
	s.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", s.bare)
	s.git("remote", "add", "origin", s.bare)
	s.git("push", "--quiet", "origin", "main")
	return s
}

// try says which values the agent tries, one for each iteration.
func (s *scene) try(values ...string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.side, "values"), []byte(strings.Join(values, "\n")+"\n"), 0o600))
}

// head is the commit of a branch of a repository, or "".
func head(t *testing.T, dir, branch string) string {
	t.Helper()
	// Asked for each request, and usually a file of its own.
	if text, err := os.ReadFile(filepath.Join(dir, "refs", "heads", filepath.FromSlash(branch))); err == nil &&
		len(text) == 41 {
		return strings.TrimSpace(string(text))
	}
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir", dir, "rev-parse", "--verify", "--quiet",
		"refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// program opens the issue with the program p.
func (s *scene) program(body string) { s.site.open("alice", "P", body, "autoloop-program") }

// say comments on the first issue.
func (s *scene) say(author, text string) { s.site.say(author, 1, text) }

// report lets CI say something of the commit that the branch is at.
func (s *scene) report(conclusion string, lines ...string) {
	s.t.Helper()
	s.site.report(head(s.t, s.bare, "autoloop/p"), "build", conclusion, strings.Join(lines, "\n"))
}

// merge merges the open pull request as a person does.
func (s *scene) merge() {
	s.t.Helper()
	number := s.openPull()
	clone := filepath.Join(s.t.TempDir(), "clone")
	s.run("", "git", "clone", "--quiet", s.bare, clone)
	s.run(clone, "git", "merge", "--quiet", "--squash", "origin/autoloop/p")
	s.run(clone, "git", "commit", "--quiet", "--message", "Merge it")
	s.run(clone, "git", "push", "--quiet", "origin", "main")
	s.site.merged(number)
}

// openPull is the number of the open pull request, or 0.
func (s *scene) openPull() int {
	number := 0
	state := s.site.look()
	for _, p := range state.Pulls {
		if state.Issue(p.Number).Open && p.HeadOf == state.Repository {
			number = p.Number
		}
	}
	return number
}

// pullBody is the body of the open pull request.
func (s *scene) pullBody() string { return s.site.look().Issue(s.openPull()).Body }

// remembered reads a file of the memory branch on the remote.
func (s *scene) remembered(name string) string {
	s.t.Helper()
	return s.run(s.bare, "git", "show", "memory/autoloop:"+name)
}

// told is what the agent was told at an iteration.
func (s *scene) told(iteration int) string {
	s.t.Helper()
	return s.beside(fmt.Sprintf("prompt.%d", iteration))
}

// entryOf is the history of one iteration in a state.
func entryOf(state string, iteration int) string {
	_, rest, _ := strings.Cut(state, fmt.Sprintf("### Iteration %d — ", iteration))
	entry, _, _ := strings.Cut(rest, "\n### ")
	return entry
}

// answers are our replies on the first issue, without their marks.
func (s *scene) answers() []string {
	var list []string
	for _, c := range s.site.look().On(1) {
		if mark, text, _ := strings.Cut(c.Body, "\n"); strings.HasPrefix(mark, "<!-- AUTOLOOP:REPLY ") {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return list
}
