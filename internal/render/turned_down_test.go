package render_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// TestTheFirstKeptIsTurnedDownByCI: the only iteration that was ever put onto the branch was taken off by CI.
func TestTheFirstKeptIsTurnedDownByCI(t *testing.T) {
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\n---\n## Target\n`a`\n## Evaluation\n```sh\ntrue\n```\n"))
	log, err := history.Parse(nil)
	require.NoError(t, err)
	var whole []history.Event
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	was := metric.FromInt(1000)
	for number := 1; number <= 400; number++ {
		at = at.Add(time.Hour)
		is := history.Head{Run: fmt.Sprintf("%d-1", number), Time: at, Iteration: number}
		value := metric.FromInt(1001)
		events := []history.Event{&history.Started{Head: is, Lease: &history.Lease{Host: "h"}}}
		if number == 1 {
			events = append(events, &history.Measured{Head: is, Role: history.Baseline, Metric: &was, Samples: []metric.Value{was}, Evaluator: "e", Definition: "d", Direction: metric.Lower, Commit: "base", BaseBranch: "main"})
		}
		d := &history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Best: &was, PreviousBest: &was, Evaluator: "e", Definition: "d", Parent: "base", Delta: "+1", Reasons: []string{"it is worse"}, Work: history.Work{Agent: "a", Summary: fmt.Sprintf("try %d", number)}}
		if number == 5 {
			better := metric.FromInt(900)
			d.Metric, d.Best, d.Commit, d.Outcome = &better, &better, "c5", history.PendingCI
			events = append(events, d)
			e := *d
			e.Outcome, e.Best, e.Commit = history.CIFixExhausted, &was, ""
			d = &e
		}
		events = append(events, d, &history.Finished{Head: is, Outcome: d.Outcome})
		require.NoError(t, log.Append(events...))
		whole = append(whole, events...)
		s, err := log.Seal()
		require.NoError(t, err)
		if s != nil {
			log, err = history.Open(s.Checkpoint, s.Open)
			require.NoError(t, err)
		}
	}
	shown, err := log.Checkpoint().Shown()
	require.NoError(t, err)
	sum := log.Summary()
	all := history.Replay(whole)
	a := render.Account{Program: p, Events: whole, Past: &all}
	b := render.Account{Program: p, Events: append(shown, log.Events...), Past: &sum, Left: log.Checkpoint().Lines - len(shown)}
	assert.Equal(t, a.Kept() == nil, b.Kept() == nil, "kept")
	assert.Equal(t, a.Leads(), b.Leads(), "leads")
	assert.Equal(t, a.PullMark(), b.PullMark())
	assert.Equal(t, render.Pull(a, 3), render.Pull(b, 3))
	assert.Equal(t, render.Status(a), render.Status(b))
}
