package tests

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSkillPatchAppliesWhateverChanged has a version that differs from the
// original in one way for each name, and applies the report's patch with git.
func TestSkillPatchAppliesWhateverChanged(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names that are not UTF-8 need Linux")
	}
	long := strings.Repeat("the same line\n", 50)
	w := newWorld(t, map[string]string{
		"s/SKILL.md": "# s\n", "s/evals/evals.json": evalSuite(2, 2), "s/no end": "one\ntwo", "s/gets an end": "one", "s/emptied": "x\n", "s/empty, goes": "",
		"s/old name": long, "s/binary goes": "\x00\x01", "s/becomes binary": "text\n", "s/binary becomes text": "\x00", "s/becomes a link": "x\n", "s/becomes a directory": "x\n",
		"s/becomes a file/in it": "x\n", "s/run": "#!/bin/sh\n", "s/run too": "#!/bin/sh\n", "s/crlf\r\n": "a\r\nb\r\n", "s/ leads and trails ": "x\n", "s/-rf": "x\n",
		"s/caf\xe9\n\"'\\\t": "\xff\xfe\n", "s/a/b/c/d": "x\n", "s/--- a": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n",
	})
	next := filepath.Join(w.dir, "next")
	require.Zero(t, w.binary("iterate", "skill", "snapshot", "s", ws+"/v0").code)
	w.run("", "cp", "-a", filepath.Join(w.dir, "s"), next)
	for name, text := range map[string]string{
		"no end": "one\n2", "gets an end": "one\n", "emptied": "", "new name": long, "empty": "", "becomes binary": "\x00", "binary becomes text": "text",
		"crlf\r\n": "a\r\nc\r\n", " leads and trails ": "y\n", "-rf": "y\n", "caf\xe9\n\"'\\\t": "\xff\xff", "--- a": "--- a/y\n+++ b/x\n@@ -1 +1 @@\n-y\n", "binary": "\x00\xff",
		"diff --git a/x b/x": "x\n", "b/a b/b": "x\n",
	} {
		w.write("next/"+name, text)
	}
	for _, name := range []string{"old name", "binary goes", "becomes a link", "becomes a directory", "becomes a file", "empty, goes", "a"} {
		require.NoError(t, os.RemoveAll(filepath.Join(next, name)))
	}
	w.write("next/becomes a directory/with this", "x\n")
	w.write("next/becomes a file", "x\n")
	w.write("next/run too", "#!/bin/sh\nexit\n")
	require.NoError(t, os.Symlink("SKILL.md", filepath.Join(next, "becomes a link")))
	require.NoError(t, os.Symlink("no\nwhere \xff", filepath.Join(next, "dangles")))
	for _, name := range []string{"run", "run too", "empty"} {
		require.NoError(t, os.Chmod(filepath.Join(next, name), 0o755))
	}
	a := w.binary("iterate", "skill", "snapshot", "next", ws+"/v1")
	require.Zero(t, a.code, a.stderr)
	w.write(ws+"/results.tsv", trajectory)
	for _, format := range []string{"", "--json"} {
		a := w.binary("iterate", append([]string{"log", ws}, strings.Fields(format)...)...)
		require.Zero(t, a.code, a.stderr)
	}
	a = w.binary("iterate", "log", ws, "--diff")
	require.Zero(t, a.code, a.stderr)
	patch := filepath.Join(w.side, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(a.stdout), 0o600))
	w.git("apply", "--directory=s", patch)
	assert.Equal(t, state(t, next), state(t, filepath.Join(w.dir, "s")))
}
