package program_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

func TestSkillSuiteIsNoTarget(t *testing.T) {
	t.Parallel()
	p := program.Parse("p.md", []byte("---\nskill: s\nevals: more/cases.json\n---\n## Target\n`s/`, `more/*`\n"))
	require.NoError(t, p.Err())
	for path, suite := range map[string]bool{
		"s/SKILL.md": false, "s/evals/evals.json": true, "s/evals/files/a": true,
		"more/cases.json": true, "more/other.json": false, "s/evalsuite": false,
	} {
		assert.True(t, p.Targeted(path), path)
		assert.Equal(t, !suite, p.Allows(path), path)
		assert.Equal(t, suite, p.OfSuite(path), path)
	}
	p.ProtectInputs([]string{"s/in[1].txt", "s/evals/files/a", "docs/in.md"})
	assert.False(t, p.Allows("s/in[1].txt"))
	assert.True(t, p.Allows("s/in1.txt"), "a name is no pattern")
	assert.True(t, p.OfSuite("s/in[1].txt") && p.OfSuite("docs/in.md"))
	p.Resolve([]string{"s/in1.txt", "s/in[1].txt"})
	assert.False(t, p.Allows("s/in[1].txt"), "no word of a person")
	given := program.Parse("p.md", []byte("---\nskill: s\nprotect: [s/evals/]\ntarget: [s/, s/evals/evals.json]\n---\n"))
	assert.False(t, given.Allows("s/evals/evals.json"), "what a person protects too is as firm")
	assert.Equal(t, 3, p.Plateau)
	assert.Equal(t, "1", p.Target.String())
	metric := program.Parse("p.md", []byte("---\nmetric: m\n---\n## Target\n`s/`\n"))
	assert.False(t, metric.OfSuite("s/evals/evals.json"))
	assert.Error(t, program.Parse("p.md", []byte("---\nskill: s\ntarget-metric: 1.1\n---\n")).Err())
}
