// Package tests does what users do with the binaries.
package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/scratch"
)

// binaries is where the binaries under test were built.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	scratch.Use()
	scratch.Overlap()
	scratch.GrowHeap()
	dir, err := os.MkdirTemp("", "autoloop-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // Some tests run the binaries as another user.
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binaries = dir
	// A stamp would depend on where the repository is from: a clone, an archive,
	// another user's checkout.
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o",
		dir+string(filepath.Separator), "../cmd/scheduler", "../cmd/iterate", "../internal/github/githubtest/receive")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binaries: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// project is one repository with one program in it, and a user's environment.
type project struct {
	t testing.TB
	// dir is the repository, side a directory beside it for what the agent
	// command reads.
	dir, side string
	// bare is the remote, "" without one.
	bare string
	env  []string
	// separate has each command be a process of its own: one that is restored in the
	// middle of its work is to be gone.
	separate bool
}

// values is a program whose metric is the number in value.txt; its agent
// writes line N of the file `values` at iteration N.
const values = `---
%s
metric: m
evaluation-runs: 1
agent: command
agent-command: sed -n "${AUTOLOOP_ITERATION}p" "$SIDE/values" > value.txt && echo "try $(cat value.txt)"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %%s}\n' "$(cat value.txt)"
` + "```" + `
`

// newProject makes a repository with these files committed on main.
func newProject(t testing.TB, files map[string]string) *project {
	t.Helper()
	w := emptyProject(t)
	for name, text := range files {
		w.write(name, text)
	}
	w.commit("start")
	return w
}

// emptyProject makes a repository without a commit.
func emptyProject(t testing.TB) *project {
	t.Helper()
	root := t.TempDir()
	openWhenDone(t, root)
	t.Cleanup(func() { unlock(root) })
	w := &project{t: t, dir: filepath.Join(root, "repo"), side: filepath.Join(root, "side")}
	require.NoError(t, os.MkdirAll(w.side, 0o755))
	w.env = cleanEnviron(root, w.side)
	w.run("", "git", "init", "--quiet", "--initial-branch=main", w.dir)
	return w
}

// unlock lets everybody but root, who may anyway, remove what snapshots keep
// read-only.
func unlock(root string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o755) //nolint:gosec // It is removed next.
		}
		return nil
	})
}

// valuesProject is a project with the program `values`, a first number, and those
// that the agent tries one after the other.
func valuesProject(t testing.TB, front, first string, tries ...string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(values, front), "value.txt": first + "\n", "other.txt": "untouched\n",
	})
	w.aside("values", strings.Join(tries, "\n")+"\n")
	return w
}

// openWhenDone lets the directories below root be removed that a killed run leaves
// and nobody may list.
func openWhenDone(t testing.TB, root string) {
	t.Helper()
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(root, "*", "autoloop-run-*", "w"))
		for _, dir := range left {
			_ = os.Chmod(dir, 0o700) //nolint:gosec // a directory of the test
		}
	})
}

func cleanEnviron(root, side string) []string {
	home := filepath.Join(root, "home")
	tmp := filepath.Join(root, "tmp")
	_ = os.MkdirAll(home, 0o755)
	_ = os.MkdirAll(tmp, 0o755)
	env := []string{
		"AUTOLOOP_ISOLATION=off", // Agents and evaluations of these tests leave traces beside the repository.
		"HOME=" + home, "SIDE=" + side, "TMPDIR=" + tmp, "AUTOLOOP_DIR=" + filepath.Join(root, "gh-aw"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=User",
		"GIT_COMMITTER_EMAIL=user@example.com",
	}
	for _, name := range []string{"PATH", "GOROOT", "GOPATH", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		env = append(env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	return env
}

// finds puts a directory of commands before the others that are found.
func (w *project) finds(dir string) {
	for i, variable := range w.env {
		if path, is := strings.CutPrefix(variable, "PATH="); is {
			w.env[i] = "PATH=" + dir + string(filepath.ListSeparator) + path
		}
	}
}

func (w *project) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

func (w *project) read(name string) string {
	w.t.Helper()
	return readText(w.t, filepath.Join(w.dir, filepath.FromSlash(name)))
}

// run runs a command that must succeed and returns its output without the
// last line break.
func (w *project) run(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%v: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}

func (w *project) git(args ...string) string {
	w.t.Helper()
	return w.run(w.dir, append([]string{"git"}, args...)...)
}

// commit commits all that is in the checkout.
func (w *project) commit(message string) {
	w.t.Helper()
	w.git("add", "--all")
	w.git("commit", "--quiet", "--allow-empty", "--message", message)
}

// readText is the text of a file.
func readText(t require.TestingT, file string) string {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

// iteration is one object of `iterate --json`.
type iteration struct {
	Program       string       `json:"program"`
	Iteration     int          `json:"iteration"`
	Outcome       string       `json:"outcome"`
	Verdict       *string      `json:"verdict"`
	Metric        *json.Number `json:"metric"`
	Best          *json.Number `json:"best_metric"`
	Delta         *string      `json:"delta"`
	Reasons       []string     `json:"reasons"`
	Seconds       float64      `json:"seconds"`
	Commit        *string      `json:"commit"`
	RunID         string       `json:"run_id"`
	Stopped       string       `json:"stopped"`
	BaselineError string       `json:"baseline_error"`
	Noisy         bool         `json:"noisy"`
	Samples       struct{ Incumbent, Candidate []json.Number }
	Evidence      []struct {
		Stage string
		Pairs int
		P     float64 `json:"p_value"`
	} `json:"evidence"`
	Warnings []string `json:"warnings"`
}

func (i iteration) why() string    { return strings.Join(i.Reasons, "\n") }
func (i iteration) warned() string { return strings.Join(i.Warnings, "\n") }

// iterate runs iterations of program p and returns what they came to.
func (w *project) iterate(args ...string) []iteration {
	w.t.Helper()
	a := w.binary("iterate", append([]string{"--program", "p", "--json"}, args...)...)
	require.NotEmpty(w.t, a.stdout, a.stderr)
	list := w.decode(a.stdout)
	want := 0
	for _, one := range list {
		if one.BaselineError != "" {
			want = 1 // the evaluation does not work, whatever the program does
		}
	}
	require.Equal(w.t, want, a.code, a.stderr)
	return list
}

func (w *project) decode(text string) []iteration {
	w.t.Helper()
	var list []iteration
	require.NoError(w.t, json.Unmarshal([]byte(text), &list), text)
	return list
}

// one runs one iteration.
func (w *project) one(args ...string) iteration {
	w.t.Helper()
	list := w.iterate(args...)
	require.Len(w.t, list, 1)
	return list[0]
}

// memory reads a file of the memory branch.
func (w *project) memory(name string) string {
	w.t.Helper()
	return w.git("show", "memory/autoloop:"+name)
}

// checkout describes all that a user would notice of their own checkout.
func (w *project) checkout() string {
	index, err := os.ReadFile(filepath.Join(w.dir, ".git", "index"))
	require.NoError(w.t, err)
	config, err := os.ReadFile(filepath.Join(w.dir, ".git", "config"))
	require.NoError(w.t, err)
	return strings.Join([]string{
		w.git("status", "--porcelain", "--ignored"), w.git("rev-parse", "HEAD"), w.git("symbolic-ref", "HEAD"),
		w.git("reflog", "show", "main"), fmt.Sprintf("%x", index), string(config), w.git("worktree", "list"),
		w.git("stash", "list"),
	}, "\n")
}

// withinLimit tries a case under longer and longer time limits, in minutes, until what comes
// before the work that never ends fits in: how long that takes is the machine's affair.
func withinLimit(t *testing.T, try func(minutes string) (fits bool, check func())) {
	t.Helper()
	limits := []string{"0.05", "0.2", "1", "4"}
	for i, minutes := range limits {
		if fits, check := try(minutes); fits || i == len(limits)-1 {
			check()
			return
		}
		t.Logf("%s minutes are too short here", minutes)
	}
}

func text(n *json.Number) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// beside reads a file that an agent left beside the repository.
func (w *project) beside(name string) string {
	w.t.Helper()
	return readText(w.t, filepath.Join(w.side, name))
}

// frontmatter adds lines to the frontmatter of program p.
func (w *project) frontmatter(lines ...string) {
	w.t.Helper()
	const file = ".autoloop/programs/p.md"
	w.write(file, strings.Replace(w.read(file), "---\n", "---\n"+strings.Join(lines, "\n")+"\n", 1))
}
