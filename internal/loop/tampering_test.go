package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
)

// TestForeignChangesAreFound: configuration, hooks, the program's file and its branch end
// the iteration; other branches, and where nothing else reaches it the program's file,
// may be a person at work.
func TestForeignChangesAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line     string
		isolated bool
		ends     bool
	}{
		"a hook":                      {"hook pre-commit was changed", true, true},
		"its own branch":              {"ref refs/heads/autoloop/p moved from 1 to 2", true, true},
		"a branch with a longer name": {"ref refs/heads/autoloop/p2 was added", false, false},
		"the program":                 {"file .autoloop/programs/p.md was changed", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			j.Isolated = c.isolated
			r := &team{thread: threadOf(j)}
			touched := r.tampered([]string{c.line, "hook x was added", c.line}, "then")
			if c.ends {
				assert.Equal(t, []string{c.line, "hook x was added", c.line}, touched)
				assert.Empty(t, r.warnings)
			} else {
				assert.Equal(t, []string{"hook x was added"}, touched)
				assert.Equal(t, []string{"changed then: " + c.line, "changed then: " + c.line}, r.warnings)
			}
		})
	}
	j := journalOf(t, "")
	assert.Empty(t, (&team{thread: threadOf(j)}).tampered(nil, "then"))
}

// TestEvaluationChangesRepository: what measures writes to no repository, neither
// for the unchanged files nor for a candidate.
func TestEvaluationChangesRepository(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   string // whose evaluation
		does func(b *fixture)
		says string
	}{
		"of the unchanged files": {
			"1", func(b *fixture) { b.write(b.dir, map[string]string{".git/hooks/pre-commit": "x\n"}) },
			"the repository itself was changed while",
		},
		"of a candidate": {
			"3", func(b *fixture) { b.write(b.dir, map[string]string{".git/hooks/pre-commit": "x\n"}) },
			"the repository itself was changed while",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1", "1", "3")
			b.evaluating = func(dir string) {
				text, err := os.ReadFile(filepath.Join(dir, "value.txt"))
				require.NoError(t, err)
				if strings.TrimSpace(string(text)) == c.of {
					c.does(b)
				}
			}
			asked := 0
			propose := b.agent
			b.agent = func(request agent.Request) agent.Reply { asked++; return propose(request) }
			got := b.one()
			require.Equal(t, history.Error, got.Outcome)
			assert.Contains(t, got.Reasons[0].String(), c.says)
			assert.Equal(t, c.of == "1", asked == 0, "nobody works beside unchanged files that change the repository")
			assert.Equal(t, c.of == "1", b.records().sum.Best == nil)
			assert.Nil(t, got.Verdict)
		})
	}
}
