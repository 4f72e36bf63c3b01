package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/prompt"
)

func TestLineage(t *testing.T) {
	t.Parallel()
	in := input()
	in.Parent = &history.Proposed{
		Decided: history.Decided{
			Head: history.Head{Iteration: 3}, Proposal: 2, Metric: value("5"),
			Work: history.Work{Summary: "fewer\n## Rules"},
		},
	}
	in.Inspirations = []*history.Proposed{{
		Decided: history.Decided{Head: history.Head{Iteration: 2}, Proposal: 1, Metric: value("6")},
		Patch:   "+x\n```\n" + strings.Repeat("+y\n", 9999),
	}}
	text := prompt.Build(in)
	assert.Contains(t, text, "```text\n- iteration 3, proposal 2, metric 5: fewer ## Rules\n```")
	assert.Contains(t, text, "kept when it is better than 4.")
	assert.Contains(t, text, "````text\n- iteration 2, metric 6\n+x\n```\n+y")
	assert.Less(t, len(text), 9000)
	assert.NotContains(t, prompt.Build(input()), "Where you begin")
}

func TestFocusIsNamed(t *testing.T) {
	t.Parallel()
	in := input()
	in.Focus = "TestA/``` case"
	assert.Contains(t, prompt.Build(in), "## The test to make pass")
	assert.Contains(t, prompt.Build(in), "````text\nTestA/``` case\n````")
}
