package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// TestTheStepsOfAnIteration: a run starts, measures, decides, says what it pushed, and
// finishes. What is missing or not in its place is found, and said once.
func TestTheStepsOfAnIteration(t *testing.T) {
	t.Parallel()
	head := func(run string, iteration int) history.Head { return history.Head{Run: run, Iteration: iteration} }
	start := func(run string, iteration int) history.Event { return &history.Started{Head: head(run, iteration)} }
	finish := func(run string, iteration int) history.Event { return &history.Finished{Head: head(run, iteration)} }
	measure := func(run string) history.Event {
		return &history.Measured{Head: head(run, 1), Role: history.Candidate, Stage: "once"}
	}
	decide := func(run string, iteration int, outcome history.Outcome, commit string) history.Event {
		e := &history.Decided{Head: head(run, iteration), Outcome: outcome, Commit: commit}
		if outcome == history.Accepted || outcome == history.PendingCI {
			e.Verdict = decision.Improved
		}
		return e
	}
	push := func(run, commit string) history.Event {
		return &history.Pushed{Head: head(run, 1), Commit: commit}
	}
	for name, c := range map[string]struct {
		events []history.Event
		says   []string
	}{
		"no event": {nil, nil},
		"rejected": {[]history.Event{
			start("a", 1), measure("a"), decide("a", 1, history.Rejected, ""),
			finish("a", 1),
		}, nil},
		"kept": {[]history.Event{
			start("a", 1), decide("a", 1, history.Accepted, "c1"), push("a", "c1"),
			finish("a", 1),
		}, nil},
		"stopped":       {[]history.Event{start("a", 1)}, nil},
		"measured only": {[]history.Event{start("a", 1), measure("a"), start("b", 1), measure("b")}, nil},
		"not finished": {
			[]history.Event{start("a", 1), decide("a", 1, history.Rejected, "")},
			[]string{"the run a decided, and no `finished` event follows"},
		},
		"finished by who": {
			[]history.Event{start("a", 1), decide("a", 1, history.Rejected, ""), finish("b", 1)},
			[]string{"the run a decided, and no `finished` event follows"},
		},
		"another number": {
			[]history.Event{start("a", 1), decide("a", 1, history.Rejected, ""), finish("a", 2)},
			[]string{"the run a decided, and no `finished` event follows"},
		},
		"not finished before the next": {
			[]history.Event{
				start("a", 1), decide("a", 1, history.Rejected, ""), start("b", 2),
				decide("b", 2, history.Rejected, ""), finish("b", 2),
			},
			[]string{"the run a decided, and no `finished` event follows"},
		},
		"finished too late": {
			[]history.Event{start("a", 1), decide("a", 1, history.Rejected, ""), start("b", 2), finish("a", 1)},
			[]string{"the run a decided, and no `finished` event follows"},
		},
		"not pushed": {
			[]history.Event{start("a", 1), decide("a", 1, history.Accepted, "0123456789abcdef"), finish("a", 1)},
			[]string{"commit 0123456789ab was decided, and no `pushed` event follows"},
		},
		"neither pushed nor finished": {
			[]history.Event{start("a", 1), decide("a", 1, history.Accepted, "c1")},
			[]string{
				"the run a decided, and no `finished` event follows",
				"commit c1 was decided, and no `pushed` event follows",
			},
		},
		"another commit pushed": {
			[]history.Event{start("a", 1), decide("a", 1, history.Accepted, "c1"), push("a", "c2"), finish("a", 1)},
			[]string{
				"commit c2 was pushed, and no decision made it",
				"commit c1 was decided, and no `pushed` event follows",
			},
		},
		"pushed without a decision": {
			[]history.Event{start("a", 1), push("a", "c1"), finish("a", 1)},
			[]string{"commit c1 was pushed, and no decision made it"},
		},
		"pushed before the decision": {
			[]history.Event{start("a", 1), push("a", "c1"), decide("a", 1, history.Accepted, "c1"), finish("a", 1)},
			[]string{"commit c1 was pushed, and no decision made it"},
		},
		"pushed twice": {
			[]history.Event{
				start("a", 1), decide("a", 1, history.Accepted, "c1"), push("a", "c1"), push("a", "c1"),
				finish("a", 1),
			},
			[]string{"commit c1 was pushed, and no decision made it"},
		},
		"waits for CI": {[]history.Event{start("a", 1), decide("a", 1, history.PendingCI, "c1"), push("a", "c1")}, nil},
		"CI lets it through": {
			[]history.Event{
				start("a", 1), decide("a", 1, history.PendingCI, "c1"), push("a", "c1"), finish("a", 1),
				start("b", 2), decide("b", 1, history.Accepted, "c1"), finish("b", 1),
			},
			nil,
		},
		"CI lets it through, unfinished": {
			[]history.Event{
				start("a", 1), decide("a", 1, history.PendingCI, "c1"), push("a", "c1"), finish("a", 1),
				start("b", 2), decide("b", 1, history.Accepted, "c1"),
			},
			[]string{"the run b decided, and no `finished` event follows"},
		},
		"nobody started": {
			[]history.Event{measure("x"), decide("x", 1, history.Rejected, ""), finish("x", 1)},
			[]string{"the run x has a `measured` event without a `started` event"},
		},
		"nobody started, twice": {
			[]history.Event{measure("x"), measure("y"), measure("x"), measure("y")},
			[]string{
				"the run x has a `measured` event without a `started` event",
				"the run y has a `measured` event without a `started` event",
			},
		},
		"a proposal of nobody": {
			[]history.Event{&history.Proposed{Head: head("x", 1)}},
			[]string{"the run x has a `proposed` event without a `started` event"},
		},
		"a fix of nobody": {
			[]history.Event{&history.Checked{Head: head("x", 1)}},
			[]string{"the run x has a `checked` event without a `started` event"},
		},
		"what people say needs no run": {
			[]history.Event{
				&history.Paused{Head: head("x", 1)}, &history.Resumed{Head: head("x", 1)},
				&history.Completed{Head: head("x", 1)}, &history.Set{Head: head("x", 1), Key: "k"},
				&history.Answered{Head: head("x", 1)}, finish("x", 1),
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says := slices.DeleteFunc(findings(c.events), func(says string) bool {
				return strings.Contains(says, "cannot be computed again") // there is no rule
			})
			assert.Equal(t, c.says, append([]string(nil), says...))
		})
	}
}

// TestANumberIsTheMedianOfItsRuns of any measurement, however exact the numbers are.
func TestANumberIsTheMedianOfItsRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		number  string // "" for none
		samples []string
		says    []string
	}{
		"one run":              {"5", []string{"5"}, nil},
		"the middle of three":  {"5", []string{"9", "5", "1"}, nil},
		"between two":          {"1.5", []string{"2", "1"}, nil},
		"written otherwise":    {"1.50", []string{"1.5"}, nil},
		"no runs are recorded": {"5", nil, nil},
		"no number":            {"", []string{"5"}, nil},
		"the mean": {
			"4",
			[]string{"1", "2", "9"},
			[]string{"the measured metric of the incumbent is 4, and the median of its samples is 2"},
		},
		"the best": {
			"1",
			[]string{"1", "2"},
			[]string{"the measured metric of the incumbent is 1, and the median of its samples is 1.5"},
		},
		"the last digit": {
			"9007199254740993",
			[]string{"9007199254740992"},
			[]string{"the measured metric of the incumbent is 9007199254740993, and the median of its samples is " +
				"9007199254740992"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &history.Measured{Head: history.Head{Run: "a", Iteration: 3}, Role: history.Incumbent, Stage: "pairs"}
			if c.number != "" {
				e.Metric = number(c.number)
			}
			for _, text := range c.samples {
				e.Samples = append(e.Samples, metric.MustValue(text))
			}
			assert.Equal(t, c.says, findings([]history.Event{&history.Started{Head: e.Head}, e}))
		})
	}
}
