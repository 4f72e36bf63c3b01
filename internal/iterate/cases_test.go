package iterate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/score"
)

func TestLostCases(t *testing.T) {
	t.Parallel()
	one, half := score.FromInt(1), score.MustValue("0.5")
	before := map[string]score.Value{"case.1": one, "case.10": one, "case.2": one, "case.3": half, "case.4": one, "size": one}
	now := map[string]score.Value{"case.1": half, "case.10": half, "case.3": half, "case.4": one}
	assert.Equal(t, []string{"1", "2", "10"}, lostCases(before, now))
	assert.Empty(t, lostCases(nil, now))
	assert.Empty(t, lostCases(before, before))
}

func TestTheSuiteIsPartOfTheEvaluator(t *testing.T) {
	t.Parallel()
	p := program.Parse("p.md", []byte("---\nskill: s\n---\n## Target\n`s/`\n"))
	r := &run{Service: &Service{Program: p}}
	hash := func(evals, skill string) string {
		found, err := r.identify([]git.Entry{{Path: "s/SKILL.md", ID: skill}, {Path: "s/evals/evals.json", ID: evals}})
		require.NoError(t, err)
		return found.Evaluator
	}
	assert.Equal(t, hash("a", "1"), hash("a", "2"))
	assert.NotEqual(t, hash("a", "1"), hash("b", "1"))
}
