package memory_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/testrepo"
)

const (
	memoryRef = "refs/heads/memory/autoloop"
	branchRef = "refs/heads/autoloop/x"
)

// user is somebody who works with git.
type user = testrepo.Repo

// checkout is a user's clone or repository with its memory.
type checkout struct {
	*memory.Memory
	*user
	t testing.TB
}

// newCheckout is a repository with one commit on main and no remote.
func newCheckout(t testing.TB) *checkout {
	t.Helper()
	repo := testrepo.New(t)
	repo.Write(map[string]string{"a": "one\n"})
	repo.Commit("first")
	return open(t, repo, "")
}

// newShared is a bare repository with one commit, and a way to clone it.
func newShared(t testing.TB) (bare *user, clone func(flags ...string) *checkout) {
	t.Helper()
	seed := newCheckout(t)
	bare = testrepo.At(t, filepath.Join(t.TempDir(), "shared.git"), seed.Env)
	seed.Git("clone", "-q", "--bare", ".", bare.Dir)
	return bare, func(flags ...string) *checkout {
		t.Helper()
		repo := testrepo.At(t, t.TempDir(), seed.Env)
		repo.Git(append(append([]string{"clone", "-q"}, flags...), "file://"+bare.Dir, ".")...)
		return open(t, repo, "origin")
	}
}

// open is a repository with a memory of its own.
func open(t testing.TB, repo *user, remote string) *checkout {
	t.Helper()
	opened, err := git.Open(t.Context(), repo.Dir, repo.Env)
	require.NoError(t, err)
	at := time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)
	return &checkout{&memory.Memory{Repo: opened, Remote: remote, Now: func() time.Time { return at }}, repo, t}
}

// has is the value of a ref, or "".
func has(repo *user, ref string) string {
	out, _ := repo.Try("", "rev-parse", "--verify", "--quiet", ref)
	return out
}

func (c *checkout) has(ref string) string { return has(c.user, ref) }

// at puts refs to these commits, and removes those of "".
func at(t testing.TB, repo *user, refs map[string]string) {
	t.Helper()
	var in strings.Builder
	for ref, commit := range refs {
		if commit == "" {
			fmt.Fprintf(&in, "delete %s\n", ref)
		} else {
			fmt.Fprintf(&in, "update %s %s\n", ref, commit)
		}
	}
	_, err := repo.Try(in.String(), "update-ref", "--stdin")
	require.NoError(t, err)
}

// adding adds a line to the ledger: a setting of this name.
func adding(line string) func(memory.Files) (memory.Files, error) {
	return func(current memory.Files) (memory.Files, error) {
		log := current.Ledger.Copy()
		err := log.Append(&history.Set{Key: line})
		current.Ledger, current.State = log, []byte("state after "+line+"\n")
		return current, err
	}
}

// more is an update of a program that adds a line.
func more(program, line string) memory.Update {
	return memory.Update{Program: program, Message: line, Apply: adding(line)}
}

func (c *checkout) add(program, line string) string {
	c.t.Helper()
	commit, err := c.Update(c.t.Context(), more(program, line))
	require.NoError(c.t, err)
	return commit
}

// advance moves the branch of program x along with a line in the ledger.
func (c *checkout) advance(line, from, to string) error {
	update := more("x", line)
	update.Branch = &git.RefUpdate{Ref: branchRef, New: to, Old: from}
	_, err := c.Update(c.t.Context(), update)
	return err
}

// keys are the settings of a ledger.
func keys(log *history.Log) (keys []string) {
	for _, e := range history.Of[*history.Set](log.Events) {
		keys = append(keys, e.Key)
	}
	return keys
}

// ledger is the lines of a program's ledger.
func (c *checkout) ledger(program string) []string {
	c.t.Helper()
	files, _, err := c.Read(c.t.Context(), program)
	require.NoError(c.t, err)
	return keys(files.Ledger.Copy())
}

// commit makes a commit on top of the parents that no branch has.
func (c *checkout) commit(text string, parents ...string) string {
	c.t.Helper()
	args := []string{"commit-tree", "-m", text, "HEAD^{tree}"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return c.Git(args...)
}

// iteration is the text of the file of an iteration with these settings.
func iteration(number int, keys ...string) string {
	var lines []string
	for _, key := range keys {
		lines = append(lines, fmt.Sprintf(
			`{"schema":1,"event":"set","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":%d,"key":%q}`,
			number, key))
	}
	return fmt.Sprintf("{\"schema\":1,\"iteration\":%d,\"events\":[\n%s\n]}\n", number, strings.Join(lines, ",\n"))
}

// records are the program's records as its audit reads them.
func (c *checkout) records() audit.Records {
	c.t.Helper()
	records, err := c.Records(c.t.Context(), "p", "autoloop/p", nil)
	require.NoError(c.t, err)
	return records
}

// file has this text; one of "-> TARGET" is a link.
func file(text string) *git.File {
	if target, link := strings.CutPrefix(text, "-> "); link {
		return &git.File{Mode: git.ModeSymlink, Data: []byte(target)}
	}
	return &git.File{Data: []byte(text)}
}

// begin makes the memory branch one commit with these files, and returns it.
func (c *checkout) begin(texts map[string]string) string {
	c.t.Helper()
	files := map[string]*git.File{}
	for name, text := range texts {
		files[name] = file(text)
	}
	return c.atop(files)
}

// atop makes the memory branch a commit of these files, on top of the parents.
func (c *checkout) atop(files map[string]*git.File, parents ...string) string {
	c.t.Helper()
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	commit, err := c.Repo.CommitFiles(c.t.Context(), base, files, parents, "by hand\n", c.Now())
	require.NoError(c.t, err)
	c.Git("update-ref", memoryRef, commit)
	return commit
}
