package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/program"
)

func TestSuiteIsPartOfEvaluator(t *testing.T) {
	t.Parallel()
	p := program.Parse("p.md", []byte("---\nskill: s\n---\n## Target\n`s/`\n"))
	r := &journal{session: &session{Service: &Service{Program: p}}}
	hash := func(evals, skill string) string {
		found, err := r.identify([]git.TreeEntry{
			{Path: "s/SKILL.md", ID: skill},
			{Path: "s/evals/evals.json", ID: evals},
		})
		require.NoError(t, err)
		return found.Evaluator
	}
	assert.Equal(t, hash("a", "1"), hash("a", "2"))
	assert.NotEqual(t, hash("a", "1"), hash("b", "1"))
}
