package evalrun

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/testbox"
)

// ends is an agent that ends as it says, and takes a hundred tokens.
type ends struct {
	failure *agent.Failure
	err     error
	asked   agent.Request
}

func (*ends) Name() string { return "worker" }

func (e *ends) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	e.asked = r
	usage := metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}
	return agent.Reply{Usage: usage, Failure: e.failure, Secrets: process.NewMasker(nil, "login-4711")}, e.err
}

// TestHowAnAttemptEnds: what was used counts however it ends, what would fail anybody is no
// result, its reason hides every secret, and no sandbox is left.
func TestHowAnAttemptEnds(t *testing.T) {
	t.Parallel()
	failing := func(kind agent.FailureKind) *ends {
		return &ends{failure: &agent.Failure{Kind: kind, Message: "with login-4711\nand sk-very-secret-key"}}
	}
	const said = ": with *** and ***"
	for name, c := range map[string]struct {
		agent  *ends
		budget int64
		looks  error
		says   string // "" is a result
		what   suite.Failure
	}{
		"well":               {agent: &ends{}},
		"it crashes":         {agent: failing(agent.Crashed)},
		"a bound of its own": {agent: failing(agent.Budget)},
		"the budget": {
			agent: failing(agent.Budget), budget: 300, says: "case a: agent worker: budget" + said, what: suite.BudgetUsedUp,
		},
		"no login": {
			agent: failing(agent.Authentication), says: "case a: agent worker: authentication" + said,
			what: suite.LoginRefused,
		},
		"machinery that fails":      {agent: &ends{err: errors.New("our own fault")}, says: "case a: our own fault"},
		"what it left cannot be it": {agent: &ends{}, looks: errors.New("no room to look"), says: "no room to look"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			template, err := sandbox.Compose(t.Context(), filepath.Join(base, "template"), "x", nil, nil, "d")
			require.NoError(t, err)
			r := Runner{
				Model: "m", RunDir: filepath.Join(base, "run"), Masker: process.NewMasker(nil, "sk-very-secret-key"),
				Sandboxes: testbox.Maker(), Now: time.Now,
			}
			spent, looked := &Spending{Budget: Budget{Limit: metric.Limit{Tokens: c.budget}}}, false
			err = r.Try(t.Context(), spent, Attempt{
				Format: suite.Evals, Name: "case a", Box: "box", Agent: c.agent, From: template.Copy, Keep: base,
				Request: func(*sandbox.Box) agent.Request { return agent.Request{Env: []string{"B=2"}} },
				Look: func(box *sandbox.Box, _ agent.Reply) error {
					looked = true
					assert.DirExists(t, box.Dir)
					return c.looks
				},
			})
			assert.Equal(t, c.agent.err == nil, looked, "also at what one left that failed")
			used := spent.Used()
			assert.Equal(t, int64(100), *used.Tokens)
			assert.Equal(t, c.budget, c.agent.asked.Limit.Tokens, "what is left of the budget")
			assert.Equal(t, "m", c.agent.asked.Model)
			assert.Contains(t, c.agent.asked.Env, "B=2")
			assert.NoDirExists(t, filepath.Join(base, "run", "box"))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.says)
			none, is := errors.AsType[*NoResultError](err)
			require.Equal(t, c.what != "", is)
			assert.True(t, !is || none.What == c.what)
		})
	}
}
