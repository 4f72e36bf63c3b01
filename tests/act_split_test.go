package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
)

// split are the workflows with a job that proposes and one that publishes.
var split = []string{"autoloop.yml", "autoloop-iterate.yml"}

const strongToken = "ghp_9876543210fedcbaSECRET"

// environs looks at the environments of all processes until it is told to stop,
// and returns the names of the jobs that had a secret.
func environs(secret string) (stop func() []string) {
	done, found := make(chan struct{}), make(chan []string)
	go func() {
		jobs := map[string]bool{}
		for {
			select {
			case <-done:
				var list []string
				for job := range jobs {
					list = append(list, job)
				}
				found <- list
				return
			case <-time.After(25 * time.Millisecond):
			}
			files, _ := filepath.Glob("/proc/[0-9]*/environ")
			for _, file := range files {
				text, _ := os.ReadFile(file)
				if _, job, of := strings.Cut(string(text), "\x00GITHUB_JOB="); of && strings.Contains(string(text), secret) {
					job, _, _ = strings.Cut(job, "\x00")
					jobs[job] = true
				}
			}
		}
	}()
	return func() []string { close(done); return <-found }
}

func TestActProposesAndPublishesApart(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n"}, split...)
	r.program(countdown)
	r.tokens, r.secrets["AUTOLOOP_TOKEN"] = map[string]bool{hubToken: false, strongToken: true}, strongToken
	stop := environs(strongToken)
	run := r.trigger("schedule", everyHour)
	had := stop()
	require.Zero(t, run.code, run)
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	assert.NotZero(t, r.openPull())
	assert.ElementsMatch(t, []string{"autoloop-bundle-p", "autoloop-transcripts-p"}, r.uploads())
	r.writesAfterTheStart(strongToken)
	assert.Subset(t, []string{"schedule", "publish"}, had, "a job that runs code of programs had the token")

	// With the workflow's token alone, whose rights a job limits.
	delete(r.secrets, "AUTOLOOP_TOKEN")
	r.tokens = map[string]bool{hubToken: true}
	run = r.trigger("workflow_dispatch", dispatched("p"))
	require.Zero(t, run.code, run)
	assert.Equal(t, "8", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
	r.writesAfterTheStart(hubToken)
	r.Change(func(s *githubtest.State) { assert.Len(t, s.Pulls, 1) })

	run = r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	assert.Equal(t, map[string]string{"Autoloop/schedule": "success"}, run.results(), "nothing is due")
	assert.Empty(t, wrote(r.seen()))
}

// writesAfterTheStart holds that nothing was written before the proposal was
// handed on, but for the push of the start.
func (r *runner) writesAfterTheStart(token string) {
	r.t.Helper()
	all := wrote(r.seen())
	require.Greater(r.t, len(all), 4)
	for i, q := range all {
		assert.Equal(r.t, token, q.token, "%s %s", q.method, q.path)
		if i < 2 {
			assert.Zero(r.t, q.uploaded)
			assert.Contains(r.t, q.path, "git-receive-pack", "the start")
			continue
		}
		assert.Equal(r.t, 2, q.uploaded, "%s %s before the proposal was handed on", q.method, q.path)
	}
}

// TestActAProposeThatFailsLeavesARecord has a propose that fails before it can
// hand anything on: the third time pauses, and no fourth begins.
func TestActAProposeThatFailsLeavesARecord(t *testing.T) {
	t.Parallel()
	r := newRunner(t, map[string]string{"value.txt": "10\n", ".github/autoloop-setup.sh": "exit 1\n"}, split...)
	r.program(countdown)
	for run := range 4 {
		r.Change(func(s *githubtest.State) { s.Runs = map[int64]string{1: "completed", 2: "completed", 3: "completed"} })
		got := r.trigger("schedule", everyHour)
		if run < 3 {
			assert.NotZero(t, got.code)
			assert.Equal(t, "failure", got.results()["iterate/Autoloop iteration/propose"])
			assert.Equal(t, run+1, r.count("started"))
			continue
		}
		require.Zero(t, got.code, got)
		assert.NotContains(t, got.printed(), "p #1 propose")
	}
	assert.Contains(t, r.remembered("p.md"), "was interrupted 3 times in a row")
	assert.Contains(t, r.remembered("p.md"), "| Paused | true |")

	// A person looked at it, and starts it by hand: with force it goes on.
	r.write(".github/autoloop-setup.sh", "exit 0\n")
	r.git("commit", "--quiet", "--all", "--message", "Repair the setup")
	r.git("push", "--quiet", r.bare, "main")
	left := r.trigger("workflow_dispatch", dispatched("p"))
	require.Zero(t, left.code, left)
	assert.Contains(t, left.printed(), "p: does not begin: paused: ")
	input := dispatched("p")
	inputs, _ := input["inputs"].(map[string]any)
	inputs["force"] = "true" // as in an event of GitHub
	forced := r.trigger("workflow_dispatch", input)
	require.Zero(t, forced.code, forced)
	assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/p:value.txt"))
}

func TestActMatrixOfThree(t *testing.T) {
	t.Parallel()
	files := map[string]string{"value.txt": "10\n", ".autoloop/programs/wrong.md": strings.Replace(countdown, "every 6h", "every 6x", 1)}
	for _, name := range []string{"a", "b", "c"} {
		files[".autoloop/programs/"+name+".md"] = countdown
	}
	r := newRunner(t, files, split...)
	run := r.trigger("schedule", everyHour)
	require.Zero(t, run.code, run)
	for _, name := range []string{"a", "b", "c"} {
		assert.Equal(t, "9", r.run(r.bare, "git", "show", "autoloop/"+name+":value.txt"), name)
		assert.Contains(t, r.remembered(name+".md"), "| Best Metric | 9 |")
	}
	assert.Subset(t, r.uploads(), []string{"autoloop-bundle-a", "autoloop-bundle-b", "autoloop-bundle-c"})
	r.Change(func(s *githubtest.State) { assert.Len(t, s.Pulls, 3) })
	beside := 0
	for _, pair := range []string{"ab", "bc", "ca"} {
		from, to := run.worked(pair[:1])
		since, until := run.worked(pair[1:])
		if from < until && since < to {
			beside++
		}
	}
	assert.NotZero(t, beside, "they run side by side")

	// A program in error is shown where it is, and stops no other.
	var wrong []actLine
	for _, line := range run.annotations("error") {
		if line.KVPairs["file"] != "" {
			wrong = append(wrong, line)
		}
	}
	require.NotEmpty(t, wrong, run)
	assert.Equal(t, ".autoloop/programs/wrong.md", wrong[0].KVPairs["file"])
	assert.Equal(t, "5", wrong[0].KVPairs["line"])
	assert.Contains(t, wrong[0].Arg, "every 6x")
}

// worked is where in the log a program's iteration begins and ends.
func (w workflowRun) worked(program string) (from, to int) {
	for i, line := range w.lines {
		if strings.HasPrefix(line.Msg, program+" #1 ") {
			if from == 0 {
				from = i
			}
			to = i
		}
	}
	return from, to
}
