// Package testrepo makes the git repositories of tests, for a user who has nothing of
// this machine's configuration.
package testrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Repo is a directory in which git works.
type Repo struct {
	t testing.TB
	// Dir is the directory, Env the user's environment.
	Dir string
	Env []string
}

// New makes a repository without a commit, on branch main, in a new directory.
func New(t testing.TB, flags ...string) *Repo {
	t.Helper()
	r := At(t, t.TempDir(), Environ(t.TempDir()))
	r.Git(append([]string{"init", "--quiet", "--template=", "--initial-branch=main"}, flags...)...)
	return r
}

// At is git in a directory that is there already.
func At(t testing.TB, dir string, env []string) *Repo { return &Repo{t: t, Dir: dir, Env: env} }

// Environ is the environment of a user with this home.
func Environ(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com",
		"GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com",
	}, more...)
}

// Git runs git and returns what it prints, without the last line's end.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.Try("", args...)
	require.NoError(r.t, err)
	return out
}

// Try runs git, which reads in and may fail: then its error has what it says.
func (r *Repo) Try(in string, args ...string) (string, error) {
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, strings.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// Write writes files, by their paths with forward slashes.
func (r *Repo) Write(files map[string]string) {
	r.t.Helper()
	for path, text := range files {
		path = filepath.Join(r.Dir, filepath.FromSlash(path))
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(r.t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// Commit commits all that is in the directory, and returns the commit.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.Git("rev-parse", "HEAD")
}
