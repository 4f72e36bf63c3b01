package testdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/testdir"
)

func TestDirectoryHasWhatWasPut(t *testing.T) {
	t.Parallel()
	files := testdir.Files{
		"a/b":       "text",
		"a/run.sh":  "-rwxr-x--- echo",
		"read":      "-r--r--r-- only",
		"link":      "-> a/b",
		"lost":      "-> /nowhere",
		"pipe":      "|",
		"empty/er/": "",
		"zeros":     "size 3",
		"new\nline": "",
	}
	dir := testdir.New(t, files)
	files["zeros"] = "\x00\x00\x00"
	assert.Equal(t, files, testdir.Has(t, dir))
	testdir.Put(t, dir, testdir.Files{"a/b": "over it", "a/run.sh": "over that"})
	info, err := os.Lstat(filepath.Join(dir, "a", "run.sh"))
	require.NoError(t, err)
	assert.Equal(t, "-rw-r--r--", info.Mode().String())
	assert.Equal(t, "over it", testdir.Has(t, dir)["a/b"])
}
