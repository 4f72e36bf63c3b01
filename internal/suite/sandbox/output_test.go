package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/golden"
)

// hostileOutputs is a sandbox whose agent left links, pipes and more in outputs/.
func hostileOutputs(t *testing.T) (*sandbox.Box, dir) {
	t.Helper()
	outside := newDir(t, files{"secret": "s\n"})
	box, in := open(t, files{"fixture.txt": "f\n", "outputs/given.txt": "given\n"}, nil)
	in.put(files{
		"outputs/a.txt":       "a\n",
		"outputs/deep/b.sh":   "-rwxr-xr-x #!/bin/sh\n",
		"outputs/.git/config": "[core]\n",
		"outputs/inside":      "-> a.txt",
		"outputs/beside":      "-> ../fixture.txt",
		"outputs/leak":        "-> " + outside.at("secret"),
		"outputs/leakdir":     "-> " + outside.path,
		"outputs/loop":        "-> loop",
		"outputs/dangling":    "-> none",
		"outputs/pipe":        "|",
		"outputs/big":         "size 16777217",
	})
	return box, in
}

func TestOutputIsReadWithinItsDirectory(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	said := func(row, name string) {
		t.Helper()
		var all []string
		for _, kind := range []suite.CheckKind{suite.OutputExists, suite.OutputNotExists, suite.OutputContains} {
			passed, evidence := looked(t, box, "outputs", suite.Check{Kind: kind, File: name, Text: "a"}, "")
			all = append(all, fmt.Sprint(passed, ": ", evidence))
		}
		golden.Row(t, row, strings.Join(all, "; "))
	}
	for name := range strings.FieldsSeq("a.txt given.txt deep/b.sh inside deep pipe big leak beside leakdir/secret " +
		"../fixture.txt dangling loop none deep/none") {
		said(name, name)
	}
	require.NoError(t, os.RemoveAll(in.at("outputs")))
	said("of what was removed", "a.txt")
	elsewhere := newDir(t, files{"a.txt": "elsewhere"}).path
	for row, instead := range map[string]string{"of a file": "a file", "by a link": "-> " + elsewhere} {
		in.put(files{"outputs": instead})
		said(row, "a.txt")
		require.NoError(t, os.Remove(in.at("outputs")))
	}
	require.NoError(t, os.Rename(box.Dir, box.Dir+"-moved"))
	said("of another sandbox", "a.txt")
}

func TestKeptOutputs(t *testing.T) {
	t.Parallel()
	box, in := hostileOutputs(t)
	to := filepath.Join(t.TempDir(), "kept")
	kept, left, err := box.KeepOutputs(t.Context(), to)
	require.NoError(t, err)
	sizes := map[string]int64{}
	for _, e := range kept {
		sizes[e.Path] = e.Size
	}
	assert.Equal(t, map[string]int64{"a.txt": 2, "big": 16<<20 + 1, "deep/b.sh": 10, "given.txt": 6}, sizes)
	assert.Equal(t, 7, left, "six links and a pipe")
	assert.Equal(t, "-rw------- #!/bin/sh\n", dir{t, to}.has()["deep/b.sh"], "nothing that is kept can be run")
	assert.Len(t, dir{t, to}.has(), len(kept))

	require.NoError(t, os.RemoveAll(in.at("outputs")))
	kept, left, err = box.KeepOutputs(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, kept)
	assert.Zero(t, left)
	passed, evidence := looked(t, box, "outputs", command("true"), "")
	assert.False(t, passed)
	assert.Contains(t, evidence, "outputs/: ", "a check of removed outputs fails, whatever its command says")
}
