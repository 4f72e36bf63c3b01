package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// unlike gives every run of the unchanged files another number.
func unlike(c call) evaluation.Result { return ran([]string{"1", "4", "2", "8", "5"}[c.number%5]) }

// TestBaselines: how often the unchanged files are measured, and what of it counts. The
// incumbent has 1, and its default branch has 3 where they differ: c is the default
// branch then.
func TestBaselines(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	for name, c := range map[string]struct {
		front   string
		ahead   bool // the incumbent has commits of its own
		runs    func(call) evaluation.Result
		sum     history.Summary
		base    string // the samples
		head    string
		count   int // of all runs
		noisy   bool
		warning string
		problem string
	}{
		"two alike": {runs: steady, base: "1 1", head: "1 1", count: 2},
		"two that differ": {
			runs: unlike, base: "8 5 1 4 2 8 5 1", head: "8 5 1 4 2 8 5 1", count: 10,
			noisy: true,
		},
		"several are asked for": {
			front: "evaluation-runs: 4", runs: steady, base: "1 1 1 1", head: "1 1 1 1", count: 6,
			noisy: true,
		},
		"it was noisy before": {
			runs: steady, sum: history.Summary{Noisy: true, Evaluator: "e"}, base: "1 1 1 1 1 1 1 1",
			head: "1 1 1 1 1 1 1 1", count: 10, noisy: true,
		},
		"a guardrail that varies": {
			front: guarded,
			runs:  func(c call) evaluation.Result { return ran("1", "size", []string{"7", "8"}[c.number%2]) },
			base:  "1 1 1 1 1 1 1 1", head: "1 1 1 1 1 1 1 1", count: 10, noisy: true,
		},
		"the default branch fails": {
			ahead: true, runs: spoiled(steady, "candidate", 0, failure), base: "1 1", head: "1 1", count: 3,
			warning: "the default branch cannot be measured,",
		},
		"it fails now and then": {
			runs: spoiled(unlike, "incumbent", 6, failure), count: 7,
			problem: "then on the unchanged files: exit code",
		},
		"noisy, and no time for it": {
			front: "timeout-minutes: 1", runs: unlike, count: 2,
			problem: "confirmation take 2 minutes (39 runs of",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, c.front, c.runs)
			r.records.Summary = c.sum
			if c.ahead {
				at.Base = l.git("rev-parse", "candidate")
			}
			found, err := r.measureBaseline(t.Context(), at)
			l.leavesNothing()
			assert.Len(t, l.calls, c.count)
			if c.warning == "" {
				assert.Empty(t, r.warnings)
			} else {
				require.Len(t, r.warnings, 1)
				assert.Contains(t, r.warnings[0], c.warning)
			}
			if c.problem != "" {
				var problem *endedError
				require.ErrorAs(t, err, &problem)
				assert.Contains(t, problem.Error(), c.problem)
				return
			}
			require.NoError(t, err)
			head := found[len(found)-1]
			assert.Equal(t, c.base, joined(found[0].Samples))
			assert.Equal(t, c.head, joined(head.Samples))
			assert.Equal(t, c.noisy, found[0].Noisy)
			assert.Equal(t, c.ahead, len(found) == 2)
		})
	}
}

// TestInvalidBaselines: a run that failed, that is not scored, without a guardrail's number
// or beyond the range.
func TestInvalidBaselines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		outcome evaluation.Result
	}{
		"a failure": {"", failure},
		"null":      {"", unscored},
		"a number, and why not": {
			"",
			evaluation.Result{Measurement: metric.Measurement{Metric: metricOf("1"), RejectedReason: "overlap"}},
		},
		"without a guardrail's number": {
			guarded, ran("1", "sizes", "2"),
		},
		"above the range": {
			"metric-range: [2, 9]", ran("9.1"),
		},
		"at the upper end of the range": {"metric-range: [2, 9]", ran("9.0")},
	} {
		m := &measurer{spending: &spending{journal: journalOf(t, c.front)}}
		golden.Row(t, name, decision.Text(m.unusable(c.outcome, sampled(m.Program.Guardrails, c.outcome))))
	}
}

const guarded = "guardrails:\n  - metric: size\n    direction: lower\n    max-regression: 5"

func joined(values []metric.Value) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.String())
	}
	return strings.Join(texts, " ")
}

// TestRepeatsOfABaselineTakeTurns: every round measures each commit once, in the trees
// in turn, and the default branch's alone are trusted with people's caches.
func TestRepeatsOfABaselineTakeTurns(t *testing.T) {
	t.Parallel()
	l, r, at := newTrialRepo(t).on(t, "evaluation-runs: 6\nsetup: make", swinging)
	at.Base = l.git("rev-parse", "candidate")
	_, err := r.measureBaseline(t.Context(), at)
	require.NoError(t, err)
	require.Len(t, l.calls, 2*2+6*2)
	dirs := map[string]map[string]int{"candidate": {}, "incumbent": {}}
	for i, c := range l.calls {
		dirs[c.side][c.request.Dir]++
		assert.Equal(t, c.side == "candidate", c.request.Trusted)
		assert.Equal(t, i < 4, c.request.Setup != "", "once in each tree")
		assert.Zero(t, c.request.ScriptTimeout, "the unchanged files have the program's limit")
		if i >= 4 && i%2 == 0 {
			assert.NotEqual(t, c.side, l.calls[i+1].side, "round %d", i/2-1)
		}
	}
	for side, of := range dirs {
		assert.Len(t, of, 2, side)
		for _, count := range of {
			assert.Equal(t, 1+3, count, side)
		}
	}
}

// TestLongestRunCounts when the repeats are compared with the time that there is.
func TestLongestRunCounts(t *testing.T) {
	t.Parallel()
	l, r, at := newTrialRepo(t).on(t, "evaluation-runs: 8\ntimeout-minutes: 10", func(c call) evaluation.Result {
		result := steady(c)
		result.Duration = map[string]time.Duration{"candidate": 20 * time.Second, "incumbent": time.Second}[c.side]
		return result
	})
	at.Base = l.git("rev-parse", "candidate")
	_, err := r.measureBaseline(t.Context(), at)
	require.ErrorContains(t, err, "(39 runs of 20 s)")
	assert.Len(t, l.calls, 4, "nothing is begun that cannot be finished")
}
