package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

// watched is a test that notes that it failed.
type watched struct {
	testing.TB
	failed bool
}

func (w *watched) Errorf(string, ...any) { w.failed = true }

func TestLineFailsOnADifference(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("testdata", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join("testdata", "TestLineFailsOnADifference.txt"),
		[]byte("one\tas it\\nis\ntwo\tanother\n"), 0o600))
	for row, got := range map[string]string{"one": "as it\nis", "two": "another"} {
		t.Run(row, func(t *testing.T) {
			golden.Line(t, got)
			w := &watched{TB: t}
			golden.Line(w, got+" ")
			assert.True(t, w.failed)
		})
	}
}

func TestEqualFailsOnADifference(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("testdata", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join("testdata", "a.md"), []byte("as it is\n"), 0o600))
	for got, fails := range map[string]bool{"as it is\n": false, "as it is": true, "": true} {
		w := &watched{TB: t}
		golden.Equal(w, "a.md", got)
		assert.Equal(t, fails, w.failed, got)
	}
}
