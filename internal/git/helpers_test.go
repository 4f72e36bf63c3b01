package git_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/tests/testrepo"
)

// fixed is the time of every commit that a test makes.
var fixed = time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)

// fixture is a repository with one commit of the file a on branch main.
type fixture struct {
	*testrepo.Repo
	t    testing.TB
	repo *git.Repo
}

func newFixture(t testing.TB, initFlags ...string) *fixture {
	t.Helper()
	f := &fixture{Repo: testrepo.New(t, initFlags...), t: t}
	f.write("a", "one\n")
	f.Commit("first")
	f.repo = f.open(f.Dir)
	return f
}

func (f *fixture) open(dir string) *git.Repo {
	f.t.Helper()
	repo, err := git.Open(context.Background(), dir, f.Env)
	require.NoError(f.t, err)
	return repo
}

func (f *fixture) write(path, text string) { f.Write(map[string]string{path: text}) }

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

func (f *fixture) head() string { return f.Git("rev-parse", "HEAD") }

// clone clones the fixture with flags, by URL so that --depth counts, and opens
// the clone.
func (f *fixture) clone(flags ...string) *fixture {
	f.t.Helper()
	c := &fixture{Repo: testrepo.At(f.t, filepath.Join(f.t.TempDir(), "clone"), f.Env), t: f.t}
	f.Git(append(append([]string{"clone", "-q"}, flags...), "file://"+f.Dir, c.Dir)...)
	c.repo = c.open(c.Dir)
	return c
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
