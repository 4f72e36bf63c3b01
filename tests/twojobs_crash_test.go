package tests

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// death is where a publishing job is killed: after so many writes on GitHub, or
// at the push of so many, before or after the remote has it.
type death struct {
	writes, pushes int
	after          bool
}

func (d death) String() string {
	if d.pushes > 0 {
		return fmt.Sprintf("push %d after=%v", d.pushes, d.after)
	}
	return fmt.Sprintf("write %d", d.writes)
}

// TestPublishingIsKilledAtEveryWrite publishes the same bundle again after the
// first job was killed, at every write of an iteration that is kept and of a fix
// for CI; both jobs end where one that was left alone does, and a third is refused.
func TestPublishingIsKilledAtEveryWrite(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	h := newLife(t)
	j := h.inTwoJobs()
	for number, before := range chapters()[:4] {
		before(h.scene)
		if number == 1 || number == 2 {
			j.one()
			continue
		}
		if number == 3 {
			j.one() // it waits for CI, which turns it down
		}
		dir, proposed := j.propose()
		require.NotEmpty(t, dir, proposed)
		m, pushes := h.moment(), 0
		j.git.watch(func(after bool) {
			if after {
				pushes++
			}
		})
		h.Calls()
		published := j.publish(dir)
		assert.Equal(t, "accepted", published.Outcome)
		var deaths []death
		for _, call := range h.Calls() {
			if call.Write() {
				deaths = append(deaths, death{writes: len(deaths) + 1})
			}
		}
		for i := range pushes {
			deaths = append(deaths, death{pushes: i + 1}, death{pushes: i + 1, after: true})
		}
		require.Greater(t, len(deaths), 4)
		want := h.place()
		assert.Equal(t, number == 3, strings.Contains(want, "fix CI (1)"))
		for _, d := range deaths {
			t.Run(fmt.Sprintf("run %d %s", number+1, d), func(t *testing.T) {
				t.Parallel()
				again := m.begin(t)
				jobs := again.inTwoJobs()
				jobs.dies(again, d, dir)
				a := jobs.answer(jobs.job(hubToken, "publish", "--program", "p", dir))
				if a.code != 0 {
					assert.Contains(t, a.stderr, "published before", "the first job was through")
				}
				assert.Equal(t, want, again.place())
				jobs.refuses(again, "published before", dir)
			})
		}
	}
}

// dies publishes a bundle until it is killed.
func (j *jobs) dies(h *hub, d death, dir string) {
	j.t.Helper()
	cmd := j.job(hubToken, "publish", "--program", "p", dir)
	started := make(chan *os.Process, 1)
	kill := func() {
		process := <-started
		_ = process.Kill()
		started <- process
	}
	if d.writes > 0 {
		h.Fail(githubtest.Fault{Kind: githubtest.Dropped, Writes: true, Skip: d.writes - 1, After: true, Wait: time.Hour, Call: kill})
	}
	pushes := 0
	j.git.watch(func(after bool) {
		if !after {
			pushes++
		}
		if pushes == d.pushes && after == d.after {
			kill()
		}
	})
	require.NoError(j.t, cmd.Start())
	started <- cmd.Process
	require.Error(j.t, cmd.Wait(), "it was killed")
	j.git.watch(nil)
	require.Zero(j.t, h.Mend(), "the fault struck")
	j.alone()
}

// refuses publishes a bundle that is refused: nothing may change.
func (j *jobs) refuses(h *hub, why, dir string, args ...string) {
	j.t.Helper()
	refs, state := j.everything(h)
	a := j.answer(j.job(hubToken, append([]string{"publish", "--program", "p", dir}, args...)...))
	assert.Equal(j.t, 1, a.code, a.stdout)
	assert.Contains(j.t, a.stderr, why)
	_, said, _ := strings.Cut(a.stderr, "iterate: ")
	assert.Equal(j.t, 1, strings.Count(said, "\n"), a.stderr)
	refsAfter, stateAfter := j.everything(h)
	assert.Equal(j.t, refs, refsAfter)
	assert.Equal(j.t, state, stateAfter)
}

// everything is all refs of the remote and all of the state of GitHub.
func (j *jobs) everything(h *hub) (refs string, state *githubtest.State) {
	j.t.Helper()
	h.Change(func(s *githubtest.State) { state = s.Copy() })
	return j.run(j.bare, "git", "for-each-ref"), state
}
