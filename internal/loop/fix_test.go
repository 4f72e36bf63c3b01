package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestFixesThatDoNotHelp: an attempt that runs out of time, changes nothing or makes the
// number worse is a failed one, with what it used. The candidate stays what it is until five
// have failed.
func TestFixesThatDoNotHelp(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3")
	f := onGitHub(t, b)
	f.ci = []ci.Result{waiting()}
	require.Equal(t, history.PendingCI, b.one().Outcome)
	candidate := b.git("rev-parse", "autoloop/p")
	failure := red("build", "error: x")

	run := b.start()
	at, err := run.branches.positionOf(t.Context(), *run.records.standing().Decision)
	require.NoError(t, err)
	assert.Equal(t, []string{b.git("rev-parse", "main"), candidate, candidate}, []string{at.Head, at.Old, at.From},
		"it is measured against the incumbent, and begins with the candidate")
	late, err := run.team.attemptFix(t.Context(), at, failure, time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, []string{"the time of the iteration is up"}, decision.Texts(late.Reasons))

	f.ci = []ci.Result{failure}
	calls := 0
	b.agent = func(request agent.Request) agent.Reply {
		assert.Contains(t, request.Prompt, "error: x", "it is told what CI said")
		if calls++; calls == 2 {
			b.write(request.Dir, map[string]string{"value.txt": "0\n"})
		}
		return agent.Reply{Summary: "try", Usage: metric.Usage{CostUSD: metricOf("1")}}
	}
	result := b.one()
	assert.Equal(t, history.CIFixExhausted, result.Outcome)
	assert.Contains(t, result.Stopped, "ci-fix-exhausted: "+failure.Signature())
	assert.Equal(t, "1", b.kept())
	assert.Equal(t, candidate, b.git("rev-parse", "autoloop-failed/p/1"))
	var problems []string
	for _, e := range history.Of[*history.Checked](b.records().log.Events) {
		problems = append(problems, decision.Text(e.Failed))
		assert.Equal(t, []string{candidate, failure.Signature(), "1"}, []string{
			e.Commit, e.Signature,
			e.Usage.CostUSD.String(),
		})
	}
	require.Len(t, problems, maxFixes)
	assert.Contains(t, problems[0], "no change proposed")
	assert.Contains(t, problems[1], "0 is worse than the best 1")
	b.replays()
}
