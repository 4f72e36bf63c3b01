package tree_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/tests/testrepo"
)

// fixture is a repository and a place for trees.
type fixture struct {
	t    *testing.T
	dir  string
	repo *git.Repo
}

func newFixture(t *testing.T, files map[string]string, ignored ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir()}
	f.start(files)
	if len(ignored) > 0 {
		f.git(append([]string{"add", "--force"}, ignored...)...)
		f.git("commit", "--quiet", "--amend", "--no-edit")
	}
	return f
}

// start makes the repository, with one commit of these files.
func (f *fixture) start(files map[string]string, flags ...string) {
	f.t.Helper()
	f.git(append([]string{"init", "--quiet", "--initial-branch=main"}, flags...)...)
	for name, text := range files {
		f.write(f.dir, name, text)
	}
	f.git("add", "--all")
	f.git("commit", "--quiet", "--message", "start")
	f.open()
}

func (f *fixture) open() {
	f.t.Helper()
	f.repo = must(git.Open(f.t.Context(), f.dir, os.Environ()))
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	return testrepo.At(f.t, f.dir, testrepo.Environ(f.dir)).Git(args...)
}

func (f *fixture) write(dir, name, text string) { edit{f.t, dir}.put(name, text) }

func (f *fixture) build(o tree.Options) *tree.Tree {
	f.t.Helper()
	return must((&tree.Builder{Repo: f.repo}).Build(f.t.Context(), "HEAD", filepath.Join(f.t.TempDir(), "tree"), o))
}

func (f *fixture) scan(built *tree.Tree) []decision.Change {
	f.t.Helper()
	return must(built.Scan(f.t.Context()))
}

// told is what a test says about changes: their kinds and why they are refused.
func told(changes []decision.Change) string {
	var list []string
	for _, c := range changes {
		list = append(list, c.Path+" "+cmp.Or(c.Refused, string(c.Kind)))
	}
	return strings.Join(list, ", ")
}

// edit is a tree that a test changes.
type edit struct {
	*testing.T
	dir string
}

func (e edit) path(name string) string { return filepath.Join(e.dir, name) }

func (e edit) put(name, text string) { testrepo.At(e, e.dir, nil).Write(map[string]string{name: text}) }

func (e edit) drop(name string)         { require.NoError(e, os.RemoveAll(e.path(name))) }
func (e edit) link(target, name string) { require.NoError(e, os.Symlink(target, e.path(name))) }
func (e edit) move(from, to string)     { require.NoError(e, os.Rename(e.path(from), e.path(to))) }

// agrees checks the candidate against what git itself makes of the files.
func (f *fixture) agrees(built *tree.Tree, changes []decision.Change) {
	f.t.Helper()
	for _, c := range changes {
		if c.Refused != "" {
			_, err := built.Candidate(f.t.Context(), changes)
			require.ErrorContains(f.t, err, c.Refused)
			return
		}
	}
	id := must(built.Candidate(f.t.Context(), changes))
	status := f.git("-c", "core.quotePath=true", "diff-tree", "-r", "--no-renames", "-z", "HEAD", id)
	var want, got []string
	for _, c := range changes {
		want = append(want, fmt.Sprintf("%06s %s", c.NewMode, c.Path))
	}
	fields := strings.Split(status, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		got = append(got, strings.Fields(fields[i])[1]+" "+fields[i+1])
	}
	assert.Equal(f.t, want, got)
}

func (f *fixture) read(dir, name string) string {
	f.t.Helper()
	return string(must(os.ReadFile(filepath.Join(dir, name))))
}

func (f *fixture) candidate(built *tree.Tree) string {
	f.t.Helper()
	return must(built.Candidate(f.t.Context(), f.scan(built)))
}

// shell runs a script in the tree, as an agent would.
func (e edit) shell(script string, environ ...string) string {
	e.Helper()
	cmd := exec.CommandContext(e.Context(), "sh", "-e", "-c", script)
	cmd.Dir = e.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.TempDir()}, environ...)
	out, err := cmd.CombinedOutput()
	require.NoError(e, err, "%s", out)
	return string(out)
}

// everything is the content of a directory, to tell that nothing in it changed.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		list[path] = entry.Type().String() + string(data)
		return err
	}))
	return list
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
