package tree_test

import (
	"context"
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
	f.git("init", "--quiet", "--initial-branch=main")
	for name, text := range files {
		f.write(f.dir, name, text)
	}
	f.git("add", "--all")
	for _, name := range ignored {
		f.git("add", "--force", name)
	}
	f.git("commit", "--quiet", "--message", "start")
	repo, err := git.Open(context.Background(), f.dir, os.Environ())
	require.NoError(t, err)
	f.repo = repo
	return f
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "git", args...)
	cmd.Dir = f.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=U",
		"GIT_COMMITTER_EMAIL=u@example.com",
	}
	out, err := cmd.CombinedOutput()
	require.NoError(f.t, err, "git %v: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}

func (f *fixture) write(dir, name, text string) {
	f.t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.WriteFile(file, []byte(text), 0o600))
}

func (f *fixture) build(o tree.Options) *tree.Tree {
	f.t.Helper()
	built, err := (&tree.Builder{Repo: f.repo}).Build(f.t.Context(), "HEAD", filepath.Join(f.t.TempDir(), "tree"), o)
	require.NoError(f.t, err)
	return built
}

func (f *fixture) scan(built *tree.Tree) []decision.Change {
	f.t.Helper()
	changes, err := built.Scan(f.t.Context())
	require.NoError(f.t, err)
	return changes
}

// told is what a test says about a change: its kind and why it is refused.
func told(changes []decision.Change) map[string]string {
	list := map[string]string{}
	for _, c := range changes {
		list[c.Path] = string(c.Kind)
		if c.Refused != "" {
			list[c.Path] = c.Refused
		}
	}
	return list
}

// edit is a tree that a test changes.
type edit struct {
	*testing.T
	dir string
}

func (e edit) path(name string) string { return filepath.Join(e.dir, name) }

func (e edit) put(name, text string) {
	require.NoError(e, os.MkdirAll(filepath.Dir(e.path(name)), 0o755))
	require.NoError(e, os.WriteFile(e.path(name), []byte(text), 0o600))
}

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
	id, err := built.Candidate(f.t.Context(), changes)
	require.NoError(f.t, err)
	status := f.git("diff-tree", "-r", "--no-renames", "--name-only", "-z", "HEAD", id)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	assert.Equal(f.t, strings.Join(paths, "\x00"), strings.TrimSuffix(status, "\x00"))
}

func (f *fixture) read(dir, name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(f.t, err)
	return string(data)
}

func (f *fixture) candidate(built *tree.Tree) string {
	f.t.Helper()
	id, err := built.Candidate(f.t.Context(), f.scan(built))
	require.NoError(f.t, err)
	return id
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
