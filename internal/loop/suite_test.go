package loop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// playedSuite is a suite that runs nothing.
type playedSuite struct {
	result Suited
	err    error
	// touches, optional, is called with the trees of a run.
	touches func(dirs ...string)
	calls   []string // the text of value.txt of each tree
	limit   metric.Limit
}

func (s *playedSuite) Run(_ context.Context, limit metric.Limit, dirs ...string) (Suited, error) {
	var values []string
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "value.txt"))
		if err != nil {
			return Suited{}, err
		}
		values = append(values, strings.TrimSpace(string(text)))
	}
	s.calls, s.limit = append(s.calls, strings.Join(values, " ")), limit
	if s.touches != nil {
		s.touches(dirs...)
	}
	return s.result, s.err
}

// expense is so much of what models used.
func expense(tokens int64, usd string) *history.Expense {
	e := &history.Expense{}
	e.Add(&tokens, metricOf(usd))
	return e
}

// TestSuiteDecides by its own verdict, and not by the metric.
func TestSuiteDecides(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	one, three := metricOf("1"), metricOf("3")
	forged := func(dirs ...string) { shared.write(dirs[1], map[string]string{"other.txt": "forged\n"}) }
	for name, c := range map[string]struct {
		result   Suited
		touches  func(dirs ...string)
		best     *metric.Value
		measured bool
	}{
		"better": {
			Suited{
				Incumbent: one, Candidate: three, Verdict: decision.Improved,
				Reasons: []string{"more tasks pass", "none is lost"},
			},
			nil,
			three, true,
		},
		"a fault": {
			Suited{Problem: "no task is left", Unfinished: "and more"},
			nil,
			nil, false,
		},
		"not to its end": {
			Suited{Unfinished: "the judge does not answer"},
			nil,
			nil, false,
		},
		"a better one, by a forger": {
			Suited{Incumbent: one, Candidate: three, Verdict: decision.Improved},
			forged,
			nil, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "", nil)
			suite := &playedSuite{result: c.result, touches: c.touches}
			suite.result.Output, suite.result.Expense = "task 2 fails", expense(7, "0.5")
			r.Suite, r.records.Best, r.iteration = suite, metricOf("2"), 4
			a, err := l.trial(r, at)
			require.NoError(t, err)
			golden.Line(t, []any{a.Outcome, a.Reasons})
			assert.Equal(t, c.result.Noisy, a.Noisy)
			assert.Equal(t, []string{"1 3"}, suite.calls, "once, with both trees")
			assert.Equal(t, expense(7, "0.5"), r.takeExpense(), "what it used counts, whatever came of it")
			assert.Equal(t, c.measured, a.Verdict != "")
			l.leavesNothing()
			if !c.measured {
				assert.Empty(t, a.measured)
				return
			}
			d := a.Decided
			assert.Equal(t, c.result.Verdict, a.Verdict)
			assert.Equal(t, []*metric.Value{c.result.Candidate, c.result.Incumbent, c.best},
				[]*metric.Value{d.Metric, d.PreviousBest, d.Best})
			assert.Equal(t, metric.Delta(*c.result.Candidate, c.result.Incumbent), d.Delta)
			require.Len(t, a.measured, 1)
			e := a.measured[0]
			assert.Equal(t, []any{history.Candidate, c.result.Candidate, "task 2 fails", "e"},
				[]any{e.Role, e.Metric, e.Output, e.Evaluator})
			assert.InDelta(t, 1, e.Seconds, 0)
		})
	}
}

// TestSuiteWithoutNumber has no difference.
func TestSuiteWithoutNumber(t *testing.T) {
	t.Parallel()
	r := &measurer{spending: &spending{journal: journalOf(t, "")}}
	d := r.suiteDecision(Suited{Verdict: decision.Neutral})
	assert.Empty(t, d.Delta, "of no number")
	assert.Nil(t, d.Metric)
}

// TestBaselineOfSuite: the incumbent once, and the default branch where it is another.
func TestBaselineOfSuite(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	for name, c := range map[string]struct {
		ahead   bool
		result  Suited
		err     error
		calls   []string
		problem bool
	}{
		"both": {true, Suited{Incumbent: metricOf("5"), Output: "task 2 fails"}, nil, []string{"1", "3"}, false},
		"a fault": {
			true,
			Suited{Problem: "no task is left"},
			nil,
			[]string{"1"},
			true,
		},
		"not to its end": {
			false,
			Suited{Unfinished: "the judge does not answer"},
			nil,
			[]string{"1"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "", nil)
			if c.ahead {
				at.Base = l.git("rev-parse", "candidate")
			}
			suite := &playedSuite{result: c.result, err: c.err}
			suite.result.Expense = expense(7, "0.5")
			r.Suite = suite
			found, err := r.measureSuiteBaseline(t.Context(), at)
			assert.Equal(t, c.calls, suite.calls)
			var all *history.Expense
			for range c.calls {
				all = all.Plus(expense(7, "0.5"))
			}
			assert.Equal(t, all, r.takeExpense())
			l.leavesNothing()
			var problem *endedError
			switch {
			case c.problem:
				require.ErrorAs(t, err, &problem)
				golden.Line(t, problem)
			case c.err != nil:
				require.ErrorIs(t, err, c.err)
				assert.NotErrorAs(t, err, &problem)
			default:
				require.NoError(t, err)
				assert.Equal(t, c.ahead, len(found) == 2)
				for _, e := range found {
					assert.Equal(t, "5", e.Metric.String())
					assert.Equal(t, "task 2 fails", e.Output)
					assert.Positive(t, e.Seconds)
					assert.Positive(t, e.Prepare)
					assert.False(t, e.Noisy, "it is measured as often as the suite says")
				}
			}
		})
	}
}

// TestSuiteWithoutBudget is not begun.
func TestSuiteWithoutBudget(t *testing.T) {
	t.Parallel()
	j := journalOf(t, "")
	j.Program.Evaluation, j.left = program.Tasks, budget.Left{Tokens: 100}
	r := &measurer{spending: &spending{journal: j, used: used(100, "0")}}
	got, _, err := r.runSuite(t.Context()) // where there is no suite to begin
	require.NoError(t, err)
	assert.Contains(t, got.Unfinished, "the budget is used up: ")
}

// TestBaselineUsesUpBudget is kept, and no agent is asked.
func TestBaselineUsesUpBudget(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2} {
		b := newFixture(t, "budget: {usd: 0.5, per: day}", "1")
		b.service.Suite = &playedSuite{result: Suited{Incumbent: metricOf("1"), Expense: expense(7, "0.5")}}
		b.service.Program.Evaluation = program.Tasks
		b.agent = func(agent.Request) agent.Reply { panic("it is asked") }
		result, err := b.in(jobs, func(git.RefUpdate) error { return nil })
		require.NoError(t, err)
		assert.Contains(t, result.Stopped, "budget: ")
		assert.Equal(t, "1", b.records().Best.String())
	}
}
