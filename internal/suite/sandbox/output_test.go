package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// hostileOutputs is a sandbox whose agent left links, pipes and more in outputs/.
func hostileOutputs(t *testing.T) (*sandbox.Box, dir) {
	t.Helper()
	outside := newDir(t, map[string]string{"secret": "s\n"})
	box, in := open(t, newDir(t, map[string]string{"fixture.txt": "f\n", "outputs/given.txt": "given\n"}), nil)
	in.put("outputs/a.txt", "a\n", 0o644)
	in.put("outputs/deep/b.sh", "#!/bin/sh\n", 0o755)
	in.put("outputs/.git/config", "[core]\n", 0o644)
	in.link("a.txt", "outputs/inside")
	in.link("../fixture.txt", "outputs/beside")
	in.link(outside.at("secret"), "outputs/leak")
	in.link(outside.path, "outputs/leakdir")
	in.link("loop", "outputs/loop")
	in.link("none", "outputs/dangling")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", in.at("outputs/pipe")).Run())
	in.put("outputs/big", "", 0o644)
	require.NoError(t, os.Truncate(in.at("outputs/big"), 16<<20+1))
	return box, in
}

func TestOutputIsReadWithinItsDirectory(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	for name, want := range map[string]evals.Output{
		"a.txt":          {Exists: true, Data: []byte("a\n")},
		"given.txt":      {Exists: true, Data: []byte("given\n")},
		"deep/b.sh":      {Exists: true, Data: []byte("#!/bin/sh\n")},
		"inside":         {Exists: true, Data: []byte("a\n")},
		"none":           {},
		"deep/none":      {},
		"deep":           {Exists: true, Problem: "it is no regular file"},
		"pipe":           {Exists: true, Problem: "it is no regular file"},
		"big":            {Exists: true, Problem: "it has 16777217 bytes, more than 16777216"},
		"leak":           {Exists: true, Problem: "it cannot be looked at inside outputs/: path escapes from parent"},
		"beside":         {Exists: true, Problem: "it cannot be looked at inside outputs/: path escapes from parent"},
		"leakdir/secret": {Exists: true, Problem: "it cannot be looked at: path escapes from parent"},
		"../fixture.txt": {Exists: true, Problem: "it cannot be looked at: path escapes from parent"},
		"dangling":       {Exists: true, Problem: "it cannot be looked at inside outputs/: no such file or directory"},
		"loop": {
			Exists:  true,
			Problem: "it cannot be looked at inside outputs/: too many levels of symbolic links",
		},
	} {
		assert.Equal(t, want, box.Output(name), name)
	}

	require.NoError(t, os.RemoveAll(in.at("outputs")))
	assert.Equal(t, evals.Output{}, box.Output("a.txt"), "what was removed is not there")
	in.put("outputs", "a file", 0o644)
	assert.Equal(t, evals.Output{Problem: "it is no directory any more"}, box.Output("a.txt"))
	require.NoError(t, os.Remove(in.at("outputs")))
	in.link(newDir(t, map[string]string{"a.txt": "elsewhere"}).path, "outputs")
	assert.Equal(t, evals.Output{Problem: "it is no directory any more"}, box.Output("a.txt"), "a link is not followed")
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	assert.Equal(t, evals.Output{Problem: "the sandbox's directory was removed or exchanged"}, box.Output("a.txt"))
}

func TestKeptOutputs(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	to := filepath.Join(t.TempDir(), "kept")
	kept, left, err := box.KeepOutputs(t.Context(), to)
	require.NoError(t, err)
	assert.Equal(t, []sandbox.Kept{
		{Path: "a.txt", Size: 2},
		{Path: "big", Size: 16<<20 + 1},
		{Path: "deep/b.sh", Size: 10},
		{Path: "given.txt", Size: 6},
	}, kept)
	assert.Equal(t, 7, left, "six links and a pipe")
	assert.Equal(t, "-rw------- #!/bin/sh\n", dir{t, to}.has()["deep/b.sh"], "nothing that is kept can be run")
	assert.NotContains(t, dir{t, to}.has(), ".git/config")

	require.NoError(t, os.RemoveAll(in.at("outputs")))
	kept, left, err = box.KeepOutputs(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Zero(t, left)
}

// TestCheckOfRemovedOutputsFails, whatever its command says.
func TestCheckOfRemovedOutputsFails(t *testing.T) {
	t.Parallel()
	box, _ := open(t, newDir(t, nil), nil)
	why, err := box.Shell(t.Context(), 3, "true", time.Minute)
	require.NoError(t, err)
	assert.Contains(t, why, "outputs/: ")
}

func TestSandboxOfParts(t *testing.T) {
	t.Parallel()
	one, two := newDir(t, map[string]string{"a.txt": "1", "d/b.txt": "2", ".git/config": "no"}),
		newDir(t, map[string]string{"c.sh": "3", "task.json": "no"})
	require.NoError(t, os.Chmod(two.at("c.sh"), 0o755))
	part := func(at string, d dir) sandbox.Fixture {
		return sandbox.Fixture{
			At: at, Name: "part " + at, Dir: d.path,
			Leave: func(path string) bool { return path == "task.json" },
		}
	}
	compose := func(parts ...sandbox.Fixture) (*sandbox.Template, error) {
		return sandbox.Compose(t.Context(), filepath.Join(t.TempDir(), "x"), "sandbox", parts, nil,
			"outputs", "deep/er")
	}
	template, err := compose(part(".", one), part("skills/s", two))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a.txt": "1", "d/b.txt": "2", "skills/s/c.sh": "-rwxr-xr-x 3"},
		dir{t, template.Dir}.has())
	assert.DirExists(t, filepath.Join(template.Dir, "outputs"))
	assert.DirExists(t, filepath.Join(template.Dir, "deep", "er"))

	_, err = compose(part("x", one), part("x", newDir(t, map[string]string{"a.txt": "other"})))
	require.ErrorContains(t, err, `part x: copy "a.txt"`, "two parts have it")
	_, err = compose(part(".", newDir(t, map[string]string{"deep": "a file"})))
	require.ErrorContains(t, err, "make deep/er: ")
	_, err = compose(part("../x", one))
	require.Error(t, err, "nothing stands outside")
	linked := newDir(t, nil)
	linked.link("../a.txt", "up")
	_, err = compose(part(".", one), part("skills/s", linked))
	var refused *sandbox.PathError
	require.ErrorAs(t, err, &refused, "a part is as closed as the whole")
	assert.Contains(t, err.Error(), "leaves the sandbox")
	special := newDir(t, nil)
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", special.at("pipe")).Run())
	_, err = compose(part("s", special))
	require.ErrorAs(t, err, &refused)
}
