package sandbox_test

import (
	"os"
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
	outside := newDir(t, files{"secret": "s\n"})
	box, in := open(t, files{"fixture.txt": "f\n", "outputs/given.txt": "given\n"}, nil)
	in.put(files{
		"outputs/a.txt": "a\n", "outputs/deep/b.sh": "-rwxr-xr-x #!/bin/sh\n", "outputs/.git/config": "[core]\n",
		"outputs/inside": "-> a.txt", "outputs/beside": "-> ../fixture.txt", "outputs/leak": "-> " + outside.at("secret"),
		"outputs/leakdir": "-> " + outside.path, "outputs/loop": "-> loop", "outputs/dangling": "-> none",
		"outputs/pipe": "|", "outputs/big": "size 16777217",
	})
	return box, in
}

func TestOutputIsReadWithinItsDirectory(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	const outside, noFile = "it cannot be looked at inside outputs/: ", "it is no regular file"
	for name, want := range map[string]evals.Output{
		"a.txt":          {Data: []byte("a\n")},
		"given.txt":      {Data: []byte("given\n")},
		"deep/b.sh":      {Data: []byte("#!/bin/sh\n")},
		"inside":         {Data: []byte("a\n")},
		"deep":           {Problem: noFile},
		"pipe":           {Problem: noFile},
		"big":            {Problem: "it has 16777217 bytes, more than 16777216"},
		"leak":           {Problem: outside + "path escapes from parent"},
		"beside":         {Problem: outside + "path escapes from parent"},
		"leakdir/secret": {Problem: "it cannot be looked at: path escapes from parent"},
		"../fixture.txt": {Problem: "it cannot be looked at: path escapes from parent"},
		"dangling":       {Problem: outside + "no such file or directory"},
		"loop":           {Problem: outside + "too many levels of symbolic links"},
	} {
		want.Exists = true
		assert.Equal(t, want, box.Output(name), name)
	}
	assert.Empty(t, box.Output("none"))
	assert.Empty(t, box.Output("deep/none"))

	require.NoError(t, os.RemoveAll(in.at("outputs")))
	assert.Empty(t, box.Output("a.txt"), "what was removed is not there")
	elsewhere := newDir(t, files{"a.txt": "elsewhere"}).path
	for _, instead := range []string{"a file", "-> " + elsewhere} { // a link is not followed
		in.put(files{"outputs": instead})
		assert.Equal(t, evals.Output{Problem: "it is no directory any more"}, box.Output("a.txt"))
		require.NoError(t, os.Remove(in.at("outputs")))
	}
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	assert.Equal(t, evals.Output{Problem: "the sandbox's directory was removed or exchanged"}, box.Output("a.txt"))
}

func TestKeptOutputs(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	to := filepath.Join(t.TempDir(), "kept")
	kept, left, err := box.KeepOutputs(t.Context(), to)
	require.NoError(t, err)
	assert.Equal(t, []sandbox.Kept{{"a.txt", 2}, {"big", 16<<20 + 1}, {"deep/b.sh", 10}, {"given.txt", 6}}, kept)
	assert.Equal(t, 7, left, "six links and a pipe")
	assert.Equal(t, "-rw------- #!/bin/sh\n", dir{t, to}.has()["deep/b.sh"], "nothing that is kept can be run")
	assert.Len(t, dir{t, to}.has(), len(kept))

	require.NoError(t, os.RemoveAll(in.at("outputs")))
	kept, left, err = box.KeepOutputs(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Zero(t, left)
	why, err := box.Shell(t.Context(), 3, "true", time.Minute)
	require.NoError(t, err)
	assert.Contains(t, why, "outputs/: ", "a check of removed outputs fails, whatever its command says")
}
