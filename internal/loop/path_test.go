package loop

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/render"
)

// onePath are iterations with all that can become of them. The last iteration is
// the one that is looked at.
var onePath = []struct {
	name      string
	front     string
	value     string
	proposals []string
	agent     func(b *fixture, request agent.Request) agent.Reply
	outcome   state.Status
	reason    string
	kept      string // on the program branch afterwards, "" for no branch
	stopped   string
}{
	{
		name: "better again", value: "1", proposals: []string{"3", "5"}, outcome: history.Accepted,
		reason: "5 is better than 3", kept: "5",
	},
	{
		name: "a baseline at the target", front: "evaluation-runs: 1\ntarget-metric: 0", value: "1",
		proposals: []string{"2"},
		outcome:   history.Idle, stopped: "completed: target reached: 1",
	},
	{
		name: "the target is reached", front: "evaluation-runs: 1\ntarget-metric: 3", value: "1",
		proposals: []string{"3"},
		outcome:   history.Accepted, reason: "3 is better", kept: "3", stopped: "completed: target reached",
	},
	{
		name: "a guardrail", front: "guardrails:\n  - metric: g\n    direction: lower\n    max-regression: 0",
		value: `{"m": 1, "g": 1}`, proposals: []string{`{"m": 2, "g": 5}`}, outcome: history.Rejected,
		reason: "guardrail",
	},
	{
		name: "a candidate that fails", value: "1", proposals: []string{"fail"}, outcome: history.Rejected,
		reason: "the evaluation fails: it exits with 1",
	},
	{
		name: "a baseline that fails", value: "fail", proposals: []string{"1"}, outcome: history.Error,
		reason: "fails on the unchanged files",
	},
	{
		name: "several candidates", front: "evaluation-runs: 1\ncandidates: 3", value: "1", outcome: history.Accepted,
		reason: "4 is better than 1", kept: "4", agent: func(b *fixture, request agent.Request) agent.Reply {
			value := []string{"3", "4", "0"}[request.Proposal-1]
			b.write(request.Dir, map[string]string{"value.txt": value + "\n"})
			return agent.Reply{Summary: "try " + value}
		},
	},
	{
		name: "nothing changed", front: "evaluation-runs: 1", value: "1", outcome: history.Rejected,
		reason: "no change",
		agent: func(*fixture, agent.Request) agent.Reply {
			return agent.Reply{}
		},
	},
	{
		name: "outside the target", front: "evaluation-runs: 1", value: "1", outcome: history.Rejected,
		reason: "other.txt",
		agent: func(b *fixture, request agent.Request) agent.Reply {
			b.write(request.Dir, map[string]string{"value.txt": "9\n", "other.txt": "touched\n"})
			return agent.Reply{}
		},
	},
	{
		name: "an agent that fails", front: "evaluation-runs: 1", value: "1", outcome: history.Error,
		reason: "agent scripted failed (timeout): too slow", agent: func(*fixture, agent.Request) agent.Reply {
			return agent.Reply{Failure: &agent.Failure{Kind: agent.Timeout, Message: "too slow"}}
		},
	},
	{
		name: "a rate limit", front: "evaluation-runs: 1", value: "1", outcome: history.Idle,
		stopped: "service has a rate limit (later)", agent: func(b *fixture, _ agent.Request) agent.Reply {
			until := b.clock.Add(time.Hour)
			return agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "later", RetryAt: &until}}
		},
	},
}

// TestOnePath: in one job and in two an iteration comes to the same, and the
// events are the same.
func TestOnePath(t *testing.T) {
	t.Parallel()
	for _, c := range onePath {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := func() *fixture {
				b := newFixture(t, c.front, c.value, c.proposals...)
				if c.agent != nil {
					b.agent = func(request agent.Request) agent.Reply { return c.agent(b, request) }
				}
				return b
			}
			check := func(b *fixture, result render.Result, outcome state.Status) {
				assert.Equal(t, outcome, result.Outcome, "%v", result.Reasons)
				assert.Contains(t, strings.Join(decision.Texts(result.Reasons), "\n"), c.reason)
				if result.BaselineError != "" &&
					c.stopped == "" { // Run begins no further iteration, and Publish none at all
					result.Stopped = ""
				}
				assert.Contains(t, result.Stopped, c.stopped)
				assert.Equal(t, c.stopped == "", result.Stopped == "", result.Stopped)
				if c.kept != "" {
					assert.Equal(t, c.kept, b.kept())
				} else {
					assert.NotContains(t, b.refs(), "refs/heads/autoloop/")
				}
			}
			iterations := max(len(c.proposals), 1)

			whole := start()
			for range iterations - 1 {
				whole.one()
			}
			before := whole.refs()
			dry, err := whole.service.DryRun(t.Context())
			require.NoError(t, err)
			assert.Equal(t, before, whole.refs(), "a dry run writes nothing")
			if c.outcome != history.Idle {
				assert.Equal(t, history.DryRun, dry.Outcome)
				assert.Contains(t, strings.Join(decision.Texts(dry.Reasons), "\n"), c.reason,
					"a dry run decides the same")
				assert.Nil(t, dry.Commit)
			}
			check(whole, whole.one(), c.outcome)

			split := start()
			for range iterations - 1 {
				split.twoJobs()
			}
			before = split.refs()
			proposed, published := split.twoJobs()
			assert.Equal(t, c.outcome, proposed.Outcome)
			assert.NotEqual(t, before, split.refs())
			check(split, published, c.outcome)
			two := split.story()
			for i := range two { // What cannot be computed again is attributed to the job that says it.
				two[i] = unclaimed(two[i])
			}
			assert.Equal(t, whole.story(), two)
			assert.Equal(t, whole.records().Statuses(), split.records().Statuses())
		})
	}
}

// unclaimed is a line of the ledger whose reasons do not say that the proposing job gave them.
func unclaimed(line string) string {
	claim := regexp.MustCompile(`\{"because":\[((?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)\],"kind":"claimed"\}`)
	for claim.MatchString(line) {
		line = claim.ReplaceAllString(line, "$1")
	}
	return line
}
