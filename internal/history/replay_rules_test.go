package history_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// runHead is the head of an event of a run, so many minutes after noon.
func runHead(run string, iteration, minute int) history.Head {
	return history.Head{Run: run, Iteration: iteration, Time: noon.Add(time.Duration(minute) * time.Minute)}
}

// TestRunsThatAreInterrupted: a run is over when it says so, and one after it counts those
// before it that never did.
func TestRunsThatAreInterrupted(t *testing.T) {
	t.Parallel()
	start := func(run string, minute int) *history.Started { return &history.Started{Head: runHead(run, 1, minute)} }
	finish := func(run string, minute int) *history.Finished {
		return &history.Finished{Head: runHead(run, 1, minute)}
	}
	unused, later := finish("b", 3), noon.Add(time.Hour)
	unused.Unused = true
	putOff := finish("b", 3)
	putOff.NotBefore = &later
	for name, c := range map[string]struct {
		events      []history.Event
		open        string
		interrupted int
		abandoned   int
		lastRun     time.Time
	}{
		"no run":                 {nil, "", 0, 0, time.Time{}},
		"one that works":         {[]history.Event{start("a", 0)}, "a", 0, 0, time.Time{}},
		"one that is over":       {[]history.Event{start("a", 0), finish("a", 9)}, "", 0, 0, noon},
		"the end of another":     {[]history.Event{start("a", 0), finish("b", 9)}, "a", 0, 0, time.Time{}},
		"an end without a start": {[]history.Event{finish("a", 9)}, "", 0, 0, time.Time{}},
		"an end twice": {
			[]history.Event{start("a", 0), finish("a", 9), finish("a", 10)},
			"",
			0, 0, noon,
		},
		"one after another": {
			[]history.Event{start("a", 0), finish("a", 1), start("b", 2), finish("b", 3)},
			"", 0, 0, noon.Add(2 * time.Minute),
		},
		"interrupted": {[]history.Event{start("a", 0), start("b", 1)}, "b", 1, 1, time.Time{}},
		"interrupted twice": {
			[]history.Event{start("a", 0), start("b", 1), start("c", 2)},
			"c", 2, 2,
			time.Time{},
		},
		"the next comes to its end": {
			[]history.Event{start("a", 0), start("b", 1), finish("b", 2)},
			"", 0, 1,
			noon.Add(time.Minute),
		},
		"the next has nothing to do": {
			[]history.Event{start("a", 0), start("b", 1), unused, start("c", 4)},
			"c", 1,
			1,
			time.Time{},
		},
		"the next is put off": {
			[]history.Event{start("a", 0), start("b", 1), putOff, start("c", 4)},
			"c", 0,
			1,
			time.Time{},
		},
		"a person resumes the program": {
			[]history.Event{start("a", 0), start("b", 1), &history.Resumed{}},
			"b", 0, 1,
			time.Time{},
		},
		"another job of it goes on": {[]history.Event{start("a", 0), start("a", 5)}, "a", 0, 0, time.Time{}},
		"another job ends it":       {[]history.Event{start("a", 0), start("a", 5), finish("a", 9)}, "", 0, 0, noon},
		"it comes back too late": {
			[]history.Event{start("a", 0), start("b", 1), finish("a", 2)},
			"b", 1, 1,
			time.Time{},
		},
		"it decided, and was lost": {
			[]history.Event{
				start("a", 0), &history.Decided{Head: runHead("a", 1, 1), Outcome: history.Rejected},
				start("b", 2),
			}, "b", 1, 0, time.Time{},
		},
		"another decided for it": {
			[]history.Event{
				start("a", 0), &history.Decided{Head: runHead("z", 1, 1), Outcome: history.Rejected},
				start("b", 2),
			}, "b", 1, 1, time.Time{},
		},
		"its fix failed, and it was lost": {
			[]history.Event{start("a", 0), &history.Checked{Head: runHead("a", 1, 1)}, start("b", 2)},
			"b", 1, 0,
			time.Time{},
		},
		"it measured, and was lost": {
			[]history.Event{
				start("a", 0), &history.Measured{Head: runHead("a", 1, 1), Role: history.Candidate},
				start("b", 2),
			}, "b", 1, 1, time.Time{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary := history.Replay(c.events)
			open := ""
			if summary.Open != nil {
				open = summary.Open.Run
			}
			assert.Equal(t, c.open, open)
			assert.Equal(t, c.interrupted, summary.Interrupted)
			assert.Len(t, summary.Abandoned, c.abandoned)
			assert.Equal(t, c.lastRun, summary.LastRun)
		})
	}
}

// TestAnotherJobHasAnotherLease: a run that is handed to a second job goes on from its
// first start, with the lease of the second.
func TestAnotherJobHasAnotherLease(t *testing.T) {
	t.Parallel()
	first := &history.Started{
		Head: runHead("a", 1, 0), Lease: &history.Lease{Host: "one", Handed: true},
		Reserved: &history.Reserved{Tokens: 5},
	}
	second := &history.Started{Head: runHead("a", 1, 30), Lease: &history.Lease{Host: "two"}}
	summary := history.Replay([]history.Event{first, second})
	require.NotNil(t, summary.Open)
	assert.Equal(t, "two", summary.Open.Lease.Host)
	assert.Equal(t, noon, summary.Open.Time)
	assert.Equal(t, int64(5), summary.Open.Reserved.Tokens)
	assert.Equal(t, "one", first.Lease.Host, "events stay as they were")

	decided := &history.Decided{Head: runHead("a", 1, 45), Outcome: history.Rejected}
	summary.Add(decided)
	assert.InDelta(t, 45, summary.Attempts[0].Spent.Minutes, 0, "from the first start on")
}

// TestWithoutTheOpenRun: what the open run reserved counts as lost, in a copy.
func TestWithoutTheOpenRun(t *testing.T) {
	t.Parallel()
	usd := metric.MustValue("1.5")
	start := func(run string, reserved *history.Reserved) *history.Started {
		return &history.Started{Head: runHead(run, 4, 7), Reserved: reserved}
	}
	pending := &history.Decided{Head: runHead("p", 4, 1), Outcome: history.PendingCI, Commit: "c"}
	for name, c := range map[string]struct {
		events []history.Event
		spent  history.Spent
		lost   []history.Spending
	}{
		"no run": {nil, history.Spent{}, nil},
		"with all of it": {
			[]history.Event{start("a", &history.Reserved{Tokens: 10, CostUSD: &usd, Minutes: 3})},
			history.Spent{Iterations: 1, Tokens: 10, USD: 1.5, Minutes: 3},
			[]history.Spending{{
				noon.Add(7 * time.Minute), 4,
				history.Spent{Iterations: 1, Tokens: 10, USD: 1.5, Minutes: 3},
			}},
		},
		"without a bound": {
			[]history.Event{start("a", nil)},
			history.Spent{Iterations: 1},
			[]history.Spending{{noon.Add(7 * time.Minute), 4, history.Spent{Iterations: 1}}},
		},
		"after another": {
			[]history.Event{
				start("a", &history.Reserved{Tokens: 1}),
				start("b", &history.Reserved{Tokens: 2}),
			},
			history.Spent{Iterations: 2, Tokens: 3},
			[]history.Spending{
				{noon.Add(7 * time.Minute), 4, history.Spent{Iterations: 1, Tokens: 1}},
				{noon.Add(7 * time.Minute), 4, history.Spent{Iterations: 1, Tokens: 2}},
			},
		},
		"while CI is asked": {
			[]history.Event{pending, start("a", &history.Reserved{Tokens: 2})},
			history.Spent{Iterations: 1, Tokens: 2},
			[]history.Spending{{noon.Add(7 * time.Minute), 4, history.Spent{Tokens: 2}}},
		},
		"one that decided": {
			[]history.Event{start("p", &history.Reserved{Tokens: 2}), pending},
			history.Spent{Iterations: 1, Minutes: 0},
			nil,
		},
		"one that is finished": {[]history.Event{
			start("a", &history.Reserved{Tokens: 2}),
			&history.Finished{Head: runHead("a", 4, 8), Unused: true},
		}, history.Spent{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary := history.Replay(c.events)
			before := history.Replay(c.events)
			without := summary.WithoutOpen()
			assert.Nil(t, without.Open)
			assert.Equal(t, c.spent, without.Spent(time.Time{}))
			assert.Equal(t, c.lost, without.Abandoned)
			assert.Equal(t, before, summary, "it stays as it is")
			again := without.WithoutOpen()
			assert.Equal(t, without, again)
		})
	}
}

// TestWithoutTheOpenRunIsACopy: what the ledger goes on with changes nothing in it.
func TestWithoutTheOpenRunIsACopy(t *testing.T) {
	t.Parallel()
	var summary history.Summary
	for _, run := range []string{"a", "b", "c", "d"} {
		summary.Add(&history.Started{Head: runHead(run, 1, 0), Reserved: &history.Reserved{Tokens: int64(run[0])}})
	}
	without := summary.WithoutOpen()
	want := slices.Clone(without.Abandoned)
	require.Len(t, want, 4)
	summary.Add(&history.Decided{Head: runHead("d", 1, 1), Outcome: history.Rejected})
	for _, run := range []string{"e", "f"} {
		summary.Add(&history.Started{Head: runHead(run, 2, 2), Reserved: &history.Reserved{Tokens: int64(run[0])}})
	}
	assert.Equal(t, want, without.Abandoned)
	assert.Equal(t, int64('e'), summary.Abandoned[3].Spent.Tokens, "the one before it decided")
}

// TestWhatIsSaidTwiceIsUsedOnce: a decision that follows on another of its iteration says
// again what was used, unless it has a commit of its own.
func TestWhatIsSaidTwiceIsUsedOnce(t *testing.T) {
	t.Parallel()
	tokens := int64(50)
	decided := func(outcome history.Outcome, commit string) *history.Decided {
		return &history.Decided{
			Head: history.Head{Iteration: 1}, Outcome: outcome, Commit: commit,
			Evaluation: &history.Expense{Tokens: &tokens},
			Work: history.Work{
				Usage:     &metric.Usage{InputTokens: &tokens},
				Durations: map[string]float64{"propose": 60},
			},
		}
	}
	for name, c := range map[string]struct {
		events []history.Event
		times  int
	}{
		"once":          {[]history.Event{decided(history.PendingCI, "a")}, 1},
		"of one commit": {[]history.Event{decided(history.PendingCI, "a"), decided(history.Accepted, "a")}, 1},
		"of no commit any more": {[]history.Event{
			decided(history.PendingCI, "a"),
			decided(history.CIFixExhausted, ""),
		}, 1},
		"of no commit before": {[]history.Event{decided(history.Rejected, ""), decided(history.Accepted, "a")}, 2},
		"of another commit": {[]history.Event{
			decided(history.PendingCI, "a"),
			decided(history.PendingCI, "b"),
		}, 2},
		"of three, and at last": {[]history.Event{
			decided(history.PendingCI, "a"), decided(history.PendingCI, "b"),
			decided(history.PendingCI, "c"), decided(history.Accepted, "c"),
		}, 3},
		"of two iterations": {[]history.Event{
			decided(history.Accepted, "a"),
			&history.Decided{Head: history.Head{Iteration: 2}},
		}, 1},
		"said of an earlier one": {[]history.Event{
			decided(history.PendingCI, "a"), decided(history.PendingCI, "b"),
			decided(history.Accepted, "a"),
		}, 3},
	} {
		summary := history.Replay(c.events)
		spent := summary.Spent(time.Time{})
		assert.Equal(t, int64(100*c.times), spent.Tokens, name)
		assert.Equal(t, int64(50*c.times), spent.MeasuringTokens, name)
		assert.InDelta(t, float64(c.times), spent.Minutes, 1e-9, name)
	}
}

// TestWhatAMeasurementIsGoodFor: only a baseline, or the incumbent measured anew outside a
// trial, makes an incumbent of what was measured.
func TestWhatAMeasurementIsGoodFor(t *testing.T) {
	t.Parallel()
	base := &history.Measured{
		Role: history.Baseline, Metric: value("10"), Samples: []metric.Value{*value("9"), *value("11")}, Commit: "b0",
		BaseBranch: "main", Evaluator: "e", Definition: "d",
		Direction: metric.Lower, Output: "ten", Numbers: map[string]metric.Value{"n": *value("1")},
		GuardrailSamples: map[string][]metric.Value{"g": {*value("3")}},
		Noisy:            true, Seconds: 4, Prepare: 5, EvaluatorWrites: map[string]bool{"f": true},
		Executor: &history.Executor{Agent: "x"},
	}
	type incumbent struct{ best, initial, commit, base, output string }
	first := incumbent{"10", "10", "b0", "b0", "ten"}
	anew := func(role history.Role, change func(*history.Measured)) *history.Measured {
		e := &history.Measured{
			Role: role, Metric: value("7"), Commit: "c7", Output: "seven", Evaluator: "other",
			Definition: "other", Direction: metric.Higher,
		}
		change(e)
		return e
	}
	none := func(*history.Measured) {}
	for name, c := range map[string]struct {
		event *history.Measured
		want  incumbent
	}{
		"a baseline":               {anew(history.Baseline, none), incumbent{"7", "7", "c7", "c7", "seven"}},
		"the incumbent":            {anew(history.Incumbent, none), incumbent{"7", "10", "c7", "b0", "seven"}},
		"the incumbent in a trial": {anew(history.Incumbent, func(e *history.Measured) { e.Stage = "pairs" }), first},
		"a baseline in a trial":    {anew(history.Baseline, func(e *history.Measured) { e.Stage = "pairs" }), first},
		"a candidate":              {anew(history.Candidate, none), first},
		"a baseline that failed": {anew(history.Baseline,
			func(e *history.Measured) { e.Metric, e.Problem = nil, "it broke" }), first},
		"an incumbent that failed": {anew(history.Incumbent, func(e *history.Measured) { e.Metric = nil }), first},
		"emptied files":            {anew(history.Emptied, func(e *history.Measured) { e.Stage = "held" }), first},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := history.Replay([]history.Event{base, c.event})
			assert.Equal(t, c.want, incumbent{
				history.ValueText(s.Best), history.ValueText(s.Initial), s.Incumbent,
				s.Base, s.Output,
			})
			if c.want.initial == "10" {
				assert.Equal(t, []any{"e", "d", metric.Lower, "main", true, 2, 4.0, 5.0},
					[]any{
						s.Evaluator, s.Definition, s.Direction, s.BaseBranch, s.Noisy, s.InitialRuns,
						s.Seconds, s.Prepare,
					})
				assert.Equal(t, base.GuardrailSamples, s.Guardrails)
				assert.Equal(t, base.EvaluatorWrites, s.EvaluatorWrites)
			} else {
				assert.Equal(t, []any{"other", "other", metric.Higher, "", false, 0, 0.0, 0.0},
					[]any{
						s.Evaluator, s.Definition, s.Direction, s.BaseBranch, s.Noisy, s.InitialRuns,
						s.Seconds, s.Prepare,
					})
				assert.Nil(t, s.Guardrails)
				assert.Nil(t, s.EvaluatorWrites, "the baseline does not say")
			}
			assert.Equal(t, base.Executor, s.Executor, "who worked last is known until another did")
		})
	}
}

// TestWhatAKeptCandidateLeaves: a candidate's output, numbers and samples are the
// incumbent's once it is kept, and nobody's when it is not.
func TestWhatAKeptCandidateLeaves(t *testing.T) {
	t.Parallel()
	measured := func(text string) *history.Measured {
		return &history.Measured{
			Role: history.Candidate, Metric: value(text), Output: "printed " + text,
			Samples: []metric.Value{*value(text)}, Numbers: map[string]metric.Value{"m": *value(text)},
		}
	}
	ended := func(outcome history.Outcome) *history.Decided {
		return &history.Decided{
			Head: history.Head{Iteration: 1}, Outcome: outcome, Metric: value("4"),
			Best: value("4"), PreviousBest: value("5"), Commit: "c",
		}
	}
	base := &history.Measured{
		Role: history.Baseline, Metric: value("5"), Output: "printed 5",
		Samples: []metric.Value{*value("5")}, Commit: "b",
	}
	for outcome, kept := range map[history.Outcome]bool{
		history.Accepted: true, history.Rejected: false, history.Inconclusive: false, history.Error: false,
		history.PendingCI: false, history.CIFixExhausted: false, "of a later version": false,
	} {
		s := history.Replay([]history.Event{base, measured("3"), measured("4"), ended(outcome)})
		if !kept {
			assert.Equal(t, []string{"5", "b", "printed 5"},
				[]string{history.ValueText(s.Best), s.Incumbent, s.Output}, outcome)
			assert.Equal(t, base.Samples, s.Samples)
			assert.Empty(t, s.Gains)
			continue
		}
		assert.Equal(t, []string{"4", "c", "printed 4"},
			[]string{history.ValueText(s.Best), s.Incumbent, s.Output}, outcome)
		assert.Equal(t, []metric.Value{*value("4")}, s.Samples)
		assert.Equal(t, "4", s.Numbers["m"].String())
		assert.Equal(t, []metric.Value{*value("1")}, s.Gains)
	}
	s := history.Replay([]history.Event{base, measured("4"), ended(history.PendingCI), ended(history.Accepted)})
	assert.Equal(t, "printed 4", s.Output, "CI was waited for")
}

// TestGainsOfOneDefinition are those that are compared with a new one: their sizes, in
// whichever direction, until the program's settings change.
func TestGainsOfOneDefinition(t *testing.T) {
	t.Parallel()
	baseline := func(definition string) history.Event {
		return &history.Measured{
			Role: history.Baseline, Metric: value("10"), Definition: definition,
			Direction: metric.Lower,
		}
	}
	gain := func(from, to string) history.Event {
		e := &history.Decided{Outcome: history.Accepted}
		if from != "" {
			e.PreviousBest = value(from)
		}
		if to != "" {
			e.Best = value(to)
		}
		return e
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   []string
	}{
		"lower is a gain":  {[]history.Event{baseline("d"), gain("10", "9")}, []string{"1"}},
		"and so is higher": {[]history.Event{baseline("d"), gain("9", "10")}, []string{"1"}},
		"exactly": {
			[]history.Event{baseline("d"), gain("0.3", "0.1"), gain("9007199254740993", "1")},
			[]string{"0.2", "9007199254740992"},
		},
		"none for its cost":        {[]history.Event{baseline("d"), gain("9", "9")}, []string{"0"}},
		"the first of all":         {[]history.Event{baseline("d"), gain("", "9")}, nil},
		"without a number":         {[]history.Event{baseline("d"), gain("9", "")}, nil},
		"measured anew":            {[]history.Event{baseline("d"), gain("10", "9"), baseline("d")}, []string{"1"}},
		"under another definition": {[]history.Event{baseline("d"), gain("10", "9"), baseline("e")}, nil},
		"and back": {[]history.Event{
			baseline("d"), gain("10", "9"), baseline("e"), baseline("d"),
			gain("10", "8"),
		}, []string{"2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gains []string
			for _, gain := range history.Replay(c.events).Gains {
				gains = append(gains, gain.String())
			}
			assert.Equal(t, c.want, gains)
		})
	}
}

func TestPausesCompletionsAndSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events            []history.Event
		paused, completed string
	}{
		"neither": {nil, "", ""},
		"paused":  {[]history.Event{&history.Paused{Reason: decision.Say("rest")}}, "rest", ""},
		"paused twice": {[]history.Event{
			&history.Paused{Reason: decision.Say("rest")},
			&history.Paused{Reason: decision.Say("errors")},
		}, "errors", ""},
		"completed": {[]history.Event{&history.Completed{Reason: decision.Say("done")}}, "", "done"},
		"completed and paused": {[]history.Event{
			&history.Completed{Reason: decision.Say("done")},
			&history.Paused{Reason: decision.Say("rest")},
		}, "rest", "done"},
		"both are resumed": {[]history.Event{
			&history.Completed{Reason: decision.Say("done")},
			&history.Paused{Reason: decision.Say("rest")}, &history.Resumed{},
		}, "", ""},
		"resumed before": {
			[]history.Event{&history.Resumed{}, &history.Paused{Reason: decision.Say("rest")}},
			"rest", "",
		},
		"another kind of event": {[]history.Event{
			&history.Paused{Reason: decision.Say("rest")}, &history.Answered{},
			&history.Pushed{},
		}, "rest", ""},
	} {
		s := history.Replay(c.events)
		assert.Equal(t, []string{c.paused, c.completed},
			[]string{decision.Text(s.Paused), decision.Text(s.Completed)}, name)
	}
	s := history.Replay([]history.Event{
		&history.Set{Key: "issue", Value: "7"}, &history.Set{Key: "pull", Value: "1"},
		&history.Set{Key: "pull", Value: ""}, &history.Set{Key: "of a later version", Value: "x"},
		&history.Set{Key: "pull-ended", Value: "-3"}, &history.Set{Key: "undone", Value: "x"},
		&history.Set{Key: "note", Value: "n"},
	})
	assert.Equal(t, history.Settings{Issue: 7, Note: "n"}, s.Settings, "the last value counts, and a bad number is 0")
}

func TestAStateThatIsTakenOver(t *testing.T) {
	t.Parallel()
	adopt := func(count, statuses string) []history.Event {
		return []history.Event{
			&history.Set{Key: history.AdoptedIteration, Value: count},
			&history.Set{Key: history.AdoptedStatuses, Value: statuses},
		}
	}
	rejected := func(from, to int) (list []history.Event) {
		for n := from; n <= to; n++ {
			list = append(list, &history.Decided{Head: history.Head{Iteration: n}, Outcome: history.Rejected})
		}
		return list
	}
	for name, c := range map[string]struct {
		events    []history.Event
		iteration int
		statuses  []string
		dropped   int
	}{
		"its count and statuses": {adopt("7", "error,accepted"), 7, []string{"error", "accepted"}, 0},
		"what came after": {
			append(adopt("7", "error,accepted"), rejected(8, 9)...), 9,
			[]string{"error", "accepted", "rejected", "rejected"},
			2,
		},
		"ten are known": {
			append(adopt("7", "error,accepted"), rejected(8, 16)...), 16,
			append([]string{"accepted"}, slices.Repeat([]string{"rejected"}, 9)...), 9,
		},
		"ten are known, all its own": {
			append(adopt("7", "error,accepted"), rejected(8, 30)...), 30,
			slices.Repeat([]string{"rejected"}, 10), 23,
		},
		"more than ten": {
			adopt("12", "a,b,c,d,e,f,g,h,i,j,k,l"), 12,
			[]string{"c", "d", "e", "f", "g", "h", "i", "j", "k", "l"},
			0,
		},
		"a count in words": {adopt("many", "error"), 0, []string{"error"}, 0},
		"a count that is lower": {
			append(rejected(1, 3), adopt("2", "error")...), 3,
			[]string{"error", "rejected", "rejected", "rejected"},
			3,
		},
		"a count below zero": {adopt("-4", "error"), 0, []string{"error"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := history.Replay(c.events)
			assert.Equal(t, c.iteration, s.Iteration)
			assert.Equal(t, c.statuses, s.Statuses())
			assert.Equal(t, c.dropped, s.Dropped())
		})
	}
}

func TestStatusesInTheWordsOfTheState(t *testing.T) {
	t.Parallel()
	var events []history.Event
	for i, outcome := range []history.Outcome{
		history.Accepted, history.Rejected, history.Inconclusive, history.Error,
		history.CIFixExhausted, history.PendingCI,
	} {
		events = append(events, &history.Decided{Head: history.Head{Iteration: i + 1}, Outcome: outcome})
	}
	s := history.Replay(events)
	assert.Equal(t, []string{"accepted", "rejected", "rejected", "error", "ci-fix-exhausted", "pending-ci"},
		s.Statuses())
	assert.Equal(t, 1, s.Count(history.Inconclusive), "which it is, is known all the same")
}

// TestWhetherCIWasEverSeen: a gate that never judged anything is not one to rely on.
func TestWhetherCIWasEverSeen(t *testing.T) {
	t.Parallel()
	ended := func(outcome history.Outcome, kinds ...decision.Why) history.Event {
		e := &history.Decided{Outcome: outcome}
		for _, kind := range kinds {
			e.Reasons = append(e.Reasons, decision.Reason{Kind: kind})
		}
		return e
	}
	for name, c := range map[string]struct {
		event history.Event
		seen  bool
	}{
		"kept":                          {ended(history.Accepted, decision.Better), false},
		"waits":                         {ended(history.PendingCI), false},
		"green":                         {ended(history.Accepted, decision.Better, decision.CIGreen), true},
		"green, of one that is dropped": {ended(history.Rejected, decision.CIGreen), false},
		"green, as another job says": {&history.Decided{
			Outcome: history.Accepted,
			Reasons: []decision.Reason{{
				Kind:    decision.Claimed,
				Because: []decision.Reason{{Kind: decision.CIGreen}},
			}},
		}, false},
		"red":                      {ended(history.CIFixExhausted), true},
		"red, and it may be fixed": {&history.Checked{}, true},
	} {
		assert.Equal(t, c.seen, history.Replay([]history.Event{c.event}).CISeen, name)
		assert.Equal(t, c.seen, history.Replay([]history.Event{c.event, ended(history.Rejected)}).CISeen,
			"%s, and once is for ever", name)
	}
}

// TestIncumbentsThatAreNotOnRecord counts iterations in a row in which the incumbent was
// another than the record has it.
func TestIncumbentsThatAreNotOnRecord(t *testing.T) {
	t.Parallel()
	samples := func(texts ...string) (list []metric.Value) {
		for _, text := range texts {
			list = append(list, *value(text))
		}
		return list
	}
	measure := func(stage decision.Stage, texts ...string) history.Event {
		list := samples(texts...)
		return &history.Measured{Role: history.Incumbent, Stage: stage, Metric: &list[0], Samples: list}
	}
	base := &history.Measured{Role: history.Baseline, Metric: value("5"), Samples: samples("5", "5.1")}
	says := func(text string) *history.Decided {
		e := &history.Decided{Outcome: history.Rejected}
		if text != "" {
			e.Disagreement = &decision.Reason{Kind: decision.Said, Words: text}
		}
		return e
	}
	apart, agrees, silent := says("it gave 9"), measure("pairs", "5.05"), says("")
	other := says("it gave 8")
	for name, c := range map[string]struct {
		events []history.Event
		count  int
	}{
		"never":                       {[]history.Event{base, silent}, 0},
		"once":                        {[]history.Event{base, apart}, 1},
		"twice":                       {[]history.Event{base, apart, other}, 2},
		"it was not measured":         {[]history.Event{base, apart, silent}, 1},
		"it agrees":                   {[]history.Event{base, apart, agrees, silent}, 0},
		"it agreed, and then not":     {[]history.Event{base, apart, agrees, measure("again", "9"), other}, 2},
		"the agreement of one before": {[]history.Event{base, agrees, silent, apart, silent}, 1},
		"a failure says nothing": {[]history.Event{
			base, apart,
			&history.Measured{Role: history.Incumbent, Stage: "pairs"}, silent,
		}, 1},
		"a candidate says nothing": {[]history.Event{
			base, apart,
			&history.Measured{Role: history.Candidate, Stage: "pairs", Metric: value("5"), Samples: samples("5")},
			silent,
		}, 1},
		"another is kept": {[]history.Event{
			base, apart,
			&history.Decided{Outcome: history.Accepted, Best: value("4")},
		}, 0},
		"it is measured anew on its own": {[]history.Event{base, apart, measure("", "9")}, 0},
		"a new baseline":                 {[]history.Event{base, apart, base}, 0},
		"nothing was on record": {[]history.Event{&history.Measured{
			Role:   history.Baseline,
			Metric: value("5"),
		}, apart, measure("pairs", "7"), silent}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := history.Replay(c.events)
			assert.Equal(t, c.count, s.Disagreements)
		})
	}
}

// TestWhoExecutedLast is known from what measured something.
func TestWhoExecutedLast(t *testing.T) {
	t.Parallel()
	one, two := &history.Executor{Agent: "one"}, &history.Executor{Agent: "two"}
	base := &history.Measured{Role: history.Baseline, Metric: value("5"), Executor: one}
	for name, c := range map[string]struct {
		events []history.Event
		want   *history.Executor
	}{
		"nobody":                 {nil, nil},
		"of the baseline":        {[]history.Event{base}, one},
		"of a decision":          {[]history.Event{base, &history.Decided{Metric: value("4"), Executor: two}}, two},
		"of nothing measured":    {[]history.Event{base, &history.Decided{Executor: two}}, one},
		"a decision without one": {[]history.Event{base, &history.Decided{Metric: value("4")}}, one},
		"a baseline without one": {[]history.Event{
			base,
			&history.Measured{Role: history.Baseline, Metric: value("5")},
		}, one},
		"of the incumbent": {[]history.Event{
			base,
			&history.Measured{Role: history.Incumbent, Metric: value("5"), Executor: two},
		}, one},
		"of a baseline that fails": {[]history.Event{
			base,
			&history.Measured{Role: history.Baseline, Executor: two},
		}, one},
	} {
		assert.Equal(t, c.want, history.Replay(c.events).Executor, name)
	}
}

// TestNoiseIsRemembered until a new baseline says otherwise.
func TestNoiseIsRemembered(t *testing.T) {
	t.Parallel()
	base := func(noisy bool) history.Event {
		return &history.Measured{Role: history.Baseline, Metric: value("5"), Noisy: noisy}
	}
	decided := func(noisy bool) history.Event { return &history.Decided{Noisy: noisy} }
	for name, c := range map[string]struct {
		events []history.Event
		noisy  bool
	}{
		"steady":                {[]history.Event{base(false), decided(false)}, false},
		"at the baseline":       {[]history.Event{base(true), decided(false)}, true},
		"in a trial":            {[]history.Event{base(false), decided(true), decided(false)}, true},
		"before a new baseline": {[]history.Event{base(true), decided(true), base(false)}, false},
	} {
		assert.Equal(t, c.noisy, history.Replay(c.events).Noisy, name)
	}
}

// TestHowLongARunTook is from its start to its end, and what its stages add up to where
// nothing is known of its start.
func TestHowLongARunTook(t *testing.T) {
	t.Parallel()
	work := history.Work{Durations: map[string]float64{"propose": 60, "measure": 30}}
	decide := func(run string, minute int) *history.Decided {
		return &history.Decided{Head: runHead(run, 1, minute), Work: work, Outcome: history.Rejected}
	}
	start := &history.Started{Head: runHead("a", 1, 10)}
	for name, c := range map[string]struct {
		events []history.Event
		took   time.Duration
	}{
		"since its start":        {[]history.Event{start, decide("a", 15)}, 5 * time.Minute},
		"without a start":        {[]history.Event{decide("a", 15)}, 90 * time.Second},
		"of another run":         {[]history.Event{start, decide("b", 15)}, 90 * time.Second},
		"by a clock that jumped": {[]history.Event{start, decide("a", 5)}, 0},
	} {
		assert.InDelta(t, c.took.Minutes(), history.Replay(c.events).Attempts[0].Spent.Minutes, 0, name)
	}
	later := noon.Add(time.Hour)
	off := history.Replay([]history.Event{
		start,
		&history.Finished{Head: runHead("a", 1, 12), NotBefore: &later, Work: work},
	})
	assert.InDelta(t, 2, off.PutOff[0].Spent.Minutes, 0)
	assert.Equal(t, noon.Add(12*time.Minute), off.PutOff[0].Time)
	off = history.Replay([]history.Event{&history.Finished{Head: runHead("a", 1, 12), NotBefore: &later, Work: work}})
	assert.InDelta(t, 1.5, off.PutOff[0].Spent.Minutes, 0)
}
