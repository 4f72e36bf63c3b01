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

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/lifecycle"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestPausedProgramAsksNoAgent: what CI says late is taken, and nobody is asked to fix it and
// nothing is proposed, in one job and in two, unless it is forced.
func TestPausedProgramAsksNoAgent(t *testing.T) {
	t.Parallel()
	for _, forced := range []bool{false, true} {
		t.Run(fmt.Sprint(forced), func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1")
			calls := 0
			b.proposeInTurn(&calls, "3", "4")
			f := onGitHub(t, b)
			f.ci = []ci.Result{unanswered()}
			require.Equal(t, history.PendingCI, b.one().Outcome)
			worker, err := b.service.Pause(t.Context(), "a holiday")
			require.NoError(t, err)
			assert.Empty(t, worker)
			b.clock = b.clock.Add(time.Hour)

			calls, f.promoted = 0, 0
			f.ci, b.service.Force = []ci.Result{red("build", "error: x")}, forced
			var result Result
			if forced {
				result = b.one()
			} else {
				_, result = b.twoJobs()
				_, err = b.service.ApplyCommands(t.Context())
				require.NoError(t, err)
			}
			golden.Line(t, result.Outcome)
			assert.Equal(t, []bool{forced, forced, true}, []bool{calls > 0, f.promoted > 0, b.records().machine.Paused})
		})
	}
}

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

// TestFailureEnds: what is red for good goes back to the last accepted commit, stays on
// a branch of its own, and pauses the program with what to do.
func TestFailureEnds(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	refusal := refusedPush("refs/heads/autoloop/p", "[remote rejected] (protected branch hook declined)")
	for _, c := range []struct {
		name   string
		taken  string // where the branch of the attempt is already
		remote string // where the branches are, "" for here
		err    error  // of the write that takes the branch back
	}{
		{
			name: "ends",
		},
		{
			name: "ends-again", taken: "candidate", // it was killed before that was on record
		},
		{
			name: "ends-elsewhere", taken: "theirs",
		},
		{
			name: "ends-elsewhere-there", taken: "theirs", remote: "a clone",
		},
		{
			name: "ends-nowhere", remote: "gone",
		},
		{
			name: "ends-refused", err: refusal,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newAtCI(t, g, ids, c.name, "flow", "", time.Minute)
			kept := "refs/heads/autoloop-failed/" + c.name + "/2"
			there := func(args ...string) string { return g.git(t, args...) }
			if d.Memory.Remote = c.remote; c.remote == "a clone" {
				d.Memory.Remote = t.TempDir()
				g.git(t, "clone", "--quiet", "--bare", g.Root, d.Memory.Remote)
				there = func(args ...string) string { return g.git(t, append([]string{"-C", d.Memory.Remote}, args...)...) }
			}
			if c.taken != "" {
				there("update-ref", kept, ids[c.taken])
			}
			d.stored.failures = []error{c.err}
			verdict := red("build", "error: x")
			verdict.Failing[0].URL = "https://ci.example/1"
			w := &waiting{run: d.run, e: *d.records.Decision, head: ids["candidate"], ci: verdict}
			result := d.cameTo(w.giveUp(t.Context(), decision.Reason{Kind: decision.CIStuck, Words: "x"}))
			assert.Equal(t, history.CIFixExhausted, result.Outcome)
			assert.Equal(t, []string{"stuck in CI fix loop: x", "build fails"}, decision.Texts(result.Reasons))
			assert.Equal(t, []history.Check{{Name: "build", URL: "https://ci.example/1"}}, result.Failing)
			assert.Nil(t, result.Commit)
			after := d.written()
			words, _, _ := strings.Cut(decision.Text(after.Paused), "; run it again")
			golden.Line(t, strings.NewReplacer(ids["candidate"], "COMMIT", ids["candidate"][:12], "COMMIT").Replace(words))
			assert.Contains(t, result.Stopped, "paused: "+decision.Text(after.Paused)+"; go on with ")
			assert.Equal(t, []string{"started", "decided", "finished", "paused"}, d.told())
			assert.Equal(t, []string{"2", ids["kept"]}, []string{after.Best.String(), after.Incumbent})
			assert.True(t, after.CISeen)
			want := &git.RefUpdate{Ref: d.ref(), New: ids["kept"], Old: ids["candidate"]}
			if c.err != nil {
				want = nil
			}
			assert.Equal(t, []*git.RefUpdate{want}, d.stored.moves)
			if c.taken == "theirs" {
				assert.Equal(t, ids[c.taken], there("rev-parse", kept), "what somebody put there stays")
				kept += "-" + ids["candidate"][:12]
			}
			if c.remote == "gone" {
				assert.Contains(t, strings.Join(d.warnings, "\n"), "the attempt is not kept")
				return
			}
			assert.Equal(t, ids["candidate"], there("rev-parse", kept))
			assert.Empty(t, d.warnings)
		})
	}
}

// TestFixIsAskedFor: an agent is asked when it may work, there is time left and the
// failure is not one that stays; otherwise the iteration waits or ends, with the reason.
func TestFixIsAskedFor(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	ids := commitForCI(t, g)
	failure := red("build", "error: x")
	checked := func(commit, signature string) history.Event {
		return &history.Checked{Head: history.Head{Iteration: 2}, Commit: commit, Signature: signature}
	}
	four := []history.Event{checked("a", "one"), checked("b", "two"), checked("c", "three"), checked("d", "four")}
	later := noon.Add(time.Hour)
	for _, c := range []struct {
		name   string
		front  string
		before []history.Event
		worked time.Duration // since the run began
		fix    func(d *atCI) (*proposal.Proposal, error)
		err    error
	}{
		{
			name: "fix-budget", front: "budget:\n  iterations: 1\n  per: day",
		},
		{
			name: "fix-no-time", front: "timeout-minutes: 30", worked: 30 * time.Minute,
		},
		{name: "fix-put-off", fix: func(*atCI) (*proposal.Proposal, error) {
			return &proposal.Proposal{Postponed: &history.Finished{
				NotBefore: &later, Reason: limited(later, "busy"),
				Work: history.Work{Agent: "scripted"},
			}}, nil
		}},
		{name: "fix-failed", fix: func(d *atCI) (*proposal.Proposal, error) {
			return &proposal.Proposal{Checked: &history.Checked{
				Head: history.Head{Iteration: 2}, Commit: ids["candidate"],
				Signature: failure.Signature(), Failed: &decision.Reason{Kind: decision.NoChange},
			}}, nil
		}},
		{
			name: "fix-same", before: []history.Event{checked("another", failure.Signature())},
		},
		{
			name: "fix-fifth", before: four,
			fix: func(*atCI) (*proposal.Proposal, error) { return nil, errBroken }, err: errBroken,
		},
		{
			name: "fix-sixth", before: append(slices.Clone(four), checked("e", "five")),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newAtCI(t, g, ids, "at-ci", "flow", c.front, time.Minute, c.before...)
			d.clock = d.clock.Add(c.worked)
			asked := time.Duration(0)
			d.fixer = func(_ context.Context, w *waiting, left time.Duration) (position, *proposal.Proposal, error) {
				asked = left
				assert.Equal(t, failure, w.ci)
				p, err := c.fix(d)
				if p != nil {
					p.Kind = proposal.Fix
				}
				return position{}, p, err
			}
			w := &waiting{run: d.run, e: *d.records.Decision, head: ids["candidate"], ci: failure}
			d.iteration, w.event = w.e.Iteration, w.happened(t.Context(), true)
			err := w.settle(t.Context())
			assert.Equal(t, c.fix != nil, asked == 45*time.Minute)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			result := d.cameTo(err)
			golden.Line(t, []any{result.Outcome, result.Reasons})
			after := d.written()
			if c.name == "fix-failed" {
				assert.Equal(t, []string{"started", "checked"}, d.told()[:2])
				assert.Equal(t, 1, after.Fixes(), "a failed attempt counts")
			}
			assert.Equal(t, result.Outcome == history.CIFixExhausted, after.machine.Paused)
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

// TestFixesThatDoNotHelp: an attempt that runs out of time, changes nothing or makes the
// number worse is a failed one, with what it used. The candidate stays what it is until five
// have failed.
func TestFixesThatDoNotHelp(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1", "3")
	f := onGitHub(t, b)
	f.ci = []ci.Result{unanswered()}
	require.Equal(t, history.PendingCI, b.one().Outcome)
	candidate := b.git("rev-parse", "autoloop/p")
	failure := red("build", "error: x")

	run := b.start()
	at, err := run.positionOf(t.Context(), *run.records.Decision)
	require.NoError(t, err)
	assert.Equal(t, []string{b.git("rev-parse", "main"), candidate, candidate}, []string{at.Head, at.Branch, at.Start},
		"it is measured against the incumbent, and begins with the candidate")
	late, err := run.attemptFix(t.Context(), at, failure.Report(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, decision.TooLong, late.Reasons[0].Kind)

	f.ci = []ci.Result{failure}
	calls := 0
	b.agent = func(request agent.Request) agent.Reply {
		assert.Contains(t, request.Prompt, "error: x", "it is told what CI said")
		if calls++; calls == 2 {
			b.write(request.Dir, map[string]string{"value.txt": "0\n"})
		}
		return agent.Reply{Summary: "try", Usage: metric.Usage{CostUSD: metricOf("1")}}
	}
	result := b.one()
	assert.Equal(t, history.CIFixExhausted, result.Outcome)
	assert.Contains(t, result.Stopped, "ci-fix-exhausted: "+failure.Signature())
	assert.Equal(t, "1", b.kept())
	assert.Equal(t, candidate, b.git("rev-parse", "autoloop-failed/p/1"))
	var problems []string
	for _, e := range history.Of[*history.Checked](b.records().log.Events) {
		problems = append(problems, decision.Text(e.Failed))
		assert.Equal(t, []string{candidate, failure.Signature(), "1"}, []string{
			e.Commit, e.Signature,
			e.Usage.CostUSD.String(),
		})
	}
	require.Len(t, problems, maxFixes)
	assert.Contains(t, problems[0], "no change proposed")
	assert.Contains(t, problems[1], "0 is worse than the best 1")
	b.replays()
}
