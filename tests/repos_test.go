package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	assert.Contains(t, got.Reasons[0], `"src/model.bin": is under the filter`)
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
		"bare": {func(w *world) { w.clone("--bare") }, 1, []string{"a bare repository has no files"}},
		"a work tree": {func(w *world) {
			w.git("worktree", "add", "--quiet", filepath.Join(w.side, "work"), "-b", "other")
			w.dir = filepath.Join(w.side, "work")
		}, 0, nil},
		"the program's branch in a work tree": {func(w *world) {
			w.git("worktree", "add", "--quiet", filepath.Join(w.side, "work"), "-b", "autoloop/p")
		}, 1, []string{"branch autoloop/p is checked out in", "check out another branch there"}},
		"CR in a script": {func(w *world) {
			w.write("eval.sh", strings.ReplaceAll("set -e\n"+script, "\n", "\r\n"))
			w.evaluate("sh ./eval.sh")
		}, 1, []string{"line 1 of ./eval.sh ends with CR"}},
		"a submodule": {
			func(w *world) { w.submodule(); w.evaluate("test -f lib/code.txt; test ! -e lib/.git; " + script) },
			0, nil,
		},
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
