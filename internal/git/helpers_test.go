package git_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// fixed is the time of every commit that a test makes.
var fixed = time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)

// userEnv is a user's environment without configuration of this machine's.
func userEnv(t testing.TB) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com",
		"GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// user runs git as the user would, and returns what it prints.
func user(t testing.TB, env []string, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), stderr.String())
	return strings.TrimSuffix(string(out), "\n")
}

// fixture is a repository with one commit of the file a on branch main.
type fixture struct {
	t    testing.TB
	env  []string
	dir  string
	repo *git.Repo
}

func newFixture(t testing.TB, initFlags ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "repo")}
	f.user2(filepath.Dir(f.dir), append([]string{"init", "-q", "-b", "main"}, append(initFlags, f.dir)...)...)
	f.write("a", "one\n")
	f.user("add", "-A")
	f.user("commit", "-q", "-m", "first")
	f.repo = f.open(f.dir)
	return f
}

func (f *fixture) open(dir string) *git.Repo {
	f.t.Helper()
	repo := must(git.Open(context.Background(), dir, f.env))
	return repo
}

func (f *fixture) user(args ...string) string {
	f.t.Helper()
	return user(f.t, f.env, f.dir, args...)
}

func (f *fixture) user2(dir string, args ...string) string {
	f.t.Helper()
	return user(f.t, f.env, dir, args...)
}

func (f *fixture) write(path, text string) {
	f.t.Helper()
	path = filepath.Join(f.dir, filepath.FromSlash(path))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o644))
}

// commit makes a commit of one more file on top of the parents, on no branch.
func (f *fixture) commit(path, text string, parents ...string) string {
	f.t.Helper()
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	tree := must(f.repo.WriteFiles(f.t.Context(), base, map[string]*git.File{path: {Data: []byte(text)}}))
	commit := must(f.repo.CommitTree(f.t.Context(), tree, parents, "add "+path+"\n", fixed))
	return commit
}

func (f *fixture) head() string { return f.user("rev-parse", "HEAD") }

// clone clones the fixture with flags, by URL so that --depth counts, and opens
// the clone.
func (f *fixture) clone(flags ...string) *fixture {
	f.t.Helper()
	dir := filepath.Join(f.t.TempDir(), "clone")
	f.user2(filepath.Dir(dir), append(append([]string{"clone", "-q"}, flags...), "file://"+f.dir, dir)...)
	c := &fixture{t: f.t, env: f.env, dir: dir}
	c.repo = c.open(dir)
	return c
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
