package loop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestPullRequestIsDue: the branch is then better than the default branch, or a pull
// request is open. A baseline that is not recorded yet counts.
func TestPullRequestIsDue(t *testing.T) {
	t.Parallel()
	measured := func(values ...string) []*history.Measured {
		var list []*history.Measured
		for i, value := range values {
			list = append(list, &history.Measured{
				Role:   []decision.Side{history.Baseline, history.Incumbent}[i],
				Metric: metricOf(value),
			})
		}
		return list
	}
	for name, c := range map[string]struct {
		front        string
		lead         history.Lead
		baseline     []*history.Measured
		before, best string
		pull         *commands.Pull
		want         bool
	}{
		"a branch that is worse": {
			"", history.LeadOf(*metricOf("1"), *metricOf("5"), metric.Higher), nil, "1", "2",
			nil, false,
		},
		"a pull request is open": {
			"", history.LeadOf(*metricOf("1"), *metricOf("5"), metric.Higher), nil, "1", "2",
			&commands.Pull{Number: 8, Open: true}, true,
		},
		"lower is better, and it is worse": {
			"metric_direction: lower",
			history.Lead{},
			measured("1", "5"), "5", "4", nil,
			false,
		},
	} {
		text := strings.Replace(testProgram, "metric_direction: higher\n%s", c.front, 1)
		r := newMemoryRunOf(t, nil, "p", text).run
		r.records.Lead = c.lead
		if c.pull != nil {
			r.comments = &commands.Heard{Pull: c.pull}
		}
		p := &Proposal{
			Baseline: c.baseline,
			Decided:  &history.Decided{PreviousBest: metricOf(c.before), Best: metricOf(c.best)},
		}
		assert.Equal(t, c.want, r.promotes(p), name)
	}
}

// TestProposalWithoutDecision ends a run that its baseline ended, and no other.
func TestProposalWithoutDecision(t *testing.T) {
	t.Parallel()
	asked := &history.Measured{Metric: metricOf("1"), Evaluation: &history.Expense{}}
	for name, c := range map[string]struct {
		baseline []*history.Measured
		stopped  string
	}{
		"nothing":                      {nil, ""},
		"the baseline completed it":    {[]*history.Measured{asked}, "completed: x"},
		"a baseline that asked models": {[]*history.Measured{asked}, ""},
	} {
		r := newMemoryRun(t, "").run
		r.records.stopped = c.stopped
		err := r.enterNothing(r.records, &Proposal{Baseline: c.baseline})
		if c.baseline == nil {
			refused(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		golden.Row(t, name, r.records.stopped)
		assert.IsType(t, &history.Finished{}, r.records.log.Events[len(r.records.log.Events)-1], name)
	}
}

// TestBaselineOfBundle: it is needed, of these commits and of this evaluation, and its
// numbers are some that the program's own runs could have given.
func TestBaselineOfBundle(t *testing.T) {
	t.Parallel()
	const front = "metric-range: [0, 100]\nguardrails: [{metric: g, direction: higher, max-regression: 0}]"
	whole := func() *history.Measured {
		return &history.Measured{
			Role: history.Baseline, Metric: metricOf("5"), Samples: numbers("5", "5"),
			GuardrailSamples: map[string][]metric.Value{"g": numbers("1", "1")},
			Evaluator:        "e", Definition: "d", Reason: &decision.Reason{Kind: decision.Said, Words: "forged"},
		}
	}
	for name, c := range map[string]func(p *Proposal){
		"none":                    func(p *Proposal) { p.Baseline = nil },
		"of one commit, with two": func(*Proposal) {},
		"of another evaluation":   func(p *Proposal) { p.Baseline[0].Evaluator = "x" },
		"without samples":         func(p *Proposal) { p.Baseline[0].Samples = nil },
		"unsteady, and not noisy": func(p *Proposal) { p.Baseline[0].Samples = numbers("5", "6") },
		"unsteady, and noisy": func(p *Proposal) {
			p.Baseline[0].Samples, p.Baseline[0].Noisy = numbers("5", "6"), true
		},
		"one out of the range": func(p *Proposal) {
			p.Baseline[0].Samples, p.Baseline[0].Noisy = numbers("5", "-1"), true
		},
		"a guardrail in one of runs": func(p *Proposal) { p.Baseline[0].GuardrailSamples["g"] = numbers("1") },
	} {
		at := position{Head: "a", Base: "a", identity: identity{Evaluator: "e", Definition: "d"}}
		r := newMemoryRun(t, front).run
		p := &Proposal{
			Baseline: []*history.Measured{whole()},
			Decided:  &history.Decided{Outcome: history.Rejected},
		}
		c(p)
		if name == "of one commit, with two" {
			at.Head = "b"
		}
		err := r.verifyBaseline(at, p)
		refused(t, err, name)
		for _, e := range p.Baseline {
			assert.True(t, err != nil || decision.Text(e.Reason) == "first measurement",
				"why it was measured is found out here")
		}
	}
}

// TestOutcomeAndVerdictOfAProposal go together.
func TestOutcomeAndVerdictOfAProposal(t *testing.T) {
	t.Parallel()
	at := position{identity: identity{Evaluator: "e", Definition: "d"}}
	all := []state.Status{history.Accepted, history.Rejected, history.Inconclusive, history.Error}
	good := func(outcome state.Status, verdict decision.Verdict) *history.Decided {
		return &history.Decided{
			Outcome: outcome, Verdict: verdict, Metric: metricOf("3"), Evaluator: "e",
			Definition: "d",
		}
	}
	other := func(number int, outcome state.Status) *history.Proposed {
		return &history.Proposed{Decided: history.Decided{Proposal: number, Outcome: outcome}}
	}
	for name, c := range map[string]struct {
		decided  *history.Decided
		proposed []*history.Proposed
	}{
		"no decision": {nil, nil},
		"kept, and not better": {
			good(history.Accepted, decision.Neutral), nil,
		},
		"a fix as an iteration": {
			good(history.PendingCI, decision.Improved), nil,
		},
		"an error, compared": {
			&history.Decided{Outcome: history.Error, Verdict: "neutral"}, nil,
		},
		"of another evaluation": {
			&history.Decided{Outcome: history.Rejected, Evaluator: "x", Definition: "d"},
			nil,
		},
		"others were dropped": {
			good(history.Accepted, decision.Improved),
			[]*history.Proposed{
				other(1, history.Accepted), other(2, history.Rejected), other(3, history.Error),
				other(4, history.Inconclusive),
			},
		},
		"another is accepted too": {
			good(history.Accepted, decision.Improved),
			[]*history.Proposed{other(1, history.Accepted), other(2, history.Accepted)},
		},
	} {
		err := verifyOutcome(at, &Proposal{Decided: c.decided, Proposed: c.proposed}, all)
		refused(t, err, name)
	}
}

// TestVerdictOfSuite is held against its numbers.
func TestVerdictOfSuite(t *testing.T) {
	t.Parallel()
	r := newMemoryRun(t, "", decidedOnce()...).run // whose best is 3
	for name, c := range map[string]func(e *history.Decided, m *history.Measured){
		"better, and not kept": func(e *history.Decided, _ *history.Measured) { e.Outcome = history.Rejected },
		"not better": func(e *history.Decided, _ *history.Measured) {
			e.Outcome, e.Verdict, e.Best = history.Rejected, "neutral", metricOf("3")
		},
		"another best":               func(e *history.Decided, _ *history.Measured) { e.Best = metricOf("9") },
		"compared with another":      func(e *history.Decided, _ *history.Measured) { e.PreviousBest = metricOf("2") },
		"with a rule of single runs": func(e *history.Decided, _ *history.Measured) { e.Rule = &decision.Rule{} },
	} {
		e := &history.Decided{
			Outcome: history.Accepted, Verdict: "improved", Metric: metricOf("4"), Best: metricOf("4"),
			PreviousBest: metricOf("3"), Delta: "+1",
		}
		m := &history.Measured{Role: history.Candidate, Metric: metricOf("4")}
		c(e, m)
		golden.Row(t, name, verifySuiteDecision(r.records, &Proposal{Measured: []*history.Measured{m}}, e))
	}
	e := &history.Decided{Outcome: history.Rejected, Verdict: "neutral", Best: metricOf("3")}
	golden.Row(t, "nothing was measured", verifySuiteDecision(r.records, &Proposal{}, e))
}

// TestRepeatedBundle is shown to its end, since the run that recorded it may have been interrupted, and
// refused.
func TestRepeatedBundle(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		d := newMemoryRun(t, "", wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord),
			wasSet(history.Published, "bundle"), wasSet(history.IssueNumber, "7"))
		d.hub.down = down
		d.hub.say(commands.Pause, "not now")
		refused(t, d.again(t.Context(), "bundle", "run-1"), fmt.Sprintf("down=%t", down))
		assert.Equal(t, []bool{!down, !down}, []bool{d.hub.promoted > 0, d.hub.shown > 0})
		assert.False(t, d.written().machine.Paused, "commands are left to a later run")
	}
}

// TestRepeatedBundleThatWaits asks CI, under a start of its own.
func TestRepeatedBundleThatWaits(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	d := newAtCI(t, g, ids, "at-ci", "flow", "", time.Minute, wasSet(history.Published, "bundle"))
	require.NoError(t, d.write(t.Context(), "end", nil,
		adding(func(b *records) { b.add(&history.Finished{Outcome: history.PendingCI}) })))
	d.id, d.before, d.hub.ci = "later", noon, []ci.Result{green()}
	err := d.again(t.Context(), "older", "run-1")
	require.ErrorContains(t, err, "it was published before, by run run-1", "what waits is not its own")
	assert.Empty(t, d.hub.judged)
	result := d.cameTo(d.again(t.Context(), "bundle", "run-1"))
	assert.Equal(t, history.Accepted, result.Outcome)
	told := d.told()
	assert.Equal(t, "started", told[0])
	assert.Equal(t, []string{"decided", "heard-since=2026-01-02T12:00:00Z", "finished"}, told[len(told)-3:],
		"comments are left to a later run")
}

// TestChoresWithoutProposal: commands are applied, a conflict is recorded, and the start
// of this run is given back.
func TestChoresWithoutProposal(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := g.commit(t,
		commitSpec{name: "root", branch: "waits/root", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{name: "base", branch: "waits/base", parents: "root", files: map[string]string{"value.txt": "2\n"}},
		commitSpec{name: "own", branch: "autoloop/waits-command autoloop/waits-nothing autoloop/waits-away " +
			"autoloop/waits-start autoloop/waits-busy autoloop/waits-stale autoloop/waits-conflict " +
			"autoloop/waits-stale-conflict", parents: "root", files: map[string]string{"value.txt": "3\n"}},
	)
	start := func(run string) *history.Started {
		return &history.Started{
			Head:  history.Head{Run: run, Iteration: 2},
			Lease: &history.Lease{Host: "there", PID: 7, Until: noon.Add(time.Hour)},
		}
	}
	for _, c := range []struct {
		name   string
		base   string
		before []history.Event
		say    bool
		away   bool
		busy   bool
	}{
		{
			name: "waits-command", base: "root", say: true,
		},
		{
			name: "waits-start", base: "root", before: []history.Event{start("now")}, away: true,
		},
		{name: "waits-busy", base: "root", before: []history.Event{start("another")}, busy: true},
		{
			name: "waits-conflict", base: "base", away: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := wasDecided(1, history.Accepted, "3", ids["own"])
			d := newMemoryRunIn(t, g.Repo, c.name, "", append([]history.Event{wasMeasured("1"), first}, c.before...)...)
			d.Base = "waits/" + c.base
			if c.away {
				d.GitHub = nil
			}
			if c.say {
				d.hub.say(commands.Pause, "a holiday")
			}
			r := d.run
			r.joins = true
			err := r.chores(t.Context())
			if c.busy {
				var busy *endedError
				require.ErrorAs(t, err, &busy)
				assert.Empty(t, d.stored.messages)
				return
			}
			result := d.cameTo(err)
			golden.Line(t, []any{
				result.Outcome, result.Reasons, result.Stopped, d.told(), d.written().machine.Paused,
			})
			assert.Nil(t, d.written().Open, "no start stays open")
		})
	}
}

// TestPostponedIteration is put off by the service of an agent, as far as such a service
// asks for, and by nobody else.
func TestPostponedIteration(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1")
	until := b.clock.Add(time.Hour).Truncate(time.Second)
	b.agent = func(agent.Request) agent.Reply {
		return agent.Reply{Failure: &agent.Failure{Kind: agent.RateLimit, Message: "lat\x1b[31mer\n", RetryAt: &until}}
	}
	made := b.made()
	for name, fields := range map[string]map[string]any{
		"too long":       {"not_before": b.clock.Add(400 * 24 * time.Hour).Format(time.RFC3339)},
		"by no agent":    {"agent": ""},
		"another reason": {"reason": decision.Say("paused: CI is red")},
		"no reason":      {"reason": nil},
	} {
		b.refuses(t, edited(t, made, "postponed", fields), name)
	}
	hostile := decision.Reason{
		Kind:  decision.RateLimit,
		Words: "x\n::error::\x1b[2Jred\r\nx",
	} // until when is in the event
	result, err := b.service.Publish(t.Context(), edited(t, made, "postponed", map[string]any{"reason": hostile}))
	require.NoError(t, err)
	assert.Equal(t, history.Idle, result.Outcome)
	assert.Contains(
		t,
		result.Stopped,
		"(x ::error::red x); it resumes at "+until.UTC().Format(time.RFC3339),
		"in one line",
	)
	records := b.records()
	assert.Equal(t, until.UTC(), records.NotBefore.UTC())
	assert.Zero(t, records.Iteration, "it is no iteration")
	assert.Equal(t, history.Idle, b.one().Outcome, "and it waits")
}
