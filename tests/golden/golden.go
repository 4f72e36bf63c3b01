// Package golden compares what a test made with the file of testdata that says what it
// is to be.
package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// Updating reports whether golden files are written, not compared.
func Updating() bool { return *update }

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

// Line is a text of a subtest: its line in testdata/TEST.txt says what it is to be.
func Line(t testing.TB, got any) {
	t.Helper()
	Row(t, "", got)
}

var rows sync.Mutex // held while a file of rows is read or written

// Row is a text of a row of a table that has no subtest of its own.
func Row(t testing.TB, row string, value any) {
	t.Helper()
	rows.Lock()
	defer rows.Unlock()
	test, subtest, _ := strings.Cut(t.Name(), "/")
	row = strings.ReplaceAll(strings.Trim(subtest+"/"+row, "/"), "\n", `\n`)
	file := filepath.Join("testdata", test+".txt")
	data, err := os.ReadFile(file) //nolint:gosec // A file of the test's.
	lines := map[string]string{}
	for line := range strings.Lines(string(data)) {
		row, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		lines[row] = text
	}
	got := strings.ReplaceAll(fmt.Sprint(value), "\n", `\n`)
	if !*update {
		require.NoError(t, err)
		require.Contains(t, lines, row)
		assert.Equal(t, lines[row], got, row)
		return
	}
	lines[row] = got
	var text strings.Builder
	for _, row := range slices.Sorted(maps.Keys(lines)) {
		text.WriteString(row + "\t" + lines[row] + "\n")
	}
	require.NoError(t, os.MkdirAll("testdata", 0o750))
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
}
