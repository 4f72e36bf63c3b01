package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewProgramOverwritesNothing(t *testing.T) {
	for _, there := range []string{
		".autoloop/programs/speed.md", ".autoloop/programs/speed/program.md",
		"autoloop-speed/settings.conf", "autoloop-speed/evaluate.sh",
	} {
		d := newDesk(t).repository()
		file := filepath.Join(d.root, there)
		d.write(file, "mine\n")
		a := d.iterate("init", "speed")
		assert.Equal(t, 2, a.code, there)
		assert.Contains(t, a.errors, "exists already; choose another name")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "mine\n", string(text))
		require.NoError(t, os.RemoveAll(filepath.Join(d.root, ".git")))
		found, err := filepath.Glob(filepath.Join(d.root, "*", "*"))
		require.NoError(t, err)
		assert.Len(t, found, 1, "nothing else was written")
	}
}

func TestNewProgramMisuse(t *testing.T) {
	d := newDesk(t).repository()
	for _, args := range [][]string{
		{"init", "a", "b"},
		{"init", "My Program"},
		{"init", ""},
		{"init", "../x"},
		{"init", "a.lock"},
	} {
		a := d.iterate(args...)
		assert.Equal(t, 2, a.code, args)
		assert.NotEmpty(t, a.errors)
	}
	assert.Contains(t, d.iterate("init", "My Program").errors, `rename it to "my-program"`)
	entries, err := os.ReadDir(d.root)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "there is .git alone")
}
