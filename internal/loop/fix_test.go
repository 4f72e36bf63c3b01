package loop

import (
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
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
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
			worker, err := b.pause("a holiday")
			require.NoError(t, err)
			assert.Empty(t, worker)
			b.clock = b.clock.Add(time.Hour)

			calls, f.promoted = 0, 0
			f.ci, b.service.Force = []ci.Result{red("build", "error: x")}, forced
			var result render.Result
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
			result := d.cameTo(w.drop(t.Context(), decision.Reason{Kind: decision.CIStuck, Words: "x"}))
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
		fix    func(d *atCI) (*Proposal, error)
		err    error
	}{
		{
			name: "fix-budget", front: "budget:\n  iterations: 1\n  per: day",
		},
		{
			name: "fix-no-time", front: "timeout-minutes: 30", worked: 30 * time.Minute,
		},
		{name: "fix-put-off", fix: func(*atCI) (*Proposal, error) {
			return &Proposal{Postponed: &history.Finished{
				NotBefore: &later, Reason: limited(later, "busy"),
				Work: history.Work{Agent: "scripted"},
			}}, nil
		}},
		{name: "fix-failed", fix: func(d *atCI) (*Proposal, error) {
			return &Proposal{Checked: &history.Checked{
				Head: history.Head{Iteration: 2}, Commit: ids["candidate"],
				Signature: failure.Signature(), Failed: &decision.Reason{Kind: decision.NoChange},
			}}, nil
		}},
		{
			name: "fix-same", before: []history.Event{checked("another", failure.Signature())},
		},
		{
			name: "fix-fifth", before: four,
			fix: func(*atCI) (*Proposal, error) { return nil, errBroken }, err: errBroken,
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
			d.fixer = func(_ context.Context, w *waiting, left time.Duration) (position, *Proposal, error) {
				asked = left
				assert.Equal(t, failure, w.ci)
				p, err := c.fix(d)
				if p != nil {
					p.Kind = forFix
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
