package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
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
func chapters() []func(s *scene) {
	nothing := func(*scene) {}
	return []func(s *scene){
		nothing, nothing, nothing,
		func(s *scene) {
			s.say("alice", "Smaller steps, please.")
			s.say("alice", "/autoloop set target-metric 1.5")
		},
		(*scene).merge, nothing,
	}
}

func newLife(t *testing.T) *hub {
	t.Helper()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "8", "9", "fail", "7", "6", "1")
	h.born()
	return h
}

// born begins the whole life in a new scene.
func (s *scene) born() {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.side, "fixes"), []byte("0\n0\n0\n6.5\n"), 0o600))
	s.program(lively())
	s.live()
}

// live lets CI turn the value 7 down.
func (s *scene) live() {
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
func (s *scene) impatient() { s.env = append(s.env, "AUTOLOOP_GITHUB_PATIENCE=0s") }

// moment is a hub as it was, to begin from again.
type moment struct {
	dir, side string
	state     *githubtest.State
}

func (h *hub) moment() moment {
	h.t.Helper()
	m := moment{dir: filepath.Join(h.t.TempDir(), "repo"), side: filepath.Join(h.t.TempDir(), "side")}
	h.run("", "cp", "-a", h.dir, m.dir)
	h.run("", "cp", "-a", h.side, m.side)
	h.Change(func(s *githubtest.State) { m.state = s.Copy() })
	return m
}

// begin is another hub in the whole life that is as one was.
func (m moment) begin(t *testing.T) *hub {
	h := m.again(t)
	h.live()
	return h
}

// again is another hub that is as one was.
func (m moment) again(t *testing.T) *hub {
	t.Helper()
	root := t.TempDir()
	openWhenDone(t, root)
	w := &world{t: t, dir: filepath.Join(root, "repo"), side: filepath.Join(root, "side")}
	w.env = cleanEnviron(root, w.side)
	w.run("", "cp", "-a", m.dir, w.dir)
	w.run("", "cp", "-a", m.side, w.side)
	s := &scene{world: w, bare: filepath.Join(w.side, "remote.git")}
	w.git("remote", "set-url", "origin", s.bare)
	return s.hub(m.state.Copy())
}

var (
	eventMark = regexp.MustCompile(`(NOTICE|REPLY) [0-9]+`)
	timeCell  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00`)
)

// place is where everything is, without times and names that chance gave.
func (s *scene) place() string {
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

// decided is the number of the last iteration that CI waits for no more.
func (s *scene) decided() int {
	return strings.Count(s.remembered("p.results.tsv"), "\n") - 1
}

// fault is one way in which a write fails.
type fault struct {
	kind  githubtest.FaultKind
	after bool
	kill  bool
}

func (f fault) String() string {
	name, when := string(f.kind), "before"
	if f.kill {
		name = "killed"
	}
	if f.after {
		when = "after"
	}
	return name + " " + when
}

// faults are the two that a write meets: the death of the run, just before or just
// after it is done, and one of the ways in which it fails. Writes of a kind meet them
// in turn, number by number; that every write meets every way of failing is tested
// beside the package that publishes.
func faults(number int) []fault {
	deaths := []fault{{githubtest.Dropped, false, true}, {githubtest.Dropped, true, true}}
	failures := []fault{
		{githubtest.ServerError, false, false},
		{githubtest.Dropped, true, false},
		{githubtest.BadGateway, true, false},
		{githubtest.SecondaryLimit, false, false},
		{githubtest.ServerError, true, false},
		{githubtest.Dropped, false, false},
		{githubtest.PrimaryLimit, false, false},
		{githubtest.BadGateway, false, false},
		{githubtest.Slow, false, false},
		{githubtest.Slow, true, false},
	}
	return []fault{deaths[number%len(deaths)], failures[number%len(failures)]}
}

// TestFaultsAtEveryWriteOfALife lets every write of the whole life fail, from
// the moment just before the run that makes it. The runs after it end where the
// life without faults was.
func TestFaultsAtEveryWriteOfALife(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	h, met := newLife(t), map[string]int{}
	for number, before := range chapters() {
		before(h.scene)
		m := h.moment()
		h.Calls()
		h.one()
		var writes []string
		for _, call := range h.Calls() {
			if call.Write() {
				writes = append(writes, call.Method+" "+call.Pattern)
			}
		}
		want, iteration := h.place(), h.decided()
		assert.Equal(t, number == 3, strings.Contains(want, "fix CI (1)"))
		t.Logf("run %d: %q", number+1, writes)
		for write, kind := range writes {
			if _, known := met[kind]; !known {
				met[kind] = 3 * len(met)
			}
			met[kind]++
			for _, f := range faults(met[kind]) {
				t.Run(fmt.Sprintf("run %d write %d %s", number+1, write+1, f), func(t *testing.T) {
					t.Parallel()
					again := m.begin(t)
					again.strike(f, write)
					for tries := 0; again.decided() < iteration && tries < 3; tries++ {
						again.runOnce()
					}
					assert.Equal(t, want, again.settle(want))
				})
			}
		}
	}
	assert.Contains(t, h.place(), "| Completed | true |")
}

// strike runs once with a write that fails.
func (h *hub) strike(f fault, write int) {
	h.t.Helper()
	cmd := h.command("iterate", "--program", "p", "--json")
	if f.kind == githubtest.Slow {
		cmd.Env = append(cmd.Env, "AUTOLOOP_GITHUB_TIMEOUT=2s")
	}
	started := make(chan *os.Process, 1)
	order := githubtest.Fault{Kind: f.kind, Writes: true, Skip: write, After: f.after, Wait: time.Hour}
	if f.kill {
		order.Call = func() { _ = (<-started).Kill() }
	}
	h.Fail(order)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(h.t, cmd.Start())
	started <- cmd.Process
	if err := cmd.Wait(); !f.kill {
		require.NoError(h.t, err, out.String())
	}
	require.Zero(h.t, h.Mend(), "the fault struck")
}

func (h *hub) runOnce() {
	h.t.Helper()
	a := h.binary("iterate", "--program", "p", "--json")
	require.Zero(h.t, a.code, a.stderr)
}

// settle lets what was not shown be shown, without another iteration, and returns
// where everything is then.
func (h *hub) settle(want string) string {
	h.t.Helper()
	place := h.place()
	if place == want {
		return place
	}
	a := h.binary("iterate", "job", "steer", "--program", "p")
	require.Zero(h.t, a.code, a.stderr)
	return h.place()
}
