package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/long"
)

// TestTreesAreNoSiblings: who is not root finds no other tree of the run by looking
// around its own.
func TestTreesAreNoSiblings(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := agentProject(t, `d="$PWD"; for i in 1 2 3; do d=$(dirname "$d"); ls "$d"; done >> "$SIDE/seen" 2>&1 || true
find "$(dirname "$PWD")/../.." -name value.txt >> "$SIDE/found" 2>/dev/null || true; echo 4 > src/value.txt`)
	w.frontmatter("candidates: 3")
	a := w.asNobody("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	for _, file := range []string{"seen", "found"} {
		seen := readText(t, filepath.Join(w.side, file))
		assert.NotContains(t, seen, "value.txt", "no tree is found")
	}
	seen := readText(t, filepath.Join(w.side, "seen"))
	assert.Contains(t, seen, "ermission denied")
}

// TestRootIsToldWhatAnAgentCanDo: in the first line, also where isolation was
// turned off on purpose.
func TestRootIsToldWhatAnAgentCanDo(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := valuesProject(t, "", "5", "4")
	a := w.ok("iterate", "--program", "p")
	first, _, _ := strings.Cut(a.stderr, "\n")
	if os.Geteuid() == 0 {
		golden.Line(t, first)
	}
	a = w.asNobody("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stderr, "as root")
	w.isolated()
	a = w.binary("iterate", "--program", "p")
	assert.NotContains(t, a.stderr, "as root")
}
