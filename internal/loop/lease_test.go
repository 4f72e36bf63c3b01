package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestHolderOfLease: a lease holds while it lasts and its run lives, and its holder is
// named as a person can find it.
func TestHolderOfLease(t *testing.T) {
	t.Parallel()
	const lasts = time.Minute
	for name, c := range map[string]struct {
		run         string
		left        time.Duration
		handed      bool
		dead, aside bool
	}{
		"its own": {run: "now", left: lasts},
		"a process": {
			run: "other", left: lasts,
		},
		"a process that is gone":                          {run: "other", left: lasts, dead: true},
		"for another job, which does not hinder commands": {run: "other", left: lasts, handed: true, aside: true},
		"at its end": {run: "other"},
	} {
		d := newMemoryRun(t, "")
		d.Alive, d.aside = func(history.Lease) bool { return !c.dead }, c.aside
		lease := &history.Lease{Host: "there", PID: 7, Until: noon.Add(c.left), Handed: c.handed}
		open := &history.Started{Head: history.Head{Run: c.run}, Lease: lease}
		holder := d.leaseHolder(&records{course: d.course, Summary: history.Summary{Open: open}})
		golden.Row(t, name, holder)
	}
}

// TestHowLongALeaseLasts: longer than the iteration may take, with its wait for CI, and
// longer still for a job that has to wait for a runner.
func TestHowLongALeaseLasts(t *testing.T) {
	t.Parallel()
	for _, handed := range []bool{false, true} {
		d := newMemoryRun(t, "timeout-minutes: 30\nci-wait: 20m", wasMeasured("1"))
		d.clock = noon.Add(1500 * time.Millisecond).In(time.FixedZone("", 3600))
		want := noon.Add(time.Second + 55*time.Minute)
		if handed {
			want = want.Add(3 * time.Hour)
		} else {
			d.GitHub, want = nil, want.Add(-20*time.Minute)
		}
		d.Holder.Handed = handed
		require.NoError(t, d.acquireLease(t.Context()))
		assert.Equal(t, want, d.written().Open.Lease.Until, "to the second, in UTC")
		assert.Equal(t, []string{"refs/heads/autoloop/p"}, d.stored.claims,
			"that the branch is checked out is found out now")
	}
}

// TestStartNumberAndReservation: which number it has, what it reserves, and what is recorded before it.
func TestStartNumberAndReservation(t *testing.T) {
	t.Parallel()
	rejected := func() *history.Decided { return wasDecided(3, history.Rejected, "1", "") }
	for name, c := range map[string]struct {
		front  string
		before []history.Event
		change func(d *memoryRun)
		told   string
	}{
		"a pause that was edited": {
			"",
			[]history.Event{wasMeasured("1"), rejected(), &history.Paused{Reason: decision.Say("x")}},
			func(d *memoryRun) { d.edit("| Paused | true |", "| Paused | false |") }, "resumed started",
		},
		"a state without a ledger": {
			"",
			[]history.Event{wasMeasured("1"), rejected()},
			func(d *memoryRun) { d.stored.files.Ledger = nil },
			"adopted-iteration=3 adopted-statuses=rejected started",
		},
		"within a budget": {
			"budget:\n  usd: 4\n  tokens: 100\n  minutes: 20\n  per: day",
			[]history.Event{wasMeasured("1"), having(rejected(), 30, "1")},
			nil, "started",
		},
	} {
		d := newMemoryRun(t, c.front, c.before...)
		if c.change != nil {
			c.change(d)
		}
		require.NoError(t, d.acquireLease(t.Context()), name)
		assert.ElementsMatch(t, strings.Fields(c.told), d.told(), name)
		after := d.written()
		assert.Equal(t, []int{4, 4}, []int{after.Open.Iteration, d.iteration}, name)
		require.NoError(t, after.holdsLease(), name)
		if got := after.Open.Reserved; c.front == "" {
			assert.Nil(t, got, name)
		} else {
			assert.Equal(t, []any{int64(70), "3", 20.0}, []any{got.Tokens, got.CostUSD.String(), got.Minutes}, name)
		}
	}
}

// having is a decision whose agent used that much.
func having(e *history.Decided, tokens int64, usd string) *history.Decided {
	e.Usage = &metric.Usage{InputTokens: &tokens, OutputTokens: new(int64), CostUSD: metricOf(usd)}
	return e
}

// edit changes the state file as a person does.
func (d *memoryRun) edit(from, to string) {
	d.t.Helper()
	text := string(d.stored.files.State)
	require.Contains(d.t, text, from)
	d.stored.files.State = []byte(strings.Replace(text, from, to, 1))
}

// TestJoiningAStart: a job works under the start that an earlier job of the same run of
// Actions recorded for it, and under no other.
func TestJoiningAStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actions  string // of the start, "" for none
		own      bool   // it is for no other job
		mustJoin bool
		bundle   string
		id       string // the run that goes on
	}{
		"a start of this run":    {actions: "12.1", mustJoin: true, id: "earlier"},
		"a start of another run": {actions: "11.1"},
		"a start that is for no other job": {
			actions: "12.1", own: true,
		},
		"no start, and there has to be one": {mustJoin: true},
		"that of a bundle":                  {actions: "11.1", own: true, bundle: "earlier", id: "earlier"},
	} {
		var before []history.Event
		if c.actions != "" {
			before = append(before, &history.Started{
				Head: history.Head{Run: "earlier", Iteration: 1},
				Lease: &history.Lease{
					Host: "there", ActionsRun: c.actions, Handed: !c.own,
					Until: noon.Add(time.Minute),
				},
			})
		}
		d := newMemoryRun(t, "", before...)
		d.joins, d.MustReserve, d.Holder.ActionsRun = true, c.mustJoin, "12.1"
		if c.bundle != "" {
			d.joinHanded(d.records, c.bundle)
			assert.Equal(t, c.id, d.records.id, name)
			continue
		}
		err := d.acquireLease(t.Context())
		golden.Row(t, name, err)
		if err != nil {
			assert.Empty(t, d.stored.messages, name)
			continue
		}
		assert.Equal(t, c.id, d.id, name)
		assert.Len(t, d.written().log.Events, 1, "%s: no other start", name)
	}
}

// TestIterationDoesNotBegin: a pause, a completion, a budget and CI without
// GitHub; force disregards the first two and says so, and an iteration that waits for CI
// may always ask.
func TestIterationDoesNotBegin(t *testing.T) {
	t.Parallel()
	gain := []history.Event{wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord)}
	waits := []history.Event{wasMeasured("1"), wasDecided(1, history.PendingCI, "4", firstOnRecord)}
	paused := &history.Paused{Reason: decision.Say("x")}
	overspent := "budget:\n  iterations: 1\n  per: day"
	for name, c := range map[string]struct {
		front  string
		before []history.Event
		force  bool
		away   bool // no GitHub
	}{
		"a pause": {
			before: append(gain[:2:2], paused),
		},
		"a pause, with force": {
			before: append(gain[:2:2], paused), force: true,
		},
		"a budget": {
			front: overspent, before: gain,
		},
		"it waits for CI":               {before: waits},
		"it waits for CI and is paused": {before: append(waits[:2:2], paused)},
		"it waits for CI, no GitHub":    {before: waits, away: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, c.front, c.before...)
			d.Force = c.force
			if c.away {
				d.GitHub = nil
			}
			err := d.acquireLease(t.Context())
			golden.Line(t, []any{err == nil, isResting(err), d.stopped, d.written().Forced})
			if err == nil {
				return
			}
			assert.Equal(t, d.cameTo(err).Stopped, err.Error())
			assert.Empty(t, d.stored.messages, "nothing is recorded")
			require.NotNil(t, d.records, "the reason is shown with the numbers on record")
		})
	}
}

// TestReserve: a start for another job is recorded when an iteration may begin, else the
// result says why none does.
func TestReserve(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nplateau: 1\ncandidates: 1", "4", "3", "5", "9")
	b.service.Holder = history.Lease{Host: "here", PID: 7, ProcessStart: "9", Namespace: "n", ActionsRun: "12.1"}
	b.service.Alive = func(history.Lease) bool { return true }
	reserve := func() Reservation {
		reserved, err := b.service.Reserve(t.Context())
		require.NoError(t, err)
		return reserved
	}
	assert.Equal(t, Reservation{Program: "p", Begun: true, Iteration: 1, RunID: "run-1"}, reserve())
	open := b.records().Open
	assert.Equal(t, []any{"run-1", 1}, []any{open.Run, open.Iteration})
	want := history.Lease{Host: "here", ActionsRun: "12.1", Handed: true, Until: open.Lease.Until}
	assert.Equal(t, &want, open.Lease, "no process holds it")
	again := reserve()
	assert.False(t, again.Begun)
	assert.Contains(t, again.Reason, "run run-1 (Actions run 12.1) works on")

	other := *b.service
	other.Holder.ActionsRun = "13.1"
	before := b.refs()
	nothing, err := other.Chores(t.Context(), true)
	require.NoError(t, err)
	assert.Contains(t, decision.Joined(nothing.Reasons), "no start of this run is open")
	assert.Equal(t, before, b.refs(), "the start of another run stays")
	given, err := b.service.Chores(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, history.Idle, given.Outcome)
	after := b.records()
	assert.Nil(t, after.Open)
	assert.Equal(t, []any{0, 0, true},
		[]any{after.Interrupted, after.Spent(time.Time{}).Iterations, after.LastRun.IsZero()},
		"it counts as no run")

	reserved := reserve()
	b.service.MustReserve = true
	made := b.made()
	assert.Equal(t, reserved.RunID, made.Run, "it is proposed under that start")
	result, err := b.service.Publish(t.Context(), made)
	require.NoError(t, err)
	assert.Contains(t, result.Stopped, "paused: plateau")
	assert.Contains(t, reserve().Reason, "paused: plateau: 1 rejections in a row")
	_, _, err = b.service.Propose(t.Context())
	require.NoError(t, err, "that it rests is a result")
	b.service.Force = true
	_, _, err = b.service.Propose(t.Context())
	require.ErrorIs(t, err, errNoStart)
}

// TestPauseEndsBeforeStart: a comment that ends it is applied first.
func TestPauseEndsBeforeStart(t *testing.T) {
	t.Parallel()
	paused := []history.Event{wasMeasured("1"), &history.Paused{Reason: decision.Say("x")}}
	for name, c := range map[string]struct {
		say  commands.CommandKind
		away bool
		down bool
	}{
		"nobody says anything": {},
		"resume": {
			say: commands.Resume,
		},
		"without GitHub": {say: commands.Resume, away: true},
		"GitHub is down": {say: commands.Resume, down: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", paused...)
			if d.hub.down = c.down; c.say != "" {
				d.hub.say(c.say, "")
			}
			if c.away {
				d.GitHub = nil
			}
			err := d.acquire(t.Context())
			golden.Line(t, []any{err == nil, isResting(err), d.told(), len(d.hub.answers)})
		})
	}
}

// TestRunsThatVanish: the third in a row pauses the program, where people look, before
// another begins.
func TestRunsThatVanish(t *testing.T) {
	t.Parallel()
	lost := func(run string) *history.Started {
		return &history.Started{
			Head:  history.Head{Run: run, Iteration: 1},
			Lease: &history.Lease{Host: "there", PID: 7, Until: noon.Add(-time.Minute)},
		}
	}
	before := []history.Event{wasMeasured("1"), lost("a"), lost("b")}
	d := newMemoryRun(t, "", before...)
	result := d.cameTo(d.reserve(t.Context()))
	assert.Empty(t, result.Outcome, "two are not too many")
	assert.Equal(t, []string{"started"}, d.told())

	d = newMemoryRun(t, "", append(before, lost("c"))...)
	d.hub.say(commands.Note, "hello")
	result = d.cameTo(d.reserve(t.Context()))
	assert.Equal(t, history.Error, result.Outcome)
	after := d.written()
	assert.Contains(t, decision.Text(after.Paused),
		"iteration 1 was interrupted 3 times in")
	assert.Contains(t, result.Stopped, "paused: "+decision.Text(after.Paused)+"; go on with ")
	assert.Len(t, d.hub.answers, 1, "the comments are read first")
	assert.Nil(t, after.Open)
	assert.Zero(t, after.Interrupted, "it begins anew once it is resumed")
	assert.Equal(t, history.Error, after.Decision.Outcome)
}

// start takes the lease of an iteration, and leaves it as a run does that is
// killed.
func (b *fixture) start() *run {
	b.t.Helper()
	run := b.service.begin()
	require.NoError(b.t, run.acquireLease(b.t.Context()))
	return run
}

// TestRestingProgram: what is paused or completed does nothing, by name and
// between the iterations of a run, in one job and in two, unless it is forced.
func TestRestingProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front string
		says  string
	}{
		"paused":    {"evaluation-runs: 1\nplateau: 1", "paused: plateau: 1 rejections in a row"},
		"completed": {"evaluation-runs: 1\ntarget-metric: 5", "completed: target reached: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, c.front, "4", map[string]string{"paused": "3", "completed": "5"}[name], "6")
			require.Len(t, b.iterate(3), 1, "the others do not begin")
			before := b.refs()
			for range 2 {
				result := b.one()
				assert.Equal(t, history.Idle, result.Outcome)
				assert.Contains(t, result.Stopped, c.says)
				assert.Contains(t, result.Stopped, "or give --force")
			}
			made, result, err := b.service.Propose(t.Context())
			require.NoError(t, err)
			assert.Nil(t, made)
			assert.Contains(t, result.Stopped, c.says)
			assert.Equal(t, before, b.refs(), "nothing is written")
			b.service.GitHub, b.service.Force = nil, true
			assert.Equal(t, history.Accepted, b.one().Outcome)
			assert.Contains(t, b.records().Forced, c.says)
		})
	}
}

// TestForceGoesOnPastAPlateau: also when it is reached on the way. Only a person's pause
// while it works ends it.
func TestForceGoesOnPastAPlateau(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nplateau: 2", "4", "3", "2", "1", "0", "3")
	b.service.Force = true
	require.Len(t, b.iterate(4), 4)
	assert.False(t, b.records().machine.Paused)

	propose := b.agent
	b.agent = func(request agent.Request) agent.Reply {
		b.clock = b.clock.Add(time.Minute)
		_, err := b.pause("a holiday")
		require.NoError(t, err)
		return propose(request)
	}
	results := b.iterate(4)
	require.Len(t, results, 2)
	assert.Equal(t, history.Rejected, results[0].Outcome, "it ends as it would")
	assert.Equal(t, history.Idle, results[1].Outcome)
	assert.Contains(t, results[1].Stopped, "a holiday")
}

// TestConflictingDefaultBranch pauses, and is left to the publishing job by
// the proposing one.
func TestConflictingDefaultBranch(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3", "4")
	b.one()
	b.commit(map[string]string{"value.txt": "2\n"})
	proposed, published := b.twoJobs()
	assert.Equal(t, history.Idle, proposed.Outcome)
	assert.Contains(t, proposed.Reasons[0].String(), "`iterate job publish` does that")
	assert.Equal(t, history.Error, published.Outcome)
	assert.Contains(t, published.Stopped, "paused: main does not merge")
}
