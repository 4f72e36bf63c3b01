package tests

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// readToken is that of the proposing job: the servers of these tests fail a test
// that changes something with it.
const readToken = "ghs_0123456789abcdefREADER"

// jobs run iterations as two jobs of a workflow: each in a clone and a home of
// its own, the one with a token that may read, the other with one that may write.
type jobs struct {
	*remoteProject
	git    *gitServer
	server string
	made   int
}

// inTwoJobs lets every run of a hub be two jobs.
func (h *hub) inTwoJobs() *jobs {
	h.t.Helper()
	backend := newGitServer(h.t, "/remote.git", h.bare)
	backend.reader = readToken
	h.Change(func(*githubtest.State) { h.Reader = readToken })
	j := &jobs{remoteProject: h.remoteProject, git: backend, server: backend.listen(h.t)}
	h.jobs = j
	return j
}

// newHubIn is newHub whose runs are one job or, where every test is to run, two.
func newHubIn(t *testing.T, twoJobs bool, files map[string]string, tries ...string) *hub {
	t.Helper()
	if twoJobs {
		long.Only(t, long.TwoJobs)
	}
	h := newHub(t, files, tries...)
	if twoJobs {
		h.inTwoJobs()
	}
	return h
}

// job prepares a command in a new clone.
func (j *jobs) job(token string, args ...string) *exec.Cmd {
	j.t.Helper()
	root := j.t.TempDir()
	clone := filepath.Join(root, "clone")
	j.run("", "git", "clone", "--quiet", j.bare, clone)
	j.run(clone, "git", "remote", "set-url", "origin", j.server+"/remote.git")
	cmd := exec.CommandContext(j.t.Context(), filepath.Join(binaries, "iterate"), args...)
	cmd.Dir = clone
	openWhenDone(j.t, root)
	for _, place := range []string{"home", "tmp"} {
		require.NoError(j.t, os.MkdirAll(filepath.Join(root, place), 0o755))
	}
	cmd.Env = append(append(cmd.Env, j.env...), "GITHUB_TOKEN="+token, "GITHUB_SERVER_URL="+j.server,
		"HOME="+filepath.Join(root, "home"), "TMPDIR="+filepath.Join(root, "tmp"),
		"AUTOLOOP_DIR="+filepath.Join(root, "out"))
	return cmd
}

// begin records that an iteration begins; it is false when none may.
func (j *jobs) begin() (begun bool, reason string) {
	j.t.Helper()
	a := j.answer(j.job(cmp.Or(j.git.writer, hubToken), "job", "begin", "--program", "p", "--json"))
	require.Zero(j.t, a.code, a.stderr)
	var list []struct {
		Begun  bool
		Reason string
	}
	require.NoError(j.t, json.Unmarshal([]byte(a.stdout), &list), a.stdout)
	require.Len(j.t, list, 1)
	return list[0].Begun, list[0].Reason
}

// propose makes a bundle; its directory is "" when there was nothing to hand on.
func (j *jobs) propose() (dir string, proposed iteration) {
	j.t.Helper()
	j.made++
	dir = filepath.Join(j.t.TempDir(), "bundle-"+strconv.Itoa(j.made))
	a := j.answer(j.job(readToken, "job", "propose", "--program", "p", "--json", "--out", dir))
	require.Zero(j.t, a.code, a.stderr)
	if _, err := os.Stat(dir); err != nil {
		dir = ""
	}
	return dir, j.single(a)
}

func (j *jobs) single(a answer) iteration {
	j.t.Helper()
	list := j.decode(a.stdout)
	require.Len(j.t, list, 1)
	return list[0]
}

// publish records a bundle; without one it does what waits.
func (j *jobs) publish(dir ...string) iteration {
	j.t.Helper()
	args := append([]string{"job", "publish", "--program", "p", "--json"}, dir...)
	a := j.answer(j.job(cmp.Or(j.git.writer, hubToken), args...))
	require.Zero(j.t, a.code, a.stderr)
	return j.single(a)
}

// one is one run: the start and a pair of jobs, and another when all that the
// first left to do was to obey.
func (j *jobs) one() iteration {
	j.t.Helper()
	for {
		begun, reason := j.begin()
		if !begun {
			return iteration{Program: "p", Outcome: "idle", Stopped: reason, Reasons: []string{reason}}
		}
		dir, proposed := j.propose()
		if dir != "" {
			return j.publish(dir)
		}
		published := j.publish()
		switch {
		case published.Outcome != "idle" || published.Stopped != "":
			return published
		case !strings.HasSuffix(proposed.Reasons[0], "`iterate job publish` does that"):
			return proposed
		}
	}
}

func TestNothingToPropose(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	j := h.inTwoJobs()
	h.program(onIssue)
	outputs := filepath.Join(h.side, "outputs")
	h.env = append(h.env, "GITHUB_OUTPUT="+outputs)
	dir, _ := j.propose()
	j.publish(dir)
	assert.Contains(t, h.beside("outputs"), "bundle=true\n")
	h.Change(func(s *githubtest.State) { s.Variables["AUTOLOOP_PAUSED"] = "true" })
	a := h.answer(j.job(readToken, "job", "propose", "--program", "p", "--json", "--out",
		filepath.Join(h.side, "none")))
	assert.Zero(t, a.code)
	assert.JSONEq(t, "[]", a.stdout)
	assert.NoDirExists(t, filepath.Join(h.side, "none"))
	assert.Contains(t, h.beside("outputs"), "bundle=false\n")
}

// propose makes a bundle beside the repository.
func (w *project) propose(name string) (string, iteration) {
	w.t.Helper()
	dir := filepath.Join(w.side, name)
	a := w.ok("iterate", "job", "propose", "--program", "p", "--json", "--out", dir)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return dir, list[0]
}

func (w *project) publish(dir string) iteration {
	w.t.Helper()
	a := w.ok("iterate", "job", "publish", "--program", "p", "--json", dir)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return list[0]
}

// refs are all branches.
func (w *project) refs() string { return w.git("for-each-ref", "refs/heads") }
