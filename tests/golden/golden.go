// Package golden compares what a test made with the file of testdata that says what it
// is to be.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// Equal fails a test whose result is not what the file of that name in its testdata has.
// With -update the file is written, for somebody to read what is different.
func Equal(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file) //nolint:gosec // A file of the test's.
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
