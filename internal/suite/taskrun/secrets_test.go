package taskrun_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/taskrun"
)

const login = "login-of-the-agent-4711"

// leaky is an agent that writes down what it logs in with.
type leaky struct{ agent.Agent }

func (leaky) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	return agent.Reply{Summary: "used " + login, Secrets: process.NewMasker(nil, login)},
		os.WriteFile(filepath.Join(r.Dir, "out.txt"), []byte("after "+login+"\n"), 0o600)
}

// TestLoginOfAgent is in nothing that is kept of its work, and shown to no judge.
func TestLoginOfAgent(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]object{"a": {
		"judgeRubric": object{"criteria": "is it good?"},
		"checks": []object{
			after(),
			{"kind": "command", "cmd": "cat out.txt >&2; exit 1"},
			{"kind": "diffContains", "substring": login},
		},
	}})
	o := &opinion{score: func(judge.Work) float64 { return 0.5 }}
	found, err := w.compare(t.Context(), "", func(options *taskrun.Options) {
		options.Grader, options.Runs = o, 1
		options.Agents = func(string) (agent.Agent, error) { return leaky{&agent.Command{}}, nil }
	})
	require.NoError(t, err)
	require.Len(t, o.cases, 2)
	for _, c := range o.cases {
		assert.Contains(t, c.Diff, "+after ***")
		assert.Equal(t, "used ***", c.Words)
		require.Len(t, c.Checks, 3)
		assert.True(t, c.Checks[0].Passed)
		assert.Equal(t, "exit code 1: after ***", c.Checks[1].Detail)
		assert.True(t, c.Checks[2].Passed, "a check looks at what was written")
	}
	run := found.Candidate.Scores[0].Runs[0]
	assert.NotContains(t, read(t, run.Diff), login)
	assert.NotContains(t, read(t, filepath.Join(filepath.Dir(run.Diff), "result.json")), "after "+login)
	assert.NotContains(t, taskrun.Failures(found.Candidate), "after "+login)
}
