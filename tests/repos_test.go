package tests

import (
	"os"
	"path/filepath"
	"strings"
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
	assert.Equal(t, "value.txt", w.git("diff", "--name-only", "main", "autoloop/p"),
		"what is not checked out is not deleted")
}

func TestLineEndings(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `grep -q "$(printf '\r')" src/crlf.txt && printf '4\r\n' > src/value.txt; printf `+
		`'one\r\ntwo\r\n' > src/crlf.txt`)
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
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"),
		[]byte("echo 3 > src/value.txt; echo changed > src/model.bin\n"), 0o600))
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome)
	assert.Contains(t, got.Reasons[0], `"src/model.bin": is under the filter lfs`)
}

func TestInheritedGitVariables(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "metric_direction: lower", "9", "8")
	other := newWorld(t, map[string]string{"a": "b"})
	refs := other.git("for-each-ref")
	plain := w.env
	w.env = append(append([]string{}, plain...),
		"GIT_DIR="+filepath.Join(other.dir, ".git"), "GIT_WORK_TREE="+other.dir,
		"GIT_INDEX_FILE="+filepath.Join(other.dir, "index"),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(other.dir, ".git/objects"), "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.bare",
		"GIT_CONFIG_VALUE_0=true")
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

// TestOddRepositories: in each an iteration works, or ends in a line that says why not.
func TestOddRepositories(t *testing.T) {
	t.Parallel()
	const script = "value=$(cat value.txt); printf '{\"m\": %s}' \"$value\"\n"
	for name, c := range map[string]struct {
		change func(w *world)
		code   int
		says   []string // on standard error; none where the iteration is kept
	}{
		"a branch memory": {
			func(w *world) { w.git("branch", "memory") }, 1,
			[]string{"the branch memory is in the way of"},
		},
		"a branch autoloop": {
			func(w *world) { w.git("branch", "autoloop") }, 1,
			[]string{"the branch autoloop is in the way of"},
		},
		"bare":            {func(w *world) { w.clone("--bare") }, 1, []string{"a bare repository has no files"}},
		"alternates":      {func(w *world) { w.clone("--shared") }, 0, nil},
		"a partial clone": {func(w *world) { w.clone("--filter=blob:none") }, 0, nil},
		"a linked path": {func(w *world) {
			link := filepath.Join(w.side, "a link")
			require.NoError(w.t, os.Symlink(w.dir, link))
			w.dir = link
		}, 0, nil},
		"a work tree": {func(w *world) {
			w.git("worktree", "add", "--quiet", filepath.Join(w.side, "work"), "-b", "other")
			w.dir = filepath.Join(w.side, "work")
		}, 0, nil},
		"the program's branch in a work tree": {func(w *world) {
			w.git("worktree", "add", "--quiet", filepath.Join(w.side, "work"), "-b", "autoloop/p")
		}, 1, []string{"branch autoloop/p is checked out in", "check out another branch there"}},
		"CR in the program": {
			func(w *world) { w.write(valuesFile, strings.ReplaceAll(w.read(valuesFile), "\n", "\r\n")) }, 0,
			nil,
		},
		"CR in a script": {func(w *world) {
			w.write("eval.sh", strings.ReplaceAll("set -e\n"+script, "\n", "\r\n"))
			w.evaluate("sh ./eval.sh")
		}, 1, []string{"line 1 of ./eval.sh ends with CR"}},
		"a submodule": {
			func(w *world) { w.submodule(); w.evaluate("test -f lib/code.txt; test ! -e lib/.git; " + script) },
			0, nil,
		},
		"a submodule that is not checked out": {func(w *world) {
			w.submodule()
			w.evaluate("test -f lib/code.txt; " + script)
			w.git("submodule", "--quiet", "deinit", "--force", "lib")
		}, 1, []string{`submodules: "lib": not checked out`, "git submodule update --init"}},
		"a target in a submodule": {func(w *world) {
			w.submodule()
			w.write(valuesFile, strings.Replace(w.read(valuesFile), "`value.txt`", "`lib/code.txt`", 1))
		}, 2, []string{"the target `lib/code.txt` lies in `lib`, which is a submodule"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := valuesWorld(t, "metric_direction: lower", "9", "8")
			c.change(w)
			if w.run(w.dir, "git", "rev-parse", "--is-bare-repository") == "false" {
				w.git("add", "--all")
				w.git("commit", "--quiet", "--allow-empty", "--message", "odd")
			}
			a := w.binary("iterate", "--program", "p", "--base", "main")
			assert.Equal(t, c.code, a.code, a.stderr)
			for _, line := range c.says {
				assert.Contains(t, a.stderr, line)
			}
			if c.says == nil {
				assert.Equal(t, "8", w.git("show", "autoloop/p:value.txt"))
			}
		})
	}
}

// valuesFile is the program of a valuesWorld.
const valuesFile = ".autoloop/programs/p.md"

// clone goes on in a clone.
func (w *world) clone(args ...string) {
	w.t.Helper()
	made := filepath.Join(w.side, "clone")
	w.run("", append(append([]string{"git", "clone", "--quiet"}, args...), "file://"+w.dir, made)...)
	w.dir = made
}

// submodule adds the submodule lib with a file.
func (w *world) submodule() {
	w.t.Helper()
	lib := newWorld(w.t, map[string]string{"code.txt": "code\n"})
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+lib.dir, "lib")
}

// evaluate gives the program another evaluation.
func (w *world) evaluate(script string) {
	w.t.Helper()
	text := w.read(valuesFile)
	before, rest, found := strings.Cut(text, "```sh\n")
	_, after, ended := strings.Cut(rest, "\n```")
	require.True(w.t, found && ended, text)
	w.write(valuesFile, before+"```sh\n"+strings.TrimSuffix(script, "\n")+"\n```"+after)
}

func TestRepositoriesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	empty := filepath.Join(w.side, "empty")
	require.NoError(t, os.MkdirAll(filepath.Join(empty, ".autoloop/programs"), 0o755))
	w.dir = empty
	a := w.binary("iterate", "--program", "p")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "not a git repository")
	w.git("init", "--quiet", "--initial-branch=main")
	require.NoError(t, os.WriteFile(filepath.Join(empty, ".autoloop/programs/p.md"),
		[]byte("## Target\n`a`\n## Evaluation\n```sh\necho 1\n```\n"), 0o600))
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
