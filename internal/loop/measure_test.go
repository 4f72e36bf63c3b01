package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// ran is a run that printed a metric and these numbers, each after its name.
func ran(value string, other ...string) evaluation.Result {
	m := metric.Measurement{Metric: metricOf(value), Numbers: map[string]metric.Value{"m": metric.MustValue(value)}}
	for i := 0; i < len(other); i += 2 {
		m.Numbers[other[i]] = metric.MustValue(other[i+1])
	}
	return evaluation.Result{Measurement: m, Duration: 2 * time.Second, Tail: "printed " + value}
}

// call is one run of the evaluation in a trialRepo.
type call struct {
	side    string // whose files they are: incumbent, candidate, emptied or garbled
	number  int    // of the runs of this side, from 1
	request evaluation.Request
}

// trialRepo measures without agents and records: the incumbent has 1 in value.txt, the
// candidate has 3, and the runs of the evaluation go as a function says.
type trialRepo struct {
	*fixture
	runs func(c call) evaluation.Result
	// fails, optional, is our own failure of a run.
	fails func(c call) error
	calls []call
}

func newTrialRepo(t *testing.T) *trialRepo {
	t.Helper()
	trialRepos.Do(func() {
		first := newFixture(t, "", "1")
		first.git("checkout", "--quiet", "-b", "candidate")
		first.commit(map[string]string{"value.txt": "3\n"})
		first.git("checkout", "--quiet", "main")
		trialRepos.env = first.env
		var err error
		trialRepos.dir, err = os.MkdirTemp("", "trialRepo-") //nolint:usetesting // it outlives this test
		require.NoError(t, err)
		require.NoError(t, os.CopyFS(trialRepos.dir, os.DirFS(first.dir)))
		trialRepos.env = append(trialRepos.env, "HOME="+trialRepos.dir)
	})
	b := &fixture{t: t, dir: t.TempDir(), clock: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), env: trialRepos.env}
	require.NoError(t, os.CopyFS(b.dir, os.DirFS(trialRepos.dir)))
	b.service = b.newService(fmt.Sprintf(testProgram, ""))
	return &trialRepo{fixture: b}
}

// trialRepos has the repository that every trialRepo begins with, so that it is made once.
var trialRepos struct {
	sync.Once

	dir string
	env []string
}

// on is the trialRepo with a repository of its own run, whose program has these lines: as many
// can measure at the same time as there are.
func (l *trialRepo) on(t *testing.T, front string, runs func(call) evaluation.Result) (*trialRepo, *run, position) {
	t.Helper()
	b := *l.fixture
	b.t = t
	own := &trialRepo{fixture: &b, runs: runs}
	own.service = own.newService(fmt.Sprintf(testProgram, front))
	own.service.Eval = own
	r := own.service.begin()
	r.records = journalOf(t, front).records
	r.records.Best, r.records.Seconds = metricOf("1"), 1
	head := own.git("rev-parse", "main")
	return own, r, position{Head: head, Base: head, BaseBranch: "main", identity: identity{Evaluator: "e"}}
}

// Run is a run of the evaluation.
func (l *trialRepo) Run(_ context.Context, request evaluation.Request) (evaluation.Result, error) {
	text, err := os.ReadFile(filepath.Join(request.Dir, "value.txt"))
	if err != nil {
		return evaluation.Result{}, err
	}
	c := call{request: request, number: 1}
	switch value := strings.TrimSpace(string(text)); {
	case strings.Contains(value, ")}]"):
		c.side = "garbled"
	default:
		c.side = map[string]string{"1": "incumbent", "3": "candidate", "": "emptied"}[value]
	}
	for _, before := range l.calls {
		if before.side == c.side {
			c.number++
		}
	}
	l.calls = append(l.calls, c)
	if l.fails != nil {
		if err := l.fails(c); err != nil {
			return evaluation.Result{}, err
		}
	}
	return l.runs(c), nil
}

// trial measures the candidate.
func (l *trialRepo) trial(r *run, at position) (*attempt, error) {
	a := r.newAttempt(1, 1)
	a.tree = l.git("rev-parse", "candidate^{tree}")
	err := r.measure(l.t.Context(), at, a)
	return a, err
}

// sides are those of the runs so far, in order: i for the incumbent, c for the
// candidate, e and g for its emptied and garbled files.
func (l *trialRepo) sides() string {
	var list strings.Builder
	for _, c := range l.calls {
		list.WriteByte(c.side[0])
	}
	return list.String()
}

func inOrder(letters string) string {
	sorted := []byte(letters)
	slices.Sort(sorted)
	return string(sorted)
}

// leavesNothing holds that no tree, home or output of a run is left when it ends.
func (l *trialRepo) leavesNothing() {
	l.t.Helper()
	l.service.Trees.Close()
	closed := filepath.Join(l.service.RunDir, "w")
	require.NoError(l.t, os.Chmod(closed, 0o700)) //nolint:gosec // a directory of the test
	left, err := os.ReadDir(closed)
	require.NoError(l.t, err)
	assert.Empty(l.t, left)
}

// steady gives each side its number: the incumbent 1, the candidate 3, emptied and garbled
// files 0.
func steady(c call) evaluation.Result {
	return ran(map[string]string{"incumbent": "1", "candidate": "3", "emptied": "0", "garbled": "0"}[c.side])
}

// swinging is steady with a noise that is the same on both sides.
func swinging(c call) evaluation.Result {
	result := steady(c)
	noisy := result.Measurement.Metric.Add(numbers("0", "0.01", "0.03", "0.02", "0.05", "0.04", "0.07",
		"0.06")[c.number%8])
	result.Measurement.Metric = &noisy
	return result
}

// spoiled is a function of runs in which one run of a side goes otherwise.
func spoiled(runs func(call) evaluation.Result, side string, number int,
	otherwise evaluation.Result,
) func(call) evaluation.Result {
	return func(c call) evaluation.Result {
		if c.side == side && (c.number == number || number == 0) {
			return otherwise
		}
		return runs(c)
	}
}

var (
	failure  = evaluation.Result{Problem: "exit code 3", Duration: time.Second, Tail: "oh"}
	overused = evaluation.Result{Problem: "the budget is used up", OverLimit: true}
	unscored = evaluation.Result{Duration: time.Second}
)

// timedOut is a run that was ended for its time.
func timedOut(after time.Duration) evaluation.Result {
	return evaluation.Result{
		Problem: "the evaluation took longer than " + after.String(), TimedOut: true,
		Duration: after,
	}
}

// TestTrials: how often which side is measured, what becomes of the candidate, and what
// is on record of it.
func TestTrials(t *testing.T) {
	t.Parallel()
	const pairs, once = "evaluation-runs: 4\nconfidence: 0.9", "evaluation-runs: 1"
	shared := newTrialRepo(t)
	for name, c := range map[string]struct {
		front   string
		runs    func(call) evaluation.Result
		seconds float64 // of the unchanged files; 1 where it is 0, not known below
		sides   string  // in their order, or their number
	}{
		"a gain is measured again": {
			"", steady, 0,
			"cicc",
		},
		"a candidate that fails": {
			"", spoiled(steady, "candidate", 0, failure), 0,
			"ci",
		},
		"a candidate that fails, and then the budget is used up": {
			"", spoiled(spoiled(steady, "candidate", 0, failure), "incumbent", 0, overused), 0,
			"ci",
		},
		"the budget is used up": {
			"", spoiled(steady, "candidate", 0, overused), 0,
			"c",
		},
		"an incumbent that fails when it is measured again": {
			"", spoiled(steady, "incumbent", 1, failure), 0,
			"",
		},
		"pairs, and their confirmation": {
			pairs, swinging, 0,
			"20",
		},
		"a candidate that hangs": {
			"", spoiled(steady, "candidate", 0, timedOut(3*time.Second)), 0,
			"c",
		},
		"two runs that differ, and no time": {
			"timeout-minutes: 1", swinging, 30,
			"",
		},
		"a warm-up without a number": {
			pairs, spoiled(swinging, "candidate", 1, unscored), 0,
			"",
		},
		"a jump": {
			"", spoiled(steady, "candidate", 0, ran("50")), 0,
			"cicce",
		},
		"a jump of broken files too": {
			"", func(c call) evaluation.Result {
				if c.side == "incumbent" {
					return ran("1")
				}
				return ran("50")
			}, 0,
			"cicceg",
		},
		"a jump, and the budget is used up": {
			"", spoiled(spoiled(steady, "candidate", 0, ran("50")), "emptied", 0, overused), 0,
			"cicce",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, c.front, c.runs)
			r.records.Seconds = max(cmp.Or(c.seconds, 1), 0)
			a, err := l.trial(r, at)
			require.NoError(t, err)
			switch {
			case len(c.sides) == 2 && c.sides[0] <= '9':
				assert.Equal(t, c.sides, fmt.Sprint(len(l.calls)))
			case c.sides != "": // but for the order, of which some is drawn
				assert.Equal(t, inOrder(c.sides), inOrder(l.sides()))
				assert.Equal(t, c.sides[0], l.sides()[0])
				assert.Empty(t, strings.Trim(strings.TrimLeft(l.sides(), "ci"), "eg"), "files are broken last")
			}
			var measured []string
			for _, e := range a.measured {
				measured = append(measured, fmt.Sprintf("%s %s %d", e.Stage, e.Role, len(e.Samples)))
				assert.Equal(t, "e", e.Evaluator)
			}
			if c.sides == "" { // which side was first is drawn
				measured = nil
			}
			golden.Line(t, []any{a.Outcome, a.Noisy, a.Reasons, measured})
			assert.Equal(t, a.Verdict != "",
				a.Outcome != history.Error && !strings.Contains(a.Reasons[0].String(), "the evaluation fails"),
				"what was compared has a verdict")
			assert.Positive(t, a.Durations["measure"])
			l.leavesNothing()
		})
	}
}

// TestConfirmationExchangesPlaces: what one side had in the pairs the other has in
// the confirmation, built anew.
func TestConfirmationExchangesPlaces(t *testing.T) {
	t.Parallel()
	l, r, at := newTrialRepo(t).on(t, "evaluation-runs: 4\nconfidence: 0.9", swinging)
	a, err := l.trial(r, at)
	require.NoError(t, err)
	require.Equal(t, history.Accepted, a.Outcome, "%v", a.Reasons)
	places, homes := map[string][]string{}, map[string]bool{}
	for i, c := range l.calls {
		key := fmt.Sprint(c.side, i/(len(l.calls)/2))
		places[key] = append(places[key], c.request.Dir)
		homes[c.request.Artifacts] = true
	}
	for key, list := range places {
		assert.Len(t, slices.Compact(list), 1, key)
	}
	assert.Equal(t, places["incumbent0"][0], places["candidate1"][0])
	assert.Equal(t, places["candidate0"][0], places["incumbent1"][0])
	assert.NotEqual(t, places["candidate0"][0], places["incumbent0"][0])
	assert.Len(t, homes, 4, "nothing is left to the side that comes after")
}

// TestOurOwnFailureEndsATrial: an evaluation that could not be run says nothing of the
// candidate.
func TestOurOwnFailureEndsATrial(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	broken := errors.New("no processes left")
	for _, side := range []string{"candidate", "incumbent"} {
		l, r, at := shared.on(t, "", steady)
		l.fails = func(c call) error {
			if c.side == side {
				return broken
			}
			return nil
		}
		a, err := l.trial(r, at)
		require.ErrorIs(t, err, broken)
		assert.Empty(t, a.Outcome)
		assert.Empty(t, a.Verdict)
		l.leavesNothing()
	}
	l, r, at := shared.on(t, "", steady)
	at.Head = strings.Repeat("0", 40)
	_, err := l.trial(r, at)
	require.Error(t, err, "a commit that is gone")
}

// TestAnInconclusiveTrial is not called rejected.
func TestAnInconclusiveTrial(t *testing.T) {
	t.Parallel()
	assert.Equal(t, history.Inconclusive, outcomeOf(decision.Decision{Verdict: decision.Neutral, Inconclusive: true}))
	assert.Equal(t, history.Rejected, outcomeOf(decision.Decision{Verdict: decision.Neutral}))
}
