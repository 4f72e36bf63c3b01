package program_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
)

// bodyOnly are the problems that ParseHead does not look for.
var bodyOnly = []string{
	"is not read: another comes closer", "not read as a target", "cannot be protected", "there are more than", "the text names two metrics",
	"does not say whether its files may change", "does not say which files may not change", "the text says that the metric", "is documentation", "is taken as output and not run", "to be read as markdown",
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		ordinary, "", "---\n", "---\n---\n", "\ufeff<!-- a -->\r\n---\r\nschedule: daily # x\r\n---\r\n## Goal\r\n", "---\nschedule: @daily\n---\n",
		"---\nguardrails:\n  - {metric: a, direction: lower, max-regression: 5%}\nbudget: {usd: 1, per: day}\n---\n",
		"Target\n===\n- `a`\n- b/c\n\nDo NOT modify `x`\n", "## Target\n- `a`\n\n##\n\n### \n- `b.c`\n", "lower is better TODO\n", "---\na: &a [*a]\n---\n", "---\nmetric: Null\nplateau: 'off'\n---\n# x\n```sh\na\n",
		"---\nmetric: a%b*c@d+e\nsetup: \"x y\" # z\ntarget-metric: -1.5\n---\n", "---\nmetric: REPLACE_WITH_X\n---\n", "<!-- AUTOLOOP:UNCONFIGURED -->",
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
		head := program.ParseHead(file, data)
		require.Equal(t, frontOf(whole), frontOf(head))
		require.Equal(t, frontProblems(whole), head.Problems)
	})
}

func frontProblems(p *program.Program) []program.Problem {
	var front []program.Problem
	for _, problem := range p.Problems {
		body := false
		for _, words := range bodyOnly {
			body = body || strings.Contains(problem.Message, words)
		}
		if !body {
			front = append(front, problem)
		}
	}
	return front
}
