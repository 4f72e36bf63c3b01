package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/history"
)

// TestCIDecides: a candidate that passed its trial waits for CI, and is what CI
// makes of it, in one job and in two.
func TestCIDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		front   string
		says    []ci.Result
		phase   history.Phase
		outcome history.Outcome
		kept    string
		reason  string
		paused  string
	}{
		{name: "green", says: []ci.Result{green()}, phase: history.PhaseAccepted, outcome: history.Accepted, kept: "3", reason: "CI is green: 2 checks"},
		{name: "green after a while", says: []ci.Result{waiting(), waiting(), green()}, phase: history.PhaseAccepted, outcome: history.Accepted, kept: "3", reason: "CI is green"},
		{name: "several candidates", front: "candidates: 2", says: []ci.Result{green()}, phase: history.PhaseAccepted, outcome: history.Accepted, kept: "3", reason: "CI is green"},
		{name: "no answer in time", says: []ci.Result{waiting()}, phase: history.PhaseWaitingForCI, outcome: history.PendingCI, kept: "3", reason: "CI did not answer yet"},
		{name: "nothing to wait for", front: "ci-gate: off", says: []ci.Result{red("build", "error: x")}, phase: history.PhaseAccepted, outcome: history.Accepted, kept: "3", reason: "3 is better than 1"},
		{name: "no check ever appears", front: "ci-timeout: 1m", says: []ci.Result{{State: ci.Pending}}, phase: history.PhaseWaitingForCI, outcome: history.PendingCI, kept: "3", paused: "ci-timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := func(b *bed, result Result) {
				assert.Equal(t, c.outcome, result.Outcome, "%v", result.Reasons)
				assert.Contains(t, strings.Join(decision.Texts(result.Reasons), "\n"), c.reason)
				assert.Contains(t, result.Stopped, c.paused)
				assert.Equal(t, c.phase, b.records().standing().Phase)
				assert.Equal(t, c.kept, b.kept())
				want := "1"
				if c.phase == history.PhaseAccepted {
					want = "3"
				}
				assert.Equal(t, want, b.records().sum.Best.String(), "the incumbent is what CI let through")
			}
			whole := newBed(t, c.front, "1", "3")
			onGitHub(t, whole).ci = c.says
			check(whole, whole.one())

			split := newBed(t, c.front, "1", "3")
			onGitHub(t, split).ci = c.says
			proposed, result := split.twoJobs()
			assert.Equal(t, history.Accepted, proposed.Outcome, "CI is not asked before the record")
			check(split, result)
		})
	}
}

// TestFixes: an agent fixes what CI finds on top of the candidate, as often as
// allowed; what does not get green is taken back.
func TestFixes(t *testing.T) {
	t.Parallel()
	values := []string{"3", "4", "5", "6", "7", "8"}
	for _, c := range []struct {
		name   string
		says   []ci.Result
		phase  history.Phase
		fixes  int
		kept   string
		failed bool
		paused string
	}{
		{name: "the first fix helps", says: []ci.Result{red("build", "error: x"), green()}, phase: history.PhaseAccepted, fixes: 1, kept: "4"},
		{name: "the second fix helps", says: []ci.Result{red("build", "error: x"), red("build", "error: y"), green()}, phase: history.PhaseAccepted, fixes: 2, kept: "5"},
		{name: "the same failure again", says: []ci.Result{red("build", "error: x")}, phase: history.PhaseRejected, fixes: 1, kept: "1", failed: true, paused: "stuck in CI fix loop"},
		{name: "five fixes are enough", says: []ci.Result{
			red("a", "error: x"), red("b", "error: x"), red("c", "error: x"), red("d", "error: x"), red("e", "error: x"), red("f", "error: x"),
		}, phase: history.PhaseRejected, fixes: 5, kept: "1", failed: true, paused: "ci-fix-exhausted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", "1")
			calls := 0
			b.proposeInTurn(&calls, values...)
			onGitHub(t, b).ci = c.says
			result := b.one()
			assert.Equal(t, c.fixes+1, calls)
			standing := b.records().standing()
			assert.Equal(t, c.phase, standing.Phase)
			assert.Equal(t, c.fixes, standing.Fixes())
			assert.Equal(t, c.kept, b.kept())
			assert.Equal(t, c.failed, strings.Contains(b.refs(), "refs/heads/autoloop-failed/p/1"))
			assert.Contains(t, result.Stopped, c.paused)
		})
	}
}

// TestAFixInTwoJobs: publishing never asks an agent, so a fix takes a proposal.
func TestAFixInTwoJobs(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1")
	calls := 0
	b.proposeInTurn(&calls, "3", "4")
	f := onGitHub(t, b)
	f.ci = []ci.Result{red("build", "error: x")}
	_, published := b.twoJobs()
	assert.Equal(t, history.PendingCI, published.Outcome)
	assert.Contains(t, strings.Join(decision.Texts(published.Reasons), "\n"), "publishing asks no agent")
	assert.Equal(t, 1, calls)

	f.ci = []ci.Result{red("build", "error: x"), red("build", "error: x"), green()}
	_, published = b.twoJobs()
	assert.Equal(t, 2, calls)
	assert.Equal(t, history.Accepted, published.Outcome, "%v", published.Reasons)
	assert.Equal(t, "4", b.kept())
	assert.Equal(t, 1, b.records().standing().Fixes())
}

// TestAStaleFix: a bundle with a fix is refused when CI has changed its mind.
func TestAStaleFix(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1")
	calls := 0
	b.proposeInTurn(&calls, "3", "4")
	f := onGitHub(t, b)
	f.ci = []ci.Result{red("build", "error: x")}
	b.twoJobs()
	made, _, err := b.service.Propose(t.Context())
	require.NoError(t, err)
	require.NotNil(t, made)
	f.ci = []ci.Result{green()}
	before := b.refs()
	_, err = b.service.Publish(t.Context(), *made)
	require.ErrorContains(t, err, "it is stale")
	assert.Equal(t, before, b.refs())

	assert.Equal(t, history.Accepted, b.one().Outcome, "the next run takes what CI says")
}

// TestTheBranchMovesWhileCIRuns: what CI says of a commit counts only while the
// branch stands there.
func TestTheBranchMovesWhileCIRuns(t *testing.T) {
	t.Parallel()
	b := newBed(t, "", "1", "3", "9")
	onGitHub(t, b).ci = []ci.Result{waiting()}
	require.Equal(t, history.PendingCI, b.one().Outcome)
	theirs := b.git("commit-tree", "autoloop/p^{tree}", "-p", "main", "-m", "a person's")
	b.git("update-ref", "refs/heads/autoloop/p", theirs)
	result := b.one()
	assert.Equal(t, history.Rejected, result.Outcome)
	assert.Contains(t, strings.Join(decision.Texts(result.Reasons), "\n"), "the branch has moved")
	assert.Equal(t, theirs, b.git("rev-parse", "autoloop/p"), "their commit stays")
}

// TestPausedProgramAsksNoAgent: what CI says late is taken, and nobody is asked to fix it and
// nothing is proposed, in one job and in two, unless it is forced.
func TestPausedProgramAsksNoAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late     ci.Result
		jobs     int
		forced   bool
		outcome  history.Outcome
		asked    bool
		proposes bool
	}{
		"red":             {late: red("build", "error: x"), jobs: 1, outcome: history.PendingCI},
		"red, two jobs":   {late: red("build", "error: x"), jobs: 2, outcome: history.PendingCI},
		"red, forced":     {late: red("build", "error: x"), jobs: 1, forced: true, asked: true, proposes: true, outcome: history.CIFixExhausted},
		"green":           {late: green(), jobs: 1, outcome: history.Accepted},
		"green, two jobs": {late: green(), jobs: 2, outcome: history.Accepted},
		"green, forced":   {late: green(), jobs: 1, forced: true, proposes: true, outcome: history.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, "", "1")
			calls := 0
			b.proposeInTurn(&calls, "3", "4")
			f := onGitHub(t, b)
			f.ci = []ci.Result{waiting()}
			require.Equal(t, history.PendingCI, b.one().Outcome)
			worker, err := b.service.Pause(t.Context(), "a holiday")
			require.NoError(t, err)
			assert.Empty(t, worker)
			b.clock = b.clock.Add(time.Hour)

			calls, f.promoted = 0, 0
			f.ci, b.service.Force = []ci.Result{c.late}, c.forced
			var result Result
			if c.jobs == 1 {
				result = b.one()
			} else {
				_, result = b.twoJobs()
			}
			assert.Equal(t, c.outcome, result.Outcome, "%v", result.Reasons)
			assert.Equal(t, c.asked, calls > 0)
			assert.Equal(t, c.proposes, f.promoted > 0)
			assert.True(t, b.records().machine.Paused)
			if c.forced {
				return
			}
			_, err = b.service.ApplyCommands(t.Context())
			require.NoError(t, err)
			assert.Zero(t, f.promoted, "applying commands proposes nothing either")
		})
	}
}
