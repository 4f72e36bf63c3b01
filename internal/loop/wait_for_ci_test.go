package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// atCI is a memoryRun whose iteration 2 waits for CI, on top of what iteration 1 kept.
type atCI struct {
	*memoryRun
	ids   map[string]string
	slept []time.Duration
}

// commitForCI commits a default branch without a workflow and one with, and an accepted commit
// and a candidate on top.
func commitForCI(t *testing.T, g *commitRepo) map[string]string {
	t.Helper()
	return g.commit(
		t,
		commitSpec{name: "base", branch: "ci/plain", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{
			name: "flow", branch: "ci/flow", parents: "base",
			files: map[string]string{".github/workflows/ci.yml": "on: push\njobs: {}\n"},
		},
		commitSpec{
			name:    "kept",
			parents: "flow",
			message: ofIteration(1),
			files:   map[string]string{"value.txt": "2\n"},
		},
		commitSpec{
			name: "candidate", branch: BranchPrefix + "at-ci", parents: "kept", message: ofIteration(2),
			files: map[string]string{"value.txt": "3\n"},
		},
		commitSpec{
			name: "fix", parents: "candidate", message: ofIteration(2),
			files: map[string]string{"value.txt": "4\n"},
		},
		commitSpec{
			name: "theirs", branch: BranchPrefix + "moved", parents: "kept",
			files: map[string]string{"value.txt": "9\n"},
		},
	)
}

// newAtCI is a run that found the iteration waiting for the given time since its push.
func newAtCI(t *testing.T, g *commitRepo, ids map[string]string, name, base, front string, since time.Duration,
	more ...history.Event,
) *atCI {
	t.Helper()
	measured := wasMeasured("1")
	measured.Commit, measured.BaseBranch = ids[base], "ci/"+map[string]string{"base": "plain", "flow": "flow"}[base]
	first := wasDecided(1, history.Accepted, "2", ids["kept"])
	first.Parent = ids[base]
	second := wasDecided(2, history.PendingCI, "3", ids["candidate"])
	second.Parent, second.Time, second.Reasons = ids["kept"], noon.Add(-since), decision.Says("3 is better than 2")
	start := &history.Started{
		Head:  history.Head{Run: "now", Iteration: 2, Time: noon},
		Lease: &history.Lease{Host: "here", PID: 1, Until: noon.Add(time.Hour)},
	}
	events := append([]history.Event{measured, first, second}, more...)
	d := &atCI{memoryRun: newMemoryRunIn(t, g.Repo, name, front, append(events, start)...), ids: ids}
	d.Base = measured.BaseBranch
	d.Sleep = func(ctx context.Context, pause time.Duration) error {
		d.slept = append(d.slept, pause)
		d.clock = d.clock.Add(pause)
		return ctx.Err()
	}
	d.heard()
	return d
}

// TestPausesBetweenQuestionsToCI: at once, then with pauses that commit up to a minute, and in all as long
// as the program waits; without GitHub's comments only once.
func TestPausesBetweenQuestionsToCI(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	for _, heard := range []bool{true, false} {
		d := newAtCI(t, g, ids, "at-ci", "flow", "ci-wait: 7m", time.Minute)
		d.hub.ci = []ci.Result{unanswered()}
		if !heard {
			d.comments = nil
		}
		d.cameTo(d.await(t.Context()))
		assert.Len(t, d.hub.judged, len(d.slept)+1, "it is asked at once, and once more in the end")
		if !heard {
			assert.Empty(t, d.slept)
			continue
		}
		whole := d.slept[0]
		assert.Equal(t, firstPoll, whole)
		for i, pause := range d.slept[1:] {
			whole += pause
			assert.LessOrEqual(t, pause, min(2*d.slept[i], time.Minute))
			assert.True(t, i == len(d.slept)-2 || pause > d.slept[i] || pause == time.Minute)
		}
		assert.Equal(t, 7*time.Minute, whole)
	}
}

// TestWordsOfCI: what becomes of an iteration by what CI says of its commit.
func TestWordsOfCI(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	unread := ci.Result{
		State: ci.Pending, Seen: -1,
		Reasons: []decision.Reason{{Kind: decision.CIFound, Term: ci.Unread, Words: "CI could not be read: 403"}},
	}
	nothing := ci.Result{State: ci.Pending, Reasons: []decision.Reason{{Kind: decision.CIFound, Term: ci.NoSuccess, Words: "no check has run"}}}
	for _, c := range []struct {
		name   string
		front  string
		says   []ci.Result
		since  time.Duration
		paused bool
		merged bool // by a person meanwhile
		// timedOut says that the program was paused at ci-timeout.
		timedOut bool
		program  string // whose branch is elsewhere; "" for one whose branch is at the candidate
	}{
		{
			name: "says-green", says: []ci.Result{green()}, timedOut: true,
		},
		{
			name: "says-red-merged", says: []ci.Result{red("build", "error: x")}, merged: true, timedOut: true,
		},
		{
			name: "says-red-off", front: "ci-gate: off", says: []ci.Result{red("build", "error: x")}, timedOut: true,
		},
		{
			name: "says-moved", program: "moved", timedOut: true, says: []ci.Result{green()},
		},
		{
			name: "says-gone", program: "gone", says: []ci.Result{red("build", "error: x")},
		},
		{
			name: "says-red", says: []ci.Result{red("build", "error: x")},
		},
		{
			name: "says-nothing-for-long", says: []ci.Result{nothing}, since: 2 * time.Hour, paused: true,
		},
		{
			name: "says-unread-for-long", says: []ci.Result{unread}, since: 2 * time.Hour, paused: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.since == 0 {
				c.since = time.Minute
			}
			var before []history.Event
			if c.timedOut {
				before = append(before, &history.Paused{Reason: decision.Reason{Kind: decision.CITimeout}})
			}
			d := newAtCI(t, g, ids, cmp.Or(c.program, "at-ci"), "flow", "ci-wait: 20s\n"+c.front, c.since, before...)
			d.hub.ci, d.fixer = c.says, nil
			if c.merged {
				d.heard().Pull = &commands.Pull{Number: 8, Merged: true, Head: ids["candidate"]}
			}
			result := d.cameTo(d.await(t.Context()))
			assert.Equal(t, 2, result.Iteration)
			if !result.Outcome.Dropped() {
				require.NotNil(t, result.Commit)
				assert.Equal(t, ids["candidate"], *result.Commit)
			}
			after := d.written()
			assert.Equal(t, c.paused, after.machine.Paused)
			why := decision.Text(after.Paused)
			for _, e := range history.Of[*history.Resumed](after.log.Events) {
				why += "resumed: " + e.Reason.String()
			}
			golden.Line(t, strings.NewReplacer(ids["candidate"][:12], "COMMIT", ids["theirs"][:12], "THEIRS").Replace(
				fmt.Sprint([]any{d.told()[1:], result.Outcome, result.Reasons, why})))
			last := after.Decision
			assert.Equal(t, result.Outcome, last.Outcome)
			switch result.Outcome {
			case history.Accepted:
				assert.Equal(t, []string{"3", ids["candidate"]}, []string{after.Best.String(), after.Incumbent})
				assert.Equal(t, c.name == "says-green", after.CISeen)
			default:
				assert.Equal(t, []string{"2", ids["kept"]}, []string{after.Best.String(), after.Incumbent},
					"the incumbent is what CI let through")
				assert.Equal(t, result.Outcome == history.PendingCI, last.Commit != "")
			}
			for _, move := range d.stored.moves {
				assert.Nil(t, move, "the branch is where it was")
			}
		})
	}
}

// TestUnreadBranchDecidesNothing, whatever CI says: it is asked again, unless a person merged the commit.
func TestUnreadBranchDecidesNothing(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	for _, c := range []struct {
		says   ci.Result
		front  string
		since  time.Duration
		merged bool
		want   lifecycle.Event
	}{
		{says: green(), want: lifecycle.Pending},
		{says: red("build", "error: x"), want: lifecycle.Pending},
		{says: unanswered(), front: "ci-gate: off", want: lifecycle.Pending},
		{says: green(), since: 2 * time.Hour, want: lifecycle.Silent},
		{says: green(), merged: true, want: lifecycle.Merged},
	} {
		d := newAtCI(t, g, ids, "at-ci", "flow", c.front, c.since)
		d.hub.ci, d.Memory.Remote = []ci.Result{c.says}, "gone"
		if c.merged {
			d.heard().Pull = &commands.Pull{Number: 8, Merged: true, Head: ids["candidate"]}
		}
		w := d.waits(t.Context(), true)
		assert.Equal(t, c.want, w.event)
		if !c.merged {
			assert.Contains(t, decision.Joined(w.ci.Reasons), "the branch could not be read: ")
		}
	}
}

// TestWaitEnds: the run is told to stop, or has lost its lease.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	d := newAtCI(t, g, ids, "at-ci", "flow", "", time.Minute)
	d.hub.ci, d.hub.unpromoted = []ci.Result{unanswered()}, true
	d.Sleep = func(context.Context, time.Duration) error { return context.Canceled }
	err := d.await(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, d.stored.messages)

	d = newAtCI(t, g, ids, "at-ci", "flow", "", time.Minute)
	d.hub.ci, d.hub.unpromoted, d.id = []ci.Result{green()}, true, "another"
	err = d.await(t.Context())
	require.ErrorIs(t, err, errLeaseLost)
	assert.Empty(t, d.stored.messages)
}

// TestStartCI: the workflow that a program names is started once for a commit, and that it
// cannot be started keeps nothing from going on.
func TestStartCI(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	for _, c := range []struct {
		name    string
		front   string
		started string // the commit for which it was started before
		broken  string
		want    []string
	}{
		{
			name: "start-named", front: "ci-workflow: ci.yml", want: []string{"ci.yml autoloop/at-ci"},
		},
		{name: "start-again", front: "ci-workflow: ci.yml", started: ids["candidate"]},
		{
			name: "start-broken", front: "ci-workflow: ci.yml", broken: "dispatch",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newAtCI(t, g, ids, "at-ci", "flow", c.front, time.Minute, wasSet(history.CIStarted, c.started))
			d.hub.broken = map[string]error{c.broken: errBroken}
			for range 2 {
				d.publishPending(t.Context())
			}
			assert.Equal(t, c.want, d.hub.dispatched)
			golden.Line(t, strings.ReplaceAll(fmt.Sprint(d.told()[1:], d.warnings), ids["candidate"], "COMMIT"))
		})
	}
}

// TestCommitWhoseChecksCount is the base, or the nearest before it that does not ask CI
// to stay away; where that is too far away, the base itself.
func TestCommitWhoseChecksCount(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	specs := []commitSpec{{name: "0", message: "first [skip ci]"}, {name: "1", parents: "0", message: "work"}}
	for n := 2; n < 2+maxSkipped; n++ {
		specs = append(specs,
			commitSpec{name: fmt.Sprint(n), parents: fmt.Sprint(n - 1), message: fmt.Sprintf("%d [skip ci]", n)})
	}
	ids := g.commit(t, specs...)
	d := newMemoryRunIn(t, g.Repo, "p", "")
	unknown := "00000000000000000000000000000000000000ff"
	for _, c := range []struct{ base, want string }{
		{"1", "1"},
		{"5", "1"},
		{fmt.Sprint(maxSkipped), "1"},
		{fmt.Sprint(maxSkipped + 1), fmt.Sprint(maxSkipped + 1)},
	} {
		assert.Equal(t, ids[c.want], d.checkedBase(t.Context(), ids[c.base]), c.base)
	}
	assert.Equal(t, unknown, d.checkedBase(t.Context(), unknown))
	assert.Empty(t, d.checkedBase(t.Context(), ""))
}

// TestWhetherCIIsRequired: it never switches itself off, and what cannot be read is a yes.
func TestWhetherCIIsRequired(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	const flows = ".github/workflows/"
	ids := g.commit(
		t,
		commitSpec{name: "plain", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{
			name:    "skipped",
			parents: "plain",
			message: "more [skip ci]",
			files:   map[string]string{"a.txt": "1\n"},
		},
		commitSpec{name: "push", files: map[string]string{
			"value.txt": "1\n", flows + "a.yml": "on: schedule\n",
			flows + "b.yaml": "on: [push]\n",
		}},
		commitSpec{name: "schedule", files: map[string]string{"value.txt": "1\n", flows + "a.yml": "on: schedule\n"}},
		commitSpec{name: "target", files: map[string]string{
			"value.txt":     "1\n",
			flows + "a.yml": "on:\n  push:\n    paths: ['*.txt']\n",
		}},
		commitSpec{name: "broken", files: map[string]string{"value.txt": "1\n", flows + "a.yml": "on: [\n"}},
	)
	seen := []history.Event{wasMeasured("1"), wasDecided(1, history.CIFixExhausted, "2", "")}
	for _, c := range []struct {
		base   string
		front  string
		away   bool
		events []history.Event
		hasCI  bool
		broken bool
	}{
		{base: "plain"},
		{base: "skipped", hasCI: true},
		{
			base: "plain", broken: true,
		},
		{base: "schedule"},
		{base: "target"},
		{base: "broken"},
		{base: "nowhere"},
		{base: "plain", events: seen},
		{base: "plain", front: "ci-gate: required"},
		{base: "push", front: "ci-gate: off"},
		{base: "push", away: true},
		{base: "push", front: "ci-gate: required", away: true},
	} {
		t.Run(c.base+" "+c.front, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRunIn(t, g.Repo, "p", c.front, c.events...)
			if c.away {
				d.GitHub = nil
			}
			if d.hub.hasCI = c.hasCI; c.broken {
				d.hub.broken = map[string]error{"ci": errBroken}
			}
			base := ids[c.base]
			if base == "" {
				base = baseOnRecord
			}
			required := d.ciRequired(t.Context(), base, "main")
			for name, id := range ids {
				if slices.Equal(d.hub.asked, []string{id}) {
					d.hub.asked[0] = name
				}
			}
			words, _, _ := strings.Cut(fmt.Sprint(required, d.hub.asked, d.warnings), ": git ") // whose words differ
			golden.Line(t, words)
		})
	}
}
