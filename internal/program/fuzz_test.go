package program_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		ordinary, "", "---\n", "---\n---\n", "\ufeff<!-- a -->\r\n---\r\nschedule: daily # x\r\n---\r\n## Goal\r\n",
		"---\nschedule: @daily\n---\n",
		"---\nguardrails:\n  - {metric: a, direction: lower, max-regression: 5%}\nbudget: {usd: 1, per: day}\n---\n",
		"Target\n===\n- `a`\n- b/c\n\nDo NOT modify `x`\n", "## Target\n- `a`\n\n##\n\n### \n- `b.c`\n",
		"lower is better TODO\n", "---\na: &a [*a]\n---\n", "---\nmetric: Null\nplateau: 'off'\n---\n# x\n```sh\na\n",
		"---\nmetric: a%b*c@d+e\nsetup: \"x y\" # z\ntarget-metric: -1.5\n---\n", "---\nmetric: REPLACE_WITH_X\n---\n",
		"<!-- AUTOLOOP:UNCONFIGURED -->",
		"# Evaluation\n```\n\n0",
	} {
		f.Add([]byte(seed))
	}
	if example, err := os.ReadFile("../../programs/function-minimization/program.md"); err == nil {
		f.Add(example)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := program.Parse(file, data)
		require.Equal(t, whole, program.Parse(file, data), "parsing is deterministic")
		lines := 1 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
		for _, problem := range whole.Problems {
			require.GreaterOrEqual(t, problem.Line, 0)
			require.LessOrEqual(t, problem.Line, lines)
			require.NotContains(t, problem.String(), "\n")
			require.NotContains(t, problem.String(), "\r")
		}
		for _, pattern := range append(whole.Targets, whole.Protected...) {
			require.LessOrEqual(t, pattern.Line, lines)
			pattern.Match("a/b.go")
		}
	})
}
