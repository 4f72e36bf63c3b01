package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
)

// TestALedgerOfANewerVersion has a head with a schema that this version does not know:
// every command that reads the ledger says so, none shows a number of it, and nothing is
// written.
func TestALedgerOfANewerVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, place string }{
		"the open segment": {"p.jsonl", "segment 5"}, "a sealed segment": {"p.ledger/000002.jsonl", "segment 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := longWorld(t, 300)
			bundle := filepath.Join(w.side, "bundle")
			a := w.binary("iterate", "propose", "--program", "p", "--out", bundle)
			require.Zero(t, a.code, a.stdout+a.stderr)
			text := w.memory(test.file)
			require.True(t, strings.HasPrefix(text, `{"schema":2,"event":"segment"`), "%.60s", text)
			repo, err := git.Open(t.Context(), w.dir, os.Environ())
			require.NoError(t, err)
			newer := &git.File{Data: []byte(strings.Replace(text, `"schema":2`, `"schema":3`, 1))}
			tree, err := repo.WriteFiles(t.Context(), "memory/autoloop", map[string]*git.File{test.file: newer, "p.ledger/checkpoint.json": nil})
			require.NoError(t, err)
			w.git("update-ref", "refs/heads/memory/autoloop", w.git("commit-tree", "-m", "newer", "-p", "memory/autoloop", tree))
			wanted := test.place
			head := w.git("rev-parse", "memory/autoloop")
			for _, test := range []struct {
				args []string
				code int
			}{
				{[]string{"scheduler"}, 0},           // other programs run
				{[]string{"scheduler", "status"}, 0}, // and are shown
				{[]string{"scheduler", "prune", "--history", "p", "--keep", "10", "--yes"}, 1},
				{[]string{"iterate", "--program", "p"}, 1},
				{[]string{"iterate", "replay", "p"}, 1},
				{[]string{"iterate", "log", "p"}, 1},
				{[]string{"iterate", "page", "--out", filepath.Join(w.side, "page.html")}, 1},
				{[]string{"iterate", "publish", bundle}, 1},
			} {
				a := w.binary(test.args[0], test.args[1:]...)
				said := a.stdout + a.stderr
				assert.Equal(t, test.code, a.code, said)
				assert.Contains(t, said, "it has schema 3 and this version of Autoloop knows 2: update Autoloop", test.args)
				assert.Equal(t, strings.Contains(said, "segment"), strings.Contains(said, wanted), said)
				assert.NotContains(t, said, "disagree", test.args)
				assert.Equal(t, head, w.git("rev-parse", "memory/autoloop"), test.args)
			}
			assert.NoFileExists(t, filepath.Join(w.side, "page.html"))
		})
	}
}
