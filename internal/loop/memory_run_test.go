package loop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// memoryRun is one run of the program p whose records are in memory, so that a rule about
// records takes neither a repository nor a process.
type memoryRun struct {
	*run
	t       *testing.T
	clock   time.Time
	stored  *memoryStore
	hub     *fakeGitHub
	service *Service
}

// noon is when a memoryRun begins: its earlier events were an hour before.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// newMemoryRun puts events of earlier runs on record. front are further lines of the
// program's frontmatter. Events without a run are of the run "earlier".
func newMemoryRun(t *testing.T, front string, events ...history.Event) *memoryRun {
	t.Helper()
	return newMemoryRunIn(t, nil, "p", front, events...)
}

// newMemoryRunIn is newMemoryRun for a program of any name in a repository, whose branches it reads.
func newMemoryRunIn(t *testing.T, repo *git.Repo, name, front string, events ...history.Event) *memoryRun {
	t.Helper()
	return newMemoryRunOf(t, repo, name, fmt.Sprintf(testProgram, front), events...)
}

// newMemoryRunOf is newMemoryRunIn for a whole program file.
func newMemoryRunOf(t *testing.T, repo *git.Repo, name, text string, events ...history.Event) *memoryRun {
	t.Helper()
	p := program.Parse(".autoloop/programs/"+name+".md", []byte(text))
	require.Empty(t, p.Problems)
	d := &memoryRun{t: t, clock: noon, stored: &memoryStore{}, hub: &fakeGitHub{}}
	d.stored.files = onRecord(t, p, events...)
	d.service = &Service{
		Repo: repo, Memory: &memory.Memory{Repo: repo, Now: d.now}, Program: p, GitHub: d.hub, Repository: "o/r",
		Agents: []Proposer{{Agent: &fixture{}}}, Now: d.now, NewRun: func() string { return "now" },
		Holder: history.Lease{Host: "here", PID: 1}, Alive: func(history.Lease) bool { return true },
		Sleep: func(_ context.Context, d2 time.Duration) error { d.clock = d.clock.Add(d2); return nil },
	}
	d.run = d.service.begin()
	d.store = d.stored.Update
	var err error
	d.files = d.stored.files
	d.records, err = openRecords(d.session, d.files)
	require.NoError(t, err)
	d.iteration = d.records.Iteration + 1
	return d
}

// now is a clock that stands still until somebody sleeps.
func (d *memoryRun) now() time.Time { return d.clock }

// written is what is on record by now.
func (d *memoryRun) written() *records {
	d.t.Helper()
	opened, err := openRecords(sessionOf(d.Program), d.stored.files)
	require.NoError(d.t, err)
	opened.course = d.course
	return opened
}

// cameTo is what a part of a run came to.
func (d *memoryRun) cameTo(err error) render.Result {
	d.t.Helper()
	end, is := errors.AsType[*endedError](err)
	if !is {
		require.NoError(d.t, err)
	}
	return d.result(end)
}

// isResting reports whether no iteration may begin because the program is paused or completed.
func isResting(err error) bool {
	end, is := errors.AsType[*endedError](err)
	return is && end.resting
}

// told are the kinds of the events that this run recorded, a setting as key=value.
func (d *memoryRun) told() []string {
	d.t.Helper()
	kinds := []string{}
	for _, e := range d.written().log.Events {
		if e.Header().Run != d.id {
			continue
		}
		kind := string(history.KindOf(e))
		if set, is := e.(*history.Set); is {
			kind = set.Key + "=" + set.Value
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// onRecord are the files of a program with these events. A pause or a completion is in
// the state too, as whoever records one writes it.
func onRecord(t *testing.T, p *program.Program, events ...history.Event) memory.Files {
	t.Helper()
	if len(events) == 0 {
		return memory.Files{}
	}
	b, err := openRecords(sessionOf(p), memory.Files{})
	require.NoError(t, err)
	for i, e := range events {
		head := e.Header()
		run, at := head.Run, head.Time
		if run == "" {
			run = "earlier"
		}
		if at.IsZero() {
			at = noon.Add(-time.Hour + time.Duration(i)*time.Second)
		}
		require.NoError(t, b.log.Append(history.Stamp(e, run, at)))
		switch e := e.(type) {
		case *history.Paused:
			b.machine.Paused, b.machine.PauseReason = true, e.Reason.String()
		case *history.Completed:
			b.machine.Completed, b.machine.CompletedReason = true, e.Reason.String()
		case *history.Resumed:
			b.machine.Paused, b.machine.Completed = false, false
		}
	}
	b.Summary = b.log.Summary()
	return b.files()
}

// memoryStore is a store that keeps the files of one program in memory.
type memoryStore struct {
	files    memory.Files
	messages []string         // of what was written, in order
	moves    []*git.RefUpdate // with each of them, nil for none
	claims   []string         // of each of them
	failures []error          // of the next updates, after they were applied; nil is none
	rival    func()           // optional: writes once, after an update was applied the first time
}

// Update changes the files, unless that is to fail.
func (s *memoryStore) Update(ctx context.Context, u memory.Update) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	files, err := u.Apply(s.files)
	if err != nil {
		return "", err
	}
	if rival := s.rival; rival != nil {
		s.rival = nil
		rival()
		if files, err = u.Apply(s.files); err != nil {
			return "", err
		}
	}
	if len(s.failures) > 0 {
		err, s.failures = s.failures[0], s.failures[1:]
	}
	if err != nil {
		return "", err
	}
	s.files = files
	s.messages, s.moves, s.claims = append(s.messages, u.Message), append(s.moves, u.Branch), append(s.claims, u.Claims)
	return "", nil
}

// wasSet is an event that makes a setting.
func wasSet(key, value string) *history.Set { return &history.Set{Key: key, Value: value} }

// metricOf is a metric.
func metricOf(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// Commits of what is on record in a memoryRun.
const (
	baseOnRecord   = "ba5e000000000000000000000000000000000000"
	firstOnRecord  = "1111111111111111111111111111111111111111"
	secondOnRecord = "2222222222222222222222222222222222222222"
)

// wasMeasured is a measurement of the default branch.
func wasMeasured(value string) *history.Measured {
	return &history.Measured{
		Role: history.Baseline, Metric: metricOf(value), Samples: []metric.Value{*metricOf(value)},
		Commit: baseOnRecord, BaseBranch: "main", Direction: metric.Higher,
	}
}

// wasDecided is the end of an iteration, which raised the metric to a value.
func wasDecided(iteration int, outcome state.Status, value, commit string) *history.Decided {
	return &history.Decided{
		Head: history.Head{Iteration: iteration}, Outcome: outcome, Metric: metricOf(value), Best: metricOf(value),
		Commit: commit, Parent: baseOnRecord, Verdict: "improved", Work: history.Work{Summary: "try " + value},
	}
}
