package tests

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/org/autoloop/internal/github/githubtest"
)

// lively is the program of the whole life, with CI: its agent fixes what CI
// found with line N of the file `fixes`.
func lively() string {
	body := strings.Replace(onIssue, "metric: m", "ci-gate: required\nci-wait: 5s\nmetric: m", 1)
	return strings.Replace(body, "  [ \"$value\"",
		"  if grep -q 'What CI said' \"$AUTOLOOP_PROMPT\"; then value=$(sed -n \"${AUTOLOOP_ITERATION}p\" "+
			"\"$SIDE/fixes\"); fi\n  [ \"$value\"", 1)
}

// chapters are what happens before each run of the whole life.
func chapters() []func(s *remoteProject) {
	nothing := func(*remoteProject) {}
	return []func(s *remoteProject){
		nothing, nothing, nothing,
		func(s *remoteProject) {
			s.say("alice", "Smaller steps, please.")
			s.say("alice", "/autoloop set target-metric 1.5")
		},
		(*remoteProject).merge, nothing,
	}
}

func newLife(t *testing.T) *hub {
	t.Helper()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "8", "9", "fail", "7", "6", "1")
	h.born()
	return h
}

// born begins the whole life in a new remoteProject.
func (s *remoteProject) born() {
	s.t.Helper()
	s.aside("fixes", "0\n0\n0\n6.5\n")
	s.program(lively())
	s.live()
}

// live lets CI turn the value 7 down.
func (s *remoteProject) live() {
	s.impatient()
	s.site.judge(func(commit string) string {
		out, err := exec.CommandContext(context.Background(), "git", "--git-dir", s.bare, "show",
			commit+":value.txt").Output()
		switch {
		case err != nil:
			return ""
		case strings.TrimSpace(string(out)) == "7":
			return "failure"
		default:
			return "success"
		}
	})
}

// impatient waits for no limit of GitHub's.
func (s *remoteProject) impatient() { s.env = append(s.env, "AUTOLOOP_GITHUB_PATIENCE=0s") }

// snapshot is a hub as it was, to begin from again.
type snapshot struct {
	dir, side string
	state     *githubtest.State
}

func (h *hub) snapshot() snapshot {
	h.t.Helper()
	m := snapshot{dir: filepath.Join(h.t.TempDir(), "repo"), side: filepath.Join(h.t.TempDir(), "side")}
	h.run("", "cp", "-a", h.dir, m.dir)
	h.run("", "cp", "-a", h.side, m.side)
	h.Change(func(s *githubtest.State) { m.state = s.Copy() })
	return m
}

// begin is another hub in the whole life that is as one was.
func (m snapshot) begin(t *testing.T) *hub {
	h := m.again(t)
	h.live()
	return h
}

// again is another hub that is as one was.
func (m snapshot) again(t *testing.T) *hub {
	t.Helper()
	root := t.TempDir()
	openWhenDone(t, root)
	w := &project{t: t, dir: filepath.Join(root, "repo"), side: filepath.Join(root, "side")}
	w.bare = filepath.Join(w.side, "remote.git")
	w.env = cleanEnviron(root, w.side)
	w.run("", "cp", "-a", m.dir, w.dir)
	w.run("", "cp", "-a", m.side, w.side)
	s := &remoteProject{project: w}
	w.git("remote", "set-url", "origin", s.bare)
	return s.hub(m.state.Copy())
}

var (
	eventMark = regexp.MustCompile(`(NOTICE|REPLY) [0-9]+`)
	timeCell  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00`)
)

// place is where everything is, without times and names that chance gave.
func (s *remoteProject) place() string {
	s.t.Helper()
	var out strings.Builder
	state := s.site.look()
	for _, i := range state.Issues {
		fmt.Fprintf(&out, "#%d %s open=%v %v\n", i.Number, i.Title, i.Open, i.Labels)
		if pull := state.Pull(i.Number); pull != nil {
			mark, _, _ := strings.Cut(i.Body, "\n")
			fmt.Fprintf(&out, "  %s merged=%v draft=%v\n", mark, pull.Merged, pull.Draft)
		}
		for _, c := range state.On(i.Number) {
			lines := strings.SplitN(c.Body, "\n", 3)
			fmt.Fprintf(&out, "  %s: %s\n", c.Author,
				eventMark.ReplaceAllString(strings.Join(lines[:min(len(lines), 2)], " "), "$1"))
		}
	}
	fmt.Fprintf(&out, "%d reactions\n", len(state.Reactions))
	out.WriteString(s.run(s.bare, "git", "log", "--format=%s", "autoloop/p") + "\n")
	out.WriteString(timeCell.ReplaceAllString(s.remembered("p.results.tsv"), "T") + "\n")
	for line := range strings.Lines(s.remembered("p.md")) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Last Run") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func (h *hub) runOnce() {
	h.t.Helper()
	h.ok("iterate", "--program", "p", "--json")
}
