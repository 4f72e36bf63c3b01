package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/actions"
)

func TestOutcomesArePainted(t *testing.T) {
	t.Parallel()
	env := Env{Terminal: true, Step: actions.Step{Getenv: func(string) string { return "" }}}
	for table, want := range map[string]string{
		"        7  kept  5": "        7  " + green + "kept" + plainColor + "  5",
		"7  2026-01-02 15:04  not kept  5  it is not kept": "7  2026-01-02 15:04  " + yellow + "not kept" + plainColor +
			"  5  it is not kept",
		"7  error\n8  waiting  kept back": "7  " + red + "error" + plainColor +
			"\n8  waiting  kept back",
		"regressed: 1\ngone  1 → 0  missing\nimproved  9": red + "regressed" + plainColor + ": 1\ngone  1 → 0  " + red +
			"missing" + plainColor + "\nimproved  9",
	} {
		assert.Equal(t, want, colored(env, table))
	}
	assert.Equal(t, "7  kept", colored(Env{}, "7  kept"), "no terminal")
}
