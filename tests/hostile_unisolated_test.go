package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestRepositoryIsWatchedWhileMeasuring: without isolation, what code under
// test changes in the repository itself ends its iteration, and is not kept.
func TestRepositoryIsWatchedWhileMeasuring(t *testing.T) {
	for name, c := range map[string]struct{ run, says string }{
		"a hook": {
			`mkdir -p "$R/.git/hooks"; echo 'touch evil' > "$R/.git/hooks/pre-commit"`,
			"hooks/pre-commit was added",
		},
		"the configuration": {`printf '[core]\n\tpager = evil\n' >> "$R/.git/config"`, ".git/config was changed"},
		"the program file": {
			`sed -i 's/sh bench.sh/echo 0/' "$R/.autoloop/programs/p.md"`,
			".autoloop/programs/p.md was changed",
		},
		"its branch": {`git -C "$R" update-ref refs/heads/autoloop/p HEAD`, "ref refs/heads/autoloop/p was added"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := judged(t, "", judge,
				"cat > src/run.sh <<'END'\necho 4 > \"$TMPDIR/answer\"; R=\"$SIDE/../repo\"; "+c.run+"\nEND")
			a := w.binary("iterate", "--program", "p", "--json")
			require.Zero(t, a.code, a.stderr)
			got := w.decode(a.stdout)[0]
			assert.Equal(t, "error", got.Outcome)
			assert.Contains(t, strings.Join(got.Reasons, "\n"),
				"the repository itself was changed while")
			assert.Contains(t, strings.Join(got.Reasons, "\n"), c.says)
			assert.Nil(t, got.Commit)
			assert.Equal(t, 1, w.count("decided"))
			assert.NotContains(t, w.git("log", "--all", "--format=%s"), "Iteration 1")
		})
	}
}

// TestTreesAreNoSiblings: who is not root finds no other tree of the run by looking
// around its own.
func TestTreesAreNoSiblings(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := agentWorld(t, `d="$PWD"; for i in 1 2 3; do d=$(dirname "$d"); ls "$d"; done >> "$SIDE/seen" 2>&1 || true
find "$(dirname "$PWD")/../.." -name value.txt >> "$SIDE/found" 2>/dev/null || true; echo 4 > src/value.txt`)
	w.frontmatter("candidates: 3")
	a := w.asNobody("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	for _, file := range []string{"seen", "found"} {
		seen, err := os.ReadFile(filepath.Join(w.side, file))
		require.NoError(t, err)
		assert.NotContains(t, string(seen), "value.txt", "no tree is found")
	}
	seen, err := os.ReadFile(filepath.Join(w.side, "seen"))
	require.NoError(t, err)
	assert.Contains(t, string(seen), "ermission denied")
}

// TestRootIsToldWhatAnAgentCanDo: in the first line, also where isolation was
// turned off on purpose.
func TestRootIsToldWhatAnAgentCanDo(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := valuesWorld(t, "", "5", "4")
	a := w.binary("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	first, _, _ := strings.Cut(a.stderr, "\n")
	if os.Geteuid() == 0 {
		assert.Equal(t, "not isolated: as root, agent and evaluation can read and change every file and process of "+
			"this machine, and every secret on it: isolation is off", first)
	}
	a = w.asNobody("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stderr, "as root")
	w.isolated()
	a = w.binary("iterate", "--program", "p")
	assert.NotContains(t, a.stderr, "as root")
}
