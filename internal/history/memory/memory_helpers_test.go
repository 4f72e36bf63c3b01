package memory_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
)

const memoryRef = "refs/heads/memory/autoloop"

// checkout is a user's clone or repository with its memory.
type checkout struct {
	*memory.Memory
	t   testing.TB
	env []string
	dir string

	output      string // what an evaluation prints, "" for the usual
	keepDetails int    // of how many iterations; 0 is all
}

func userEnv(t testing.TB) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com",
		"GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com",
	}
}

// newCheckout is a repository with one commit on main and no remote.
func newCheckout(t testing.TB) *checkout {
	t.Helper()
	c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "repo")}
	require.NoError(t, os.Mkdir(c.dir, 0o755))
	c.user("init", "-q", "-b", "main")
	c.write("a", "one\n")
	c.user("add", "-A")
	c.user("commit", "-q", "-m", "first")
	c.openMemory("")
	return c
}

// newShared is a bare repository with one commit, and a way to clone it.
func newShared(t testing.TB) (bare string, clone func(flags ...string) *checkout) {
	t.Helper()
	seed := newCheckout(t)
	bare = filepath.Join(t.TempDir(), "shared.git")
	seed.user("clone", "-q", "--bare", ".", bare)
	return bare, func(flags ...string) *checkout {
		t.Helper()
		c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "clone")}
		require.NoError(t, os.Mkdir(c.dir, 0o755))
		c.user(append(append([]string{"clone", "-q"}, flags...), "file://"+bare, ".")...)
		c.openMemory("origin")
		return c
	}
}

func (c *checkout) openMemory(remote string) {
	c.t.Helper()
	repo, err := git.Open(c.t.Context(), c.dir, c.env)
	require.NoError(c.t, err)
	at := time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)
	c.Memory = &memory.Memory{Repo: repo, Remote: remote, Now: func() time.Time { return at }}
}

func (c *checkout) run(dir string, args ...string) (string, error) { return c.say(dir, "", args...) }

// say is run with something to read.
func (c *checkout) say(dir, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, c.env, strings.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.New("git " + strings.Join(args, " ") + ": " + stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func (c *checkout) user(args ...string) string {
	c.t.Helper()
	out, err := c.run(c.dir, args...)
	require.NoError(c.t, err)
	return out
}

// has is the value of a ref here, or "".
func (c *checkout) has(ref string) string {
	out, err := c.run(c.dir, "rev-parse", "--verify", "--quiet", ref)
	if err != nil {
		return ""
	}
	return out
}

func (c *checkout) write(path, text string) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, path), []byte(text), 0o644))
}

// adding appends a line to the ledger.
func adding(line string) func(memory.Files) (memory.Files, error) {
	return func(current memory.Files) (memory.Files, error) {
		current.Ledger = append(bytes.Clone(current.Ledger), line+"\n"...)
		current.State = []byte("state after " + line + "\n")
		return current, nil
	}
}

func (c *checkout) add(program, line string) string {
	c.t.Helper()
	commit, err := c.Update(c.t.Context(), memory.Update{Program: program, Message: line, Apply: adding(line)})
	require.NoError(c.t, err)
	return commit
}

// ledger is the lines of a program's ledger.
func (c *checkout) ledger(program string) []string {
	c.t.Helper()
	files, _, err := c.Read(c.t.Context(), program)
	require.NoError(c.t, err)
	return strings.Fields(string(files.Ledger))
}

// commit makes a commit on top of the parents that no branch has.
func (c *checkout) commit(text string, parents ...string) string {
	c.t.Helper()
	args := []string{"commit-tree", "-m", text, "HEAD^{tree}"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return c.user(args...)
}

// checkoutState is everything of the user's that must stay as it is, bit by
// bit.
func (c *checkout) checkoutState() map[string]string {
	c.t.Helper()
	state := map[string]string{"status": c.user("status", "--porcelain=v2", "--branch")}
	for _, file := range []string{"HEAD", "index", "logs/HEAD", "logs/refs/heads/main", "config", "FETCH_HEAD", "ORIG_HEAD", "a"} {
		path := filepath.Join(c.dir, ".git", file)
		if file == "a" {
			path = filepath.Join(c.dir, file)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			data = []byte(err.Error())
		}
		state[file] = string(data)
	}
	return state
}
