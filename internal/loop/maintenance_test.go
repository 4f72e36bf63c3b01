package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// quiet is a GitHub that is up to date: nothing that it is sent changes anything.
type quiet struct{ *fakeGitHub }

func (quiet) Changes() int { return 0 }

// TestRepeatedBundle: one that is recorded is shown to its end when a run was interrupted,
// and refused when nothing is left to do.
func TestRepeatedBundle(t *testing.T) {
	t.Parallel()
	kept := wasDecided(1, history.Accepted, "4", firstOnRecord)
	kept.Reasons = decision.Says("4 is better than 1")
	recorded := []history.Event{
		wasMeasured("1"), kept, wasSet(history.Published, "bundle"),
		wasSet(history.IssueNumber, "7"), wasSet(history.PullNumber, "8"),
	}
	for name, c := range map[string]struct {
		before  []history.Event
		away    bool // there is no GitHub
		down    bool
		changes bool // GitHub was not up to date
		broken  string
		refused bool
		outcome history.Outcome
		reason  string
	}{
		"shown to its end": {before: recorded, refused: true},
		"not shown to its end": {
			before: recorded, changes: true, outcome: history.Accepted,
			reason: "4 is better than 1",
		},
		"its number is not noted": {before: recorded[:4], outcome: history.Accepted, reason: "4 is better than 1"},
		"of a baseline alone": {
			before:  []history.Event{wasMeasured("1"), wasSet(history.Published, "bundle")},
			changes: true, outcome: history.Idle, reason: "what waited is done",
		},
		"GitHub is down": {before: recorded, down: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", c.before...)
			d.hub.down, d.hub.broken = c.down, map[string]error{c.broken: errBroken}
			d.hub.say(commands.Pause, "not now")
			d.GitHub = quiet{d.hub}
			if c.changes {
				d.GitHub = d.hub
			}
			if c.away {
				d.GitHub = nil
			}
			r := d.run
			result, err := r.again(t.Context(), proposal.Bundle{ID: "bundle"}, "run-1")
			if c.refused {
				var refused *proposal.RefusedError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, "it was published before, by run run-1", refused.Reason)
				return
			}
			if c.down {
				require.ErrorContains(t, err, "no route to GitHub")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.outcome, result.Outcome)
			assert.Equal(t, []string{c.reason}, decision.Texts(result.Reasons))
			assert.False(t, d.written().machine.Paused, "commands are left to a later run")
			assert.Nil(t, d.comments, "it is shown once")
		})
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
	result, err := d.again(t.Context(), proposal.Bundle{ID: "bundle"}, "run-1")
	require.NoError(t, err)
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
		name    string
		base    string
		before  []history.Event
		say     bool
		away    bool
		told    []string
		outcome history.Outcome
		reason  string
		stopped string
		busy    bool
	}{
		{
			name: "waits-command", base: "root", say: true,
			told: []string{
				"started", "issue=7", "paused", "answered", "commands=1 0 0", "finished",
			},
			outcome: history.Idle,
			reason:  "paused: a holiday", stopped: "paused: a holiday",
		},
		{
			name: "waits-start", base: "root", before: []history.Event{start("now")}, away: true,
			told: []string{"started", "finished"}, outcome: history.Idle,
			reason: "the start counts as no run",
		},
		{name: "waits-busy", base: "root", before: []history.Event{start("another")}, busy: true},
		{
			name: "waits-conflict", base: "base", away: true,
			told: []string{
				"started", "decided", "finished", "paused",
			},
			outcome: history.Error, reason: "not merge into autoloop/waits-conflict,",
			stopped: "paused: waits/base does not merge",
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
			r.lease.joins = true
			result, err := r.chores(t.Context())
			if c.busy {
				var busy *blockedError
				require.ErrorAs(t, err, &busy)
				assert.Empty(t, d.stored.messages)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.outcome, result.Outcome)
			assert.Contains(t, result.Reasons[0].String(), c.reason)
			assert.Contains(t, result.Stopped, c.stopped)
			assert.Equal(t, c.told, d.told())
			assert.Equal(t, c.outcome == history.Error || c.say, d.written().machine.Paused)
			assert.Nil(t, d.written().sum.Open, "no start stays open")
		})
	}
}
