package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
)

// TestPullRequestIsDue: the branch is then better than the default branch, or a pull
// request is open. A baseline that is not recorded yet counts.
func TestPullRequestIsDue(t *testing.T) {
	t.Parallel()
	measured := func(values ...string) []*history.Measured {
		var list []*history.Measured
		for i, value := range values {
			list = append(list, &history.Measured{
				Role:   []history.Role{history.Baseline, history.Incumbent}[i],
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
		r.records.sum.Lead = c.lead
		if c.pull != nil {
			r.comments = &commands.Heard{Pull: c.pull}
		}
		p := &proposal.Proposal{
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
		says     string // why it ends, "" for never
	}{
		"nothing":                   {nil, "", ""},
		"the baseline completed it": {[]*history.Measured{asked}, "completed: x", "completed: x"},
		"a baseline that asked models": {
			[]*history.Measured{asked},
			"",
			"budget: the baseline used what the proposing run may cost; propose again",
		},
	} {
		r := newMemoryRun(t, "").run
		r.records.stopped = c.stopped
		err := r.recorder.enterNothing(r.records, &proposal.Proposal{Baseline: c.baseline})
		if c.says == "" {
			var refused *proposal.RefusedError
			require.ErrorAs(t, err, &refused, name)
			assert.Equal(t, "it decides nothing", refused.Reason)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, c.says, r.records.stopped, name)
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
	alone := position{Head: "a", Base: "a", identity: identity{Evaluator: "e", Definition: "d"}}
	apart := position{Head: "b", Base: "a", identity: identity{Evaluator: "e", Definition: "d"}}
	for name, c := range map[string]struct {
		at     position
		change func(p *proposal.Proposal)
		says   string
	}{
		"none": {
			alone, func(p *proposal.Proposal) { p.Baseline = nil },
			"it has no baseline: first measurement",
		},
		"of one commit, with two": {apart, func(*proposal.Proposal) {}, "its baseline is not of these commits"},
		"of another evaluation": {
			alone, func(p *proposal.Proposal) { p.Baseline[0].Evaluator = "x" },
			"its baseline is of another evaluation",
		},
		"without samples": {
			alone, func(p *proposal.Proposal) { p.Baseline[0].Samples = nil },
			"its baseline has no samples",
		},
		"unsteady, and not noisy": {
			alone, func(p *proposal.Proposal) { p.Baseline[0].Samples = numbers("5", "6") },
			"its baseline has different samples, and is not noisy",
		},
		"unsteady, and noisy": {
			alone,
			func(p *proposal.Proposal) { p.Baseline[0].Samples, p.Baseline[0].Noisy = numbers("5", "6"), true }, "",
		},
		"one out of the range": {
			alone,
			func(p *proposal.Proposal) { p.Baseline[0].Samples, p.Baseline[0].Noisy = numbers("5", "-1"), true },
			"its baseline cannot be used: -1 is implausible",
		},
		"a guardrail in one of runs": {
			alone,
			func(p *proposal.Proposal) { p.Baseline[0].GuardrailSamples["g"] = numbers("1") },
			"it prints no number \"g\"",
		},
	} {
		r := newMemoryRun(t, front).run
		p := &proposal.Proposal{
			Baseline: []*history.Measured{whole()},
			Decided:  &history.Decided{Outcome: history.Rejected},
		}
		c.change(p)
		err := r.recorder.verifyBaseline(c.at, p)
		requireRefusal(t, err, c.says, name)
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
	all := []history.Outcome{history.Accepted, history.Rejected, history.Inconclusive, history.Error}
	good := func(outcome history.Outcome, verdict decision.Verdict) *history.Decided {
		return &history.Decided{
			Outcome: outcome, Verdict: verdict, Metric: metricOf("3"), Evaluator: "e",
			Definition: "d",
		}
	}
	other := func(number int, outcome history.Outcome) history.Event {
		return &history.Proposed{Proposal: number, Outcome: outcome}
	}
	for name, c := range map[string]struct {
		decided  *history.Decided
		measured []history.Event
		outcomes []history.Outcome
		says     string
	}{
		"no decision": {nil, nil, all, ""},
		"kept, and not better": {
			good(history.Accepted, decision.Neutral), nil, all,
			"it is accepted without an improvement",
		},
		"a fix as an iteration": {
			good(history.PendingCI, decision.Improved), nil, all,
			`its outcome is "pending-ci", which no proposal of its kind has`,
		},
		"an error, compared": {
			&history.Decided{Outcome: history.Error, Verdict: "neutral"}, nil, all,
			"its outcome is an error with a verdict",
		},
		"of another evaluation": {
			&history.Decided{Outcome: history.Rejected, Evaluator: "x", Definition: "d"},
			nil, all, "it was measured by another evaluation",
		},
		"others were dropped": {
			good(history.Accepted, decision.Improved),
			[]history.Event{
				other(1, history.Accepted), other(2, history.Rejected), other(3, history.Error),
				other(4, history.Inconclusive),
			},
			all, "",
		},
		"another is accepted too": {
			good(history.Accepted, decision.Improved),
			[]history.Event{other(1, history.Accepted), other(2, history.Accepted)},
			all,
			`its proposal 2 is "accepted", and another decides`,
		},
	} {
		err := verifyOutcome(at, &proposal.Proposal{Decided: c.decided, Measured: c.measured}, c.outcomes...)
		requireRefusal(t, err, c.says, name)
		assert.Less(t, len(fmt.Sprint(err)), 250, name)
	}
}

// TestVerdictOfSuite is held against its numbers.
func TestVerdictOfSuite(t *testing.T) {
	t.Parallel()
	r := newMemoryRun(t, "", decidedOnce()...).run // whose best is 3
	for name, c := range map[string]struct {
		change func(e *history.Decided, m *history.Measured)
		says   string
	}{
		"better, and not kept": {
			func(e *history.Decided, _ *history.Measured) { e.Outcome = history.Rejected },
			"contradict each other",
		},
		"not better": {func(e *history.Decided, _ *history.Measured) {
			e.Outcome, e.Verdict, e.Best = history.Rejected, "neutral", metricOf("3")
		}, ""},
		"another best": {
			func(e *history.Decided, _ *history.Measured) { e.Best = metricOf("9") },
			"contradict each other",
		},
		"compared with another": {
			func(e *history.Decided, _ *history.Measured) { e.PreviousBest = metricOf("2") },
			"its delta is not that of its metrics",
		},
		"with a rule of single runs": {
			func(e *history.Decided, _ *history.Measured) { e.Rule = &decision.Rule{} },
			"it was decided by another rule",
		},
	} {
		e := &history.Decided{
			Outcome: history.Accepted, Verdict: "improved", Metric: metricOf("4"), Best: metricOf("4"),
			PreviousBest: metricOf("3"), Delta: "+1",
		}
		m := &history.Measured{Role: history.Candidate, Metric: metricOf("4")}
		c.change(e, m)
		err := verifySuiteDecision(r.records, &proposal.Proposal{Measured: []history.Event{m}}, e)
		if c.says == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.says, name)
		}
	}
	e := &history.Decided{Outcome: history.Rejected, Verdict: "neutral", Best: metricOf("3")}
	require.ErrorContains(t, verifySuiteDecision(r.records, &proposal.Proposal{}, e),
		"its metric is not what was measured", "nothing was measured")
}
