package testrepo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/testrepo"
)

func TestRepoHasWhatWasCommitted(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	r := testrepo.New(t)
	r.Write(map[string]string{"a/b.txt": "one\n", "c": "two\n"})
	first := r.Commit("first")
	assert.Equal(t, "a/b.txt\nc", r.Git("ls-tree", "-r", "--name-only", first))
	assert.Equal(t, "main User first", r.Git("log", "--format=%D %an %s", "--decorate=short")[len("HEAD -> "):])
	assert.NotEqual(t, first, r.Commit("nothing changed"))
	_, err := r.Try("", "rev-parse", "--verify", "nobody")
	require.ErrorContains(t, err, "fatal")
	hash, err := r.Try("text", "hash-object", "--stdin")
	require.NoError(t, err)
	assert.Len(t, hash, 40)
}
