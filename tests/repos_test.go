package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// remoteWorld is a values world whose repository is a clone made with args of
// a bare remote.
func remoteWorld(t *testing.T, cloneArgs ...string) *world {
	t.Helper()
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7", "6")
	w.write("deep/dir/file.txt", "deep\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "second")
	remote := filepath.Join(w.side, "remote.git")
	w.run("", "git", "clone", "--quiet", "--bare", w.dir, remote)
	w.dir = filepath.Join(w.side, "clone")
	w.run("", append(append([]string{"git", "clone", "--quiet"}, cloneArgs...), "file://"+remote, w.dir)...)
	return w
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	w := remoteWorld(t, "--depth=1")
	require.Equal(t, "accepted", w.one().Outcome)
	// The default branch moves on: now the history has to be known.
	w.write("other.txt", "changed\n")
	w.git("commit", "--quiet", "--all", "--message", "third")
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Equal(t, "false", w.git("rev-parse", "--is-shallow-repository"))
	assert.Len(t, w.git("rev-list", "--merges", "autoloop/p"), 40, "the default branch was merged")
}

func TestSparseClone(t *testing.T) {
	t.Parallel()
	w := remoteWorld(t, "--sparse")
	w.git("sparse-checkout", "set", "--no-cone", "/value.txt", "/.autoloop/")
	before := w.checkout()
	require.Equal(t, "accepted", w.one().Outcome)
	assert.Equal(t, before, w.checkout())
	assert.Equal(t, "value.txt", w.git("diff", "--name-only", "main", "autoloop/p"), "what is not checked out is not deleted")
}

func TestLineEndings(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `grep -q "$(printf '\r')" src/crlf.txt && printf '4\r\n' > src/value.txt; printf 'one\r\ntwo\r\n' > src/crlf.txt`)
	w.write(".gitattributes", "src/*.txt text eol=crlf\n")
	w.write("src/crlf.txt", "one\r\n")
	w.write("eval.sh", `printf '{"m": %s}\n' "$(tr -d '\r' < src/value.txt)"`+"\n")
	w.git("add", "--all", "--renormalize")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "crlf")
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Equal(t, "one\ntwo", w.git("show", "autoloop/p:src/crlf.txt"), "the incumbent's attributes made the blob")
}

func TestLFSPointers(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `echo 4 > src/value.txt`)
	w.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	w.write("src/model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 5\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "pointer")
	for _, key := range []string{"clean", "smudge", "process"} {
		w.git("config", "filter.lfs."+key, "touch "+filepath.Join(w.side, "executed")+"; cat")
	}
	w.git("config", "filter.lfs.required", "true")
	require.NoError(t, os.RemoveAll(filepath.Join(w.side, "executed")))
	require.Equal(t, "accepted", w.one().Outcome)
	assert.NoFileExists(t, filepath.Join(w.side, "executed"), "a filter ran")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"), []byte("echo 3 > src/value.txt; echo changed > src/model.bin\n"), 0o600))
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, got.Reasons[0], `"src/model.bin": is under the filter lfs`)
}

func TestFileModeFalse(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `echo 4 > src/value.txt; chmod +x src/value.txt`)
	w.git("config", "core.fileMode", "false")
	require.Equal(t, "accepted", w.one().Outcome)
	assert.Contains(t, w.git("ls-tree", "autoloop/p", "src/value.txt"), "100755 blob")
}

func TestInheritedGitVariables(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8")
	other := newWorld(t, map[string]string{"a": "b"})
	refs := other.git("for-each-ref")
	plain := w.env
	w.env = append(append([]string{}, plain...),
		"GIT_DIR="+filepath.Join(other.dir, ".git"), "GIT_WORK_TREE="+other.dir, "GIT_INDEX_FILE="+filepath.Join(other.dir, "index"),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(other.dir, ".git/objects"), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true")
	got := w.one()
	w.env = plain
	assert.Equal(t, "accepted", got.Outcome)
	assert.Equal(t, refs, other.git("for-each-ref"))
	assert.Equal(t, "8", w.git("show", "autoloop/p:value.txt"))
}

func TestRepositoryOfAnotherOwner(t *testing.T) {
	t.Parallel()
	long.Root(t, "giving a repository to another owner")
	w := valuesWorld(t, "metric_direction: lower", "9", "8")
	require.NoError(t, filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 4711, 4711)
	}))
	for _, binary := range []string{"iterate", "scheduler"} {
		a := w.binary(binary, "--program", "p")
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, "git config --global --add safe.directory")
	}
}

func TestBranchesInTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"memory", "autoloop"} {
		w := valuesWorld(t, "metric_direction: lower", "9", "8")
		w.git("branch", name)
		a := w.binary("iterate", "--program", "p")
		assert.Equal(t, 1, a.code)
		assert.Contains(t, a.stderr, "the branch "+name+" is in the way of")
	}
}

func TestRepositoriesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	empty := filepath.Join(w.side, "empty")
	require.NoError(t, os.MkdirAll(filepath.Join(empty, ".autoloop/programs"), 0o755))
	w.dir = empty
	a := w.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "not a git repository")
	w.git("init", "--quiet", "--initial-branch=main")
	require.NoError(t, os.WriteFile(filepath.Join(empty, ".autoloop/programs/p.md"), []byte("## Target\n`a`\n## Evaluation\n```sh\necho 1\n```\n"), 0o600))
	a = w.binary("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "no commit yet")
}

func TestDetachedHead(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8")
	w.git("switch", "--quiet", "--detach")
	a := w.process("iterate", "--program", "p")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "--base")
	assert.Equal(t, "accepted", w.one("--base", "main").Outcome)
	assert.Equal(t, "rejected", w.one().Outcome, "the base is known from now on")
}
