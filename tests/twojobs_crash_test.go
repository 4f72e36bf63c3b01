package tests

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// death is where a publishing job is killed: after so many writes on GitHub, or
// at the push of so many, which is lost then or which the remote has (after).
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
		before(h.remoteProject)
		if number == 1 || number == 2 {
			j.one()
			continue
		}
		if number == 3 {
			j.one() // it waits for CI, which turns it down
		}
		dir, proposed := j.propose()
		require.NotEmpty(t, dir, proposed)
		m := h.snapshot()
		deaths := j.deathsOf(h, func() { assert.Equal(t, "accepted", j.publish(dir).Outcome) })
		require.Greater(t, len(deaths), 4)
		want := h.place()
		assert.Equal(t, number == 3, strings.Contains(want, "fix CI (1)"))
		for _, d := range deaths {
			t.Run(fmt.Sprintf("run %d %s", number+1, d), func(t *testing.T) {
				t.Parallel()
				again := m.begin(t)
				jobs := again.inTwoJobs()
				jobs.dies(again, d, "job", "publish", "--program", "p", dir)
				a := jobs.answer(jobs.job(hubToken, "job", "publish", "--program", "p", dir))
				if a.code != 0 {
					assert.Contains(t, a.stderr, "published before", "the first job was through")
				}
				assert.Equal(t, want, again.place())
				jobs.refuses(again, "published before", dir)
			})
		}
	}
}

// deathsOf are all places at which what do does can be killed. It is done once.
func (j *jobs) deathsOf(h *hub, do func()) (deaths []death) {
	j.t.Helper()
	pushes := 0
	j.git.watch(func(after bool) bool {
		if after {
			pushes++
		}
		return false
	})
	h.Calls()
	do()
	j.git.watch(nil)
	for _, call := range h.Calls() {
		if call.Write() {
			deaths = append(deaths, death{writes: len(deaths) + 1})
		}
	}
	for i := range pushes {
		deaths = append(deaths, death{pushes: i + 1}, death{pushes: i + 1, after: true})
	}
	return deaths
}

// TestBeginningIsKilledAtEveryWrite kills the job that records a start, at every
// write: the next run ends where one that was left alone does, and no agent works
// without a start on record.
func TestBeginningIsKilledAtEveryWrite(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	for name, c := range map[string]struct {
		// before is what happened by then, in so many runs; begins is whether a start
		// follows.
		before func(h *hub, j *jobs) int
		begins bool
		least  int
	}{
		"the first start": {func(*hub, *jobs) int { return 0 }, true, 2},
		"three that never came back": {func(h *hub, j *jobs) int {
			for run := 1; run <= 3; run++ {
				h.env = append(h.env, inActions(run, 1)...)
				begun, reason := j.begin()
				require.True(t, begun, reason)
				h.ended(1, 2, 3)
			}
			return 3
		}, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, map[string]string{"value.txt": "10\n", ".autoloop/programs/p.md": working("")},
				"9", "8", "7")
			h.live()
			j := h.inTwoJobs()
			h.ended(1, 2, 3)
			run := c.before(h, j) + 1
			h.env = append(h.env, inActions(run, 1)...)
			m := h.snapshot()
			deaths := j.deathsOf(h, func() {
				begun, reason := j.begin()
				require.Equal(t, c.begins, begun, reason)
			})
			require.GreaterOrEqual(t, len(deaths), c.least)
			if c.begins {
				dir, _ := j.propose()
				require.Equal(t, "accepted", j.publish(dir).Outcome)
			}
			want := h.placeOfStarts()
			starts, worked := h.starts(), h.agentRuns()
			for _, d := range deaths {
				t.Run(d.String(), func(t *testing.T) {
					t.Parallel()
					again := m.begin(t)
					jobs := again.inTwoJobs()
					again.env = append(again.env, inActions(run, 1)...)
					again.ended(1, 2, 3)
					before := again.starts()
					jobs.dies(again, d, "job", "begin", "--program", "p")
					left := again.starts() - before
					assert.Contains(t, []int{0, 1}, left)
					if left == 0 {
						again.refusesToPropose(jobs)
					}
					again.ended(1, 2, 3, int64(run))
					again.env = append(again.env, inActions(run+1, 1)...)
					if got := jobs.one(); c.begins {
						assert.Equal(t, "accepted", got.Outcome, "%v", got.Reasons)
					} else {
						a := again.answer(jobs.job(hubToken, "job", "steer", "--program",
							"p")) // a program that is paused is selected no more
						require.Zero(t, a.code, a.stderr)
					}
					assert.Equal(t, want, again.placeOfStarts())
					assert.Equal(t, worked, again.agentRuns(), "one agent for one start")
					if c.begins {
						assert.Equal(t, starts+left, again.starts(), "each start is there once")
					}
				})
			}
		})
	}
}

// starts is how many starts are on record.
func (h *hub) starts() int {
	if head(h.t, h.bare, "memory/autoloop") == "" {
		return 0
	}
	return h.count("started")
}

var interruptions = regexp.MustCompile(`interrupted \d+ times`)

// placeOfStarts is where everything is; a start that was killed after its record is one
// more that never came back.
func (h *hub) placeOfStarts() string {
	if head(h.t, h.bare, "autoloop/p") == "" {
		h.run(h.bare, "git", "update-ref", "refs/heads/autoloop/p", "main") // nothing was kept
	}
	return interruptions.ReplaceAllString(h.place(), "interrupted N times")
}

// dies runs a job until it is killed.
func (j *jobs) dies(h *hub, d death, args ...string) {
	j.t.Helper()
	cmd := j.job(hubToken, args...)
	started := make(chan *os.Process, 1)
	kill := func() {
		process := <-started
		_ = process.Kill()
		started <- process
	}
	if d.writes > 0 {
		h.Fail(githubtest.Fault{
			Kind: githubtest.Dropped, Writes: true, Skip: d.writes - 1, After: true, Wait: time.Hour,
			Call: kill,
		})
	}
	pushes := 0
	j.git.watch(func(after bool) bool {
		if !after {
			pushes++
		}
		if pushes != d.pushes || after != d.after {
			return false
		}
		kill()
		return !after
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
	a := j.answer(j.job(hubToken, append([]string{"job", "publish", "--program", "p", dir}, args...)...))
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
