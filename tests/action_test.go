package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// releases serves the release assets of the action: what is at a path.
type releases struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	asked []string
	down  bool // it answers 502
}

// put puts a file at a path.
func (r *releases) put(path string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = data
}

// requests returns the paths that were asked for since it was called last.
func (r *releases) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

// fail makes it answer that it is down.
func (r *releases) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = true
}

// ServeHTTP implements http.Handler.
func (r *releases) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, q.URL.Path)
	data, found := r.files[q.URL.Path]
	switch {
	case r.down:
		w.WriteHeader(http.StatusBadGateway)
	case q.Header.Get("Authorization") != "": // no token goes to where releases are
		w.WriteHeader(http.StatusTeapot)
	case !found:
		http.NotFound(w, q)
	default:
		_, _ = w.Write(data)
	}
}

// archiveName is that of this machine's archive of a release.
func archiveName(version string) string {
	return fmt.Sprintf("autoloop_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
}

// newReleases serves release v1.2.3 with the binaries under test.
func newReleases(t testing.TB) *releases {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script runs in bash")
	}
	r := &releases{files: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	r.release("1.2.3", archive(t))
	return r
}

func asset(version, name string) string {
	return "/org/autoloop/releases/download/v" + version + "/" + name
}

// release puts an archive there, with its checksums, and returns the digest of
// these.
func (r *releases) release(version string, packed []byte) string {
	sums := fmt.Sprintf("%s  autoloop_%s_plan9_mips.tar.gz\n%x  %s\n", strings.Repeat("0", 64), version,
		sha256.Sum256(packed), archiveName(version))
	r.put(asset(version, "checksums.txt"), []byte(sums))
	r.put(asset(version, archiveName(version)), packed)
	sum := sha256.Sum256([]byte(sums))
	return hex.EncodeToString(sum[:])
}

// archive packs stand-ins that start the binaries under test.
func archive(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "scheduler", "iterate"} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", filepath.Join(binaries, name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700)) //nolint:gosec // it is run
	}
	packed, err := exec.CommandContext(t.Context(), "tar", "-C", dir, "-cz", "LICENSE", "scheduler", "iterate").Output()
	require.NoError(t, err)
	return packed
}

// actionStep is a run of the action in a step of a job.
type actionStep struct {
	outputs map[string]string
	// log is what was printed, raw the file of outputs as it was written.
	log, raw, summary string
	code              int
}

// annotations are the workflow commands that the runner obeys in the log.
func (s actionStep) annotations() []string {
	var found []string
	for _, line := range commandsOf(s.log) {
		if !strings.HasPrefix(line, "::group::") && line != "::endgroup::" {
			found = append(found, line)
		}
	}
	return found
}

// commandsOf reads a log as GitHub's runner does: commands at the beginning of a
// line, and in the old form anywhere, but none while they are stopped.
func commandsOf(log string) []string {
	var found []string
	stopped := ""
	for line := range strings.Lines(strings.ReplaceAll(log, "\r", "\n")) {
		line = strings.TrimSpace(line)
		switch {
		case stopped != "":
			if line == "::"+stopped+"::" {
				stopped = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			stopped = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::"), strings.Contains(line, "##["):
			found = append(found, line)
		}
	}
	return found
}

// outputsOf reads the file of outputs as GitHub's runner does.
func outputsOf(t testing.TB, text string) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		equals, here := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if equals >= 0 && (here < 0 || equals < here) {
			outputs[lines[i][:equals]] = lines[i][equals+1:]
			continue
		}
		if here < 0 {
			require.Empty(t, lines[i], "a line that is no output")
			continue
		}
		name, end := lines[i][:here], lines[i][here+2:]
		var value []string
		for i++; lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

// actionEnv is the environment of a step of the action.
func (w *project) actionEnv(r *releases, inputs map[string]string) []string {
	root, err := filepath.Abs("..")
	require.NoError(w.t, err)
	env := []string{
		"GITHUB_ACTION_PATH=" + root, "GITHUB_WORKSPACE=" + w.dir, "RUNNER_TEMP=" + w.side, "GITHUB_ACTIONS=true",
		"GITHUB_RUN_ID=7",
		"ACTION_REF=v1.2.3", "ACTION_REPOSITORY=org/autoloop", "GITHUB_SERVER_URL=" + r.URL,
	}
	for _, v := range w.env {
		if !strings.HasPrefix(v, "AUTOLOOP_DIR=") {
			env = append(env, v)
		}
	}
	all := map[string]string{
		"MODE": "run", "PROGRAM": "", "AGENT": "", "MODEL": "", "PROGRAMS_DIR": "", "MAX_PROGRAMS": "1",
		"ITERATIONS":  "1",
		"CI_WORKFLOW": "",
		"BUDGET_USD":  "", "DRY_RUN": "false", "VERSION": "", "WORKING_DIRECTORY": "", "BUNDLE": "", "SUITE": "",
		"BASELINE": "", "CANDIDATE": "",
	}
	maps.Copy(all, inputs)
	for name, value := range all {
		if strings.HasPrefix(name, "+") {
			env = append(env, name[1:]+"="+value)
		} else {
			env = append(env, "INPUT_"+name+"="+value)
		}
	}
	return env
}

// action runs the steps of action.yml: its script, and what they say in between.
// An input that begins with + is a variable of the environment.
func (w *project) action(r *releases, inputs map[string]string) actionStep {
	w.t.Helper()
	got := w.script(r, "get", inputs)
	if got.code == 0 && got.outputs["source"] == "true" {
		built := w.script(r, "build", inputs)
		built.log = got.log + built.log
		got = built
	}
	if got.code != 0 {
		return got
	}
	ran := w.script(r, "run", inputs)
	ran.log = got.log + ran.log
	return ran
}

// script runs one step of the action.
func (w *project) script(r *releases, step string, inputs map[string]string) actionStep {
	w.t.Helper()
	dir := w.t.TempDir()
	output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	root, err := filepath.Abs("..")
	require.NoError(w.t, err)
	cmd := exec.CommandContext(w.t.Context(), "bash", filepath.Join(root, "workflows", "action.sh"), step)
	cmd.Dir = w.dir
	cmd.Env = append(w.actionEnv(r, inputs), "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		require.NotNil(w.t, cmd.ProcessState, err)
	}
	raw, _ := os.ReadFile(output)
	text, _ := os.ReadFile(summary)
	return actionStep{
		outputsOf(w.t, string(raw)), string(printed), string(raw), string(text),
		cmd.ProcessState.ExitCode(),
	}
}

// shared commits everything and gives the repository a remote, as a checkout in
// Actions has.
func (w *project) shared(message string) (origin string) {
	w.t.Helper()
	w.commit(message)
	origin = filepath.Join(w.side, "origin.git")
	w.run("", "git", "clone", "--quiet", "--bare", w.dir, origin)
	w.git("remote", "add", "origin", origin)
	w.git("fetch", "--quiet", "origin")
	return origin
}

func TestActionRefusesInputs(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := newProject(t, map[string]string{"README.md": "mine\n"})
	w.ok("iterate", "init", "--yes")
	w.ok("iterate", "init", "example")
	trap := filepath.Join(w.side, "trap")
	inputs := []string{
		"MODE", "PROGRAM", "AGENT", "MODEL", "PROGRAMS_DIR", "MAX_PROGRAMS", "ITERATIONS", "CI_WORKFLOW", "BUDGET_USD",
		"DRY_RUN",
		"VERSION", "WORKING_DIRECTORY", "BUNDLE", "SUITE", "BASELINE", "CANDIDATE",
	}
	for _, name := range inputs {
		for _, value := range []string{
			hostileLine(trap) + "\n" + hostileLine(trap), "-x", "--help", "-", "a\nb", "a\r::error::b",
		} {
			step := w.script(r, "get", map[string]string{name: value})
			assert.Equal(t, 2, step.code, "%s=%q: %s", name, value, step.log)
			assert.NoFileExists(t, trap, name)
			assert.Empty(t, step.raw, name)
			input := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
			assert.Regexp(t, `^::error title=Autoloop::the input `+input+` is `, step.log)
			assert.Len(t, commandsOf(step.log), 1, "only ours: %s", step.log)
		}
	}
	for _, c := range []struct{ name, value string }{
		{"MODE", "everything"},
		{"ITERATIONS", "0"},
		{"ITERATIONS", "1e3"},
		{"ITERATIONS", "10000"},
		{"MAX_PROGRAMS", "1.5"},
		{"MAX_PROGRAMS", "８"},
		{"DRY_RUN", "yes"},
		{"PROGRAM", "Über"},
		{"PROGRAM", "a/b"},
		{"BUDGET_USD", "-1"},
		{"CI_WORKFLOW", "../ci.yml"},
		{"VERSION", "latest"},
		{"VERSION", "v1.2.3@sha256:00"},
		{"VERSION", "v1.2.3/../../x"},
	} {
		step := w.script(r, "get", map[string]string{c.name: c.value})
		assert.Equal(t, 2, step.code, "%s=%q: %s", c.name, c.value, step.log)
	}
	assert.Empty(t, r.requests(), "nothing was fetched")
	for _, c := range []map[string]string{
		{"MODE": "propose", "ITERATIONS": "2"},
		{"MODE": "publish", "DRY_RUN": "true"},
		{"MODE": "compare"},
		{"MODE": "compare", "BASELINE": "a"},
	} {
		step := w.script(r, "get", c)
		assert.Equal(t, 2, step.code, "%v: %s", c, step.log)
	}
}

// TestActionIsDocumented holds the tables of docs/reference/action.md against action.yml
// and its script.
func TestActionIsDocumented(t *testing.T) {
	t.Parallel()
	action := readWorkflow(t, "../action.yml")
	var passed []map[string]string
	for _, step := range action.Runs.Steps {
		assert.NotContains(t, step.Run, "${{", "an expression in a script is code")
		env := maps.Clone(step.Env)
		if _, takes := env["INPUT_MODE"]; takes {
			maps.DeleteFunc(env, func(name, _ string) bool { return !strings.HasPrefix(name, "INPUT_") })
			passed = append(passed, env)
		}
	}
	require.Len(t, passed, 2)
	assert.Equal(t, passed[0], passed[1], "what is checked is what is used")
	docs := readText(t, "../docs/reference/action.md")
	documented := func(after string) []string {
		_, table, found := strings.Cut(docs, "\n| "+after+" |")
		require.True(t, found, after)
		table, _, _ = strings.Cut(table, "\n\n")
		var names []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1) {
			names = append(names, m[1])
		}
		return names
	}
	var inputs, outputs []string
	for name := range action.Inputs {
		inputs = append(inputs, name)
		if name != "token" {
			assert.Contains(t, passed[0], "INPUT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		}
	}
	for name := range action.Outputs {
		outputs = append(outputs, name)
	}
	assert.ElementsMatch(t, inputs, documented("input"))
	assert.ElementsMatch(t, outputs, documented("output"))
}
