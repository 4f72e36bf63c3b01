package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// remoteProject is a repository with GitHub beside it, in the hands of people and CI. Alice owns the
// repository, Bob collaborates, and everybody else is a stranger.
type remoteProject struct {
	*project
	site ours
	// jobs, when set, do the work of one run.
	jobs *jobs
}

// one runs one iteration, in one job or in two.
func (s *remoteProject) one(args ...string) iteration {
	s.t.Helper()
	if s.jobs != nil {
		return s.jobs.one()
	}
	return s.project.one(args...)
}

// atMost bounds the requests since the last time that they were counted. Two
// jobs both look at everything.
func (s *remoteProject) atMost(most int) {
	s.t.Helper()
	if s.jobs != nil {
		most *= 2
	}
	assert.LessOrEqual(s.t, s.site.requests(), most)
}

// newRemoteProject makes a repository with a remote, whose agent tries these values.
func newRemoteProject(t *testing.T, files map[string]string, tries ...string) *remoteProject {
	t.Helper()
	s := &remoteProject{project: newProject(t, files)}
	s.try(tries...)
	return s.withRemote()
}

// withRemote gives the repository of a remoteProject a remote.
func (s *remoteProject) withRemote() *remoteProject {
	s.t.Helper()
	s.bare = filepath.Join(s.side, "remote.git")
	s.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", s.bare)
	s.git("remote", "add", "origin", s.bare)
	s.git("push", "--quiet", "origin", "main")
	return s
}

// try says which values the agent tries, one for each iteration.
func (s *remoteProject) try(values ...string) {
	s.t.Helper()
	s.aside("values", strings.Join(values, "\n")+"\n")
}

// head is the commit of a branch of a repository, or "".
func head(t testing.TB, dir, branch string) string {
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
func (s *remoteProject) program(body string) { s.site.open("alice", "P", body, "autoloop-program") }

// say comments on the first issue.
func (s *remoteProject) say(author, text string) { s.site.say(author, 1, text) }

// report lets CI say something of the commit that the branch is at.
func (s *remoteProject) report(conclusion string, lines ...string) {
	s.t.Helper()
	s.site.report(head(s.t, s.bare, "autoloop/p"), "build", conclusion, strings.Join(lines, "\n"))
}

// merge squashes the open pull request.
func (s *remoteProject) merge() { s.merges("autoloop/p", s.openPull(), true, false) }

// merges merges the pull request of a branch as a person does: with a merge commit or squashed.
// A repository may delete the branch then; GitHub keeps the commits.
func (s *remoteProject) merges(branch string, pull int, squash, deleted bool) {
	s.t.Helper()
	clone := s.t.TempDir()
	s.run("", "git", "clone", "--quiet", s.bare, clone)
	if squash {
		s.run(clone, "git", "merge", "--quiet", "--squash", "origin/"+branch)
		s.run(clone, "git", "commit", "--quiet", "--allow-empty", "--message", "Merge it")
	} else {
		s.run(clone, "git", "merge", "--quiet", "--no-ff", "--message", "Merge it", "origin/"+branch)
	}
	s.run(clone, "git", "push", "--quiet", "origin", "main")
	s.site.merged(pull)
	if deleted {
		s.run(s.bare, "git", "update-ref", fmt.Sprintf("refs/pull/%d/head", pull), "refs/heads/"+branch)
		s.run(s.bare, "git", "update-ref", "-d", "refs/heads/"+branch)
	}
}

// openPull is the number of the open pull request, or 0.
func (s *remoteProject) openPull() int {
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
func (s *remoteProject) pullBody() string { return s.site.look().Issue(s.openPull()).Body }

// remembered reads a file of the memory branch on the remote.
func (s *remoteProject) remembered(name string) string {
	s.t.Helper()
	return s.run(s.bare, "git", "show", "memory/autoloop:"+name)
}

// told is what the agent was told at an iteration.
func (s *remoteProject) told(iteration int) string {
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
func (s *remoteProject) answers() []string {
	var list []string
	for _, c := range s.site.look().On(1) {
		if mark, text, _ := strings.Cut(c.Body, "\n"); strings.HasPrefix(mark, "<!-- AUTOLOOP:REPLY ") {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return list
}

// hub is a remoteProject with its server.
type hub struct {
	*remoteProject
	*githubtest.Server
}

// newHub makes a repository on GitHub whose agent tries these values.
func newHub(t *testing.T, files map[string]string, tries ...string) *hub {
	t.Helper()
	return newRemoteProject(t, files, tries...).hub(ownedByAlice())
}

// ownedByAlice is a repository in which Bob collaborates.
func ownedByAlice() *githubtest.State {
	state := githubtest.NewState("org/repo")
	state.Roles["alice"], state.Roles["bob"] = "OWNER", "COLLABORATOR"
	return state
}

// hub starts our server beside a remoteProject.
func (s *remoteProject) hub(state *githubtest.State) *hub {
	s.t.Helper()
	h := &hub{remoteProject: s, Server: githubtest.New(s.t, state)}
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

// pushes commits a file to a branch as a person does, and returns the commit.
func (s *remoteProject) pushes(branch, from, file, text string) string {
	s.t.Helper()
	clone := filepath.Join(s.t.TempDir(), "clone")
	s.run("", "git", "clone", "--quiet", s.bare, clone)
	s.run(clone, "git", "checkout", "--quiet", "-B", "mine", "origin/"+from)
	s.run(clone, "mkdir", "-p", filepath.Dir(filepath.Join(clone, file)))
	s.run(clone, "sh", "-c", "printf '%s' \"$1\" > \"$2\"", "sh", text, file)
	s.run(clone, "git", "add", "--all")
	s.run(clone, "git", "commit", "--quiet", "--message", "A person's "+file)
	s.run(clone, "git", "push", "--quiet", "origin", "mine:"+branch)
	return head(s.t, s.bare, branch)
}

// meanwhile runs an iteration by run, and does something while its agent works.
func (h *hub) meanwhile(run, do func()) {
	h.t.Helper()
	begun, goOn := filepath.Join(h.side, "begun"), filepath.Join(h.side, "go-on")
	done := make(chan struct{})
	var ended atomic.Bool
	go func() {
		defer close(done)
		defer func() { assert.NoError(h.t, os.WriteFile(goOn, nil, 0o600)) }() // also when do ends the test
		for h.t.Context().Err() == nil && !ended.Load() {
			if _, err := os.Stat(begun); err == nil {
				do()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	run()
	ended.Store(true)
	<-done
}

// waitingAtTwo is onIssue whose agent waits for duringTheAgent at iteration 2.
func waitingAtTwo() string {
	return strings.Replace(onIssue, "  value=",
		"  [ \"$AUTOLOOP_ITERATION\" != 2 ] || { touch \"$SIDE/begun\"; while [ ! -e \"$SIDE/go-on\" ]; do sleep "+
			"0.05; done; }\n  value=", 1)
}
