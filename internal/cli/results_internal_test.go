package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/render"
)

func TestFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results []render.Result
		onError bool
		says    string
	}{
		"nothing": {nil, true, ""},
		"an error that fails": {[]render.Result{{
			Program: "p", Iteration: 2, Outcome: history.Error,
			Reasons: decision.Says("a", "b"),
		}}, true, "iteration 2 of p ended in an error: a; b"},
		"unmeasurable": {
			[]render.Result{{Program: "p", BaselineError: "exit code 1"}},
			false,
			"p cannot be measured: exit code 1",
		},
	} {
		err := failed(c.results, c.onError)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, c.says, name)
	}
}

func TestWarningsAreSaidOnce(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b"},
		warnings([]render.Result{{Warnings: []string{"a", "b"}}, {Warnings: []string{"b", "a"}}}))
}
