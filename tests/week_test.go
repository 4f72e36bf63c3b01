package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// number is a setting of the environment.
func number(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// weekly is a program with a file of its own, of whose numbers two in three are better.
const weekly = `---
metric: m
metric_direction: lower
schedule: every 6h
evaluation-runs: 1
plateau: off
comments: all
ci-gate: %[2]s
ci-wait: 1s
agent: command
agent-command: n=$AUTOLOOP_ITERATION; echo $((10000 - n + (n %% 3 == 0) * 100)) > %[1]s.txt
---
## Goal
Move the number.
## Target
- ` + "`%[1]s.txt`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %%s}\n' "$(cat %[1]s.txt)"
` + "```" + `
`

// week is a repository in which programs, people and CI are at work.
type week struct {
	*hub
	hours    atomic.Int64 // since it began
	chance   *rand.Rand
	programs []string // the issue of a program is its place in here, from one
	runners  []string // the clones
}

// TestSimulatedWeek lets two runners iterate twenty programs hour by hour, while people merge,
// close, comment, undo and push, requests fail and runs are stopped, all by chance.
// AUTOLOOP_WEEK is how many hours, AUTOLOOP_WEEK_SEED draws other choices of people.
func TestSimulatedWeek(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	seed := number(t, "AUTOLOOP_WEEK_SEED", 1)
	w := newWeek(t, uint64(seed))
	happened := map[string]int{}
	for range number(t, "AUTOLOOP_WEEK", 24) {
		var group sync.WaitGroup
		for i := range w.runners {
			w.fails(happened)
			var after time.Duration
			if w.chance.IntN(5) == 0 {
				after = time.Duration(1+w.chance.IntN(400)) * time.Millisecond
				happened["a run is stopped"]++
			}
			group.Go(func() { w.runs(i, after) })
		}
		group.Wait()
		for range 2 {
			happened[w.people()]++
		}
		w.Mend()
		w.hours.Add(1)
	}
	t.Logf("what happened: %v", happened)
	w.settles()
}

func newWeek(t *testing.T, seed uint64) *week {
	t.Helper()
	files := map[string]string{"other.txt": "0\n"}
	var programs []string
	for i := range 20 {
		programs = append(programs, fmt.Sprintf("q%02d", i+1))
		files[programs[i]+".txt"] = "10000\n"
	}
	w := &week{
		hub: newHub(t, files), programs: programs, chance: rand.New(rand.NewPCG(seed, 2)),
	}
	w.impatient()
	w.Change(func(s *githubtest.State) {
		w.Now = w.now
		w.CI = func(commit string) string { // of one commit in eight the build fails
			if strings.HasSuffix(commit, "0") || strings.HasSuffix(commit, "1") {
				return "failure"
			}
			return "success"
		}
		for i, name := range programs {
			gate := []string{"off", "required"}[i%2]
			s.OpenIssue("alice", name, fmt.Sprintf(weekly, name, gate), w.now(), "autoloop-program")
		}
	})
	for i := range 2 {
		clone := filepath.Join(w.side, fmt.Sprintf("runner-%d", i))
		w.run("", "git", "clone", "--quiet", w.bare, clone)
		w.runners = append(w.runners, clone)
	}
	return w
}

// now is some day of the last weeks: what waits for seconds waits for seconds.
func (w *week) now() time.Time {
	return time.Now().Add(time.Duration(w.hours.Load())*time.Hour - 14*24*time.Hour)
}

// at runs a binary in a clone, at the time of the week.
func (w *week) at(ctx context.Context, clone, binary string, args ...string) answer {
	cmd := exec.Cmd{Dir: clone, Env: append(w.env[:len(w.env):len(w.env)], "AUTOLOOP_DIR="+clone+".plan")}
	return inProcess(ctx, binary, cli.Env{
		Args: args, Step: actions.Step{Dir: clone, Environ: cmd.Environ()}, Now: w.now,
	})
}

// runs is what a runner does in an hour; it is stopped after a while, unless that is zero.
func (w *week) runs(i int, after time.Duration) {
	ctx := w.t.Context()
	if after > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, after)
		defer cancel()
	}
	w.at(ctx, w.runners[i], "scheduler")
	w.at(ctx, w.runners[i], "iterate") // what a fault came to is seen at the end
}

// fails lets a request of the next runs fail, one time in three.
func (w *week) fails(happened map[string]int) {
	if w.chance.IntN(3) > 0 {
		return
	}
	kinds := []githubtest.FaultKind{
		githubtest.ServerError, githubtest.BadGateway, githubtest.Dropped, githubtest.Cut,
		githubtest.PrimaryLimit, githubtest.SecondaryLimit, githubtest.Forbidden,
	}
	f := githubtest.Fault{
		Kind: kinds[w.chance.IntN(len(kinds))], Skip: w.chance.IntN(20), After: w.chance.IntN(2) == 0,
		Times: 1 + w.chance.IntN(3),
	}
	happened[string(f.Kind)]++
	w.Fail(f)
}

// people do one thing, to a program of those that there are.
func (w *week) people() string {
	issue := 1 + w.chance.IntN(len(w.programs))
	name := w.programs[issue-1]
	pull, open := w.pullOf(name)
	says := func(author, text string) func() {
		return func() {
			w.Change(func(s *githubtest.State) { s.Say(author, issue, text, w.now()) })
		}
	}
	deeds := []struct {
		what string
		do   func()
	}{
		{"a comment", says("alice", "smaller steps")},
		{"a stranger's command", says("mallory", "/autoloop pause")},
		{"pause", says("bob", "/autoloop pause a rest")},
		{"resume", says("alice", "/autoloop resume")},
		{"undo", says("alice", fmt.Sprintf("/autoloop undo %d", 1+w.chance.IntN(4)))},
		{"run", says("bob", "/autoloop run")},
		{"main moves", func() { w.pushes("main", "main", "other.txt", fmt.Sprintln(w.chance.Uint64())) }},
		{"a label is taken away", func() { w.Change(func(s *githubtest.State) { s.Issue(issue).Labels = nil }) }},
		{"a label is put back", w.labels},
	}
	if open {
		for _, squash := range []bool{true, false} {
			deeds = append(deeds, struct {
				what string
				do   func()
			}{"a merge", func() {
				if deleted := w.chance.IntN(
					2,
				) == 0; head(
					w.t,
					w.bare,
					"autoloop/"+name,
				) != "" { // nobody deleted it before
					w.merges("autoloop/"+name, pull, squash, deleted)
				}
			}})
		}
		deeds = append(deeds, []struct {
			what string
			do   func()
		}{
			{"a pull request is closed", func() { w.Close(pull) }},
			{"it is ready", func() { w.Change(func(s *githubtest.State) { s.Pull(pull).Draft = false }) }},
			{"a commit on its branch", func() {
				w.pushes("autoloop/"+name, "autoloop/"+name, "note-"+name+".txt", fmt.Sprintln(w.chance.Uint64()))
			}},
		}...)
	}
	chosen := deeds[w.chance.IntN(len(deeds))]
	chosen.do()
	return chosen.what
}

// labels makes every issue a program again.
func (w *week) labels() {
	w.Change(func(s *githubtest.State) {
		for i := range w.programs {
			s.Issue(i + 1).Labels = []string{"autoloop-program"}
		}
	})
}

// pullOf is the newest pull request of a program, and whether it is open; 0 for none.
func (w *week) pullOf(name string) (pull int, open bool) {
	state := w.site.look()
	for _, p := range state.Pulls {
		if p.Head == "autoloop/"+name {
			pull, open = p.Number, state.Issue(p.Number).Open
		}
	}
	return pull, open
}

var best = regexp.MustCompile(`\| Best Metric \| (\S+) \|`)

// settles lets every program go on, and holds what a week may not leave: one that is
// stuck, anything that is there twice, records that do not agree with each other, or a
// branch without what its state says.
func (w *week) settles() {
	w.t.Helper()
	w.labels()
	w.site.judge(func(string) string { return "success" })
	main := w.run(w.bare, "git", "rev-list", "main")
	w.Change(func(s *githubtest.State) { // CI runs again on the base: where that fails, a failing head proves nothing
		s.Checks = slices.DeleteFunc(s.Checks, func(c *githubtest.Check) bool {
			return strings.Contains(main, c.Commit)
		})
	})
	for i, name := range w.programs {
		clone := w.runners[i%2]
		run := func() answer {
			w.hours.Add(1)
			return w.at(w.t.Context(), clone, "iterate", "--program", name, "--json")
		}
		run()                                                 // hears what was said last
		w.at(w.t.Context(), clone, "iterate", "resume", name) // not every one is paused
		run()                                                 // what CI says may pause it once more
		w.at(w.t.Context(), clone, "iterate", "resume", name)
		a := run()
		require.Zero(w.t, a.code, "%s: %s%s", name, a.stdout, a.stderr)
		got := w.decode(a.stdout)[0]
		w.t.Logf("%s #%d %s %v %s", name, got.Iteration, got.Outcome, got.Reasons, got.Stopped)
		assert.NotEqual(w.t, "error", got.Outcome, "%s: %v", name, got.Reasons)
		assert.NotContains(w.t, got.Stopped, "paused", name)
	}
	for _, clone := range w.runners {
		w.run(clone, "git", "fetch", "--quiet", "--prune")
		a := w.at(w.t.Context(), clone, "iterate", "replay")
		assert.Zero(w.t, a.code, a.stdout+a.stderr)
		w.run(clone, "git", "fsck", "--strict", "--no-dangling")
	}
	state, marks := w.site.look(), map[string]int{}
	for _, i := range state.Issues {
		for _, c := range state.On(i.Number) {
			for _, mark := range anyMark.FindAllString(c.Body, -1) {
				marks[fmt.Sprint(i.Number, mark)]++
			}
		}
	}
	for mark, n := range marks {
		assert.Equal(w.t, 1, n, mark)
	}
	opened := map[string]int{}
	for _, p := range state.Pulls {
		if state.Issue(p.Number).Open {
			opened[p.Head]++
			assert.Equal(w.t, 1, opened[p.Head], p.Head)
		}
	}
	for i, name := range w.programs {
		document := w.remembered(name + ".md")
		found := best.FindStringSubmatch(document)
		pull, open := w.pullOf(name)
		if ready := open && !state.Pull(pull).Draft; ready { // nothing is measured meanwhile, whatever people push
			continue
		}
		if found == nil || i%2 == 1 && strings.Contains(document, "pending-ci") {
			continue
		}
		assert.Equal(w.t, found[1], w.run(w.bare, "git", "show", "autoloop/"+name+":"+name+".txt"), name)
	}
}
