package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// kill ends act and all that its jobs started, as a machine that goes away.
func (r *runner) kill(act *os.Process) {
	_ = act.Kill()
	mark := "ACT_ARTIFACTS=" + r.artifacts + "\x00"
	for left := true; left; {
		left = false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil && strings.Contains(string(text), mark) {
				left = syscall.Kill(pid, syscall.SIGKILL) == nil || left
			}
		}
	}
}

// TestActCancelled ends a run of the workflow in the middle; the next one
// finishes what it left, and nothing is there twice.
func TestActCancelled(t *testing.T) {
	t.Parallel()
	one := []string{"autoloop-simple.yml"}
	pushes := func(q request) bool { return q.method == "POST" && strings.HasSuffix(q.path, "/git-receive-pack") }
	opens := func(q request) bool { return q.method == "POST" && strings.HasSuffix(q.path, "/pulls") }
	says := func(q request) bool { return q.method == "POST" && strings.HasSuffix(q.path, "/comments") }
	for name, c := range map[string]struct {
		workflows []string
		// text is printed, or at is asked for, when it ends; done is whether what
		// was asked for is done all the same, though nobody is told.
		text    string
		at      func(request) bool
		done    bool
		machine bool
	}{
		"cancelled while it proposes":      {split, "p #1 propose", nil, false, false},
		"its machine goes while proposing": {split, "p #1 measure", nil, false, true},
		"cancelled before the push":        {split, "", pushes, false, false},
		"its machine goes after the push":  {split, "", pushes, true, true},
		"cancelled at the pull request":    {split, "", opens, true, false},
		"its machine goes at a comment":    {split, "", says, true, true},
		"one job, cancelled":               {one, "p #1 measure", nil, false, false},
		"one job, its machine goes":        {one, "", pushes, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, map[string]string{"value.txt": "10\n"}, c.workflows...)
			r.program(strings.Replace(countdown, "schedule: every 6h\n", "", 1))
			cmd, out := r.start(t.Context(), "schedule", everyHour)
			var once sync.Once
			ended, started := make(chan struct{}), make(chan *os.Process, 1)
			end := func() {
				once.Do(func() {
					act := <-started
					if c.machine {
						r.kill(act)
					} else {
						_ = act.Signal(os.Interrupt)
					}
					close(ended)
				})
			}
			r.mu.Lock()
			r.cut = func(q request, serve func()) {
				cut := c.at != nil && c.at(q)
				if !cut || c.done {
					serve()
				}
				if cut {
					end()
				}
			}
			r.mu.Unlock()
			out.watch = func(text string) {
				if c.text != "" && strings.Contains(text, c.text) {
					go end()
				}
			}
			require.NoError(t, cmd.Start())
			started <- cmd.Process
			_ = cmd.Wait()
			<-ended
			assert.False(t, cmd.ProcessState.Success(), "%s", out)
			r.mu.Lock()
			r.cut = nil
			r.mu.Unlock()
			r.Change(func(s *githubtest.State) { s.Runs = map[int64]string{1: "completed"} })

			run := r.trigger("schedule", everyHour)
			require.Zero(t, run.code, "%s\n---\n%s", r.ended(cmd, out), run)
			r.whole(run)
		})
	}
}

// whole checks that program p has all that its records say, and that once.
func (r *runner) whole(run workflowRun) {
	t := r.t
	t.Helper()
	value, err := strconv.Atoi(r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	require.NoError(t, err, run)
	accepted := 10 - value
	assert.Positive(t, accepted, run)
	assert.Len(t, strings.Fields(r.run(r.bare, "git", "rev-list", "main..autoloop/p")), accepted)
	state := r.remembered("p.md")
	assert.Contains(t, state, fmt.Sprintf("| Best Metric | %d |", value))
	assert.Contains(t, state, fmt.Sprintf("| Iteration Count | %d |", accepted))
	assert.Len(t, strings.Split(strings.TrimSpace(r.remembered("p.results.tsv")), "\n"), 2+accepted)
	r.Change(func(s *githubtest.State) {
		require.Len(t, s.Pulls, 1)
		assert.Contains(t, s.Issue(s.Pulls[0].Number).Body, fmt.Sprintf("→ %d**", value))
		marks := map[string]int{}
		for _, c := range s.On(1) {
			mark, _, _ := strings.Cut(c.Body, "\n")
			marks[mark]++
		}
		want := map[string]int{"<!-- AUTOLOOP:STATUS -->": 1}
		for n := range accepted {
			want[fmt.Sprintf("<!-- AUTOLOOP:ITERATION %d -->", n+1)] = 1
		}
		assert.Equal(t, want, marks)
	})
}
