package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// fixture is a real repository with the program p, whose metric is the number in
// value.txt. Agent and evaluation are functions; git is git.
type fixture struct {
	t       *testing.T
	dir     string
	env     []string
	clock   time.Time
	runs    int
	service *Service
	// agent works in the tree of an iteration.
	agent func(request agent.Request) agent.Reply
	// noise is added to the measurements, one after the other, and then again
	// from the first.
	noise    []string
	measured int
	// run, optional, says how a run of the evaluation went; one without a problem
	// gives the number.
	run func(request evaluation.Request, value string) evaluation.Result
	// evaluating, optional, is called with the tree of a run before it ends.
	evaluating func(dir string)
}

const testProgram = `---
metric: m
metric_direction: higher
%s
---
## Goal
Raise the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
cat value.txt
` + "```" + `
`

// newFixture makes the repository. front are further lines of the program's
// frontmatter; value is what value.txt begins with, and proposals are what the
// agent writes into it, one in each iteration.
func newFixture(t *testing.T, front, value string, proposals ...string) *fixture {
	t.Helper()
	b := &fixture{t: t, dir: t.TempDir(), clock: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=User",
		"GIT_COMMITTER_EMAIL=user@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	b.git("init", "--quiet", "--template=", "--initial-branch=main")
	text := fmt.Sprintf(testProgram, front)
	b.write(b.dir, map[string]string{
		".autoloop/programs/p.md": text, "value.txt": value + "\n",
		"other.txt": "untouched\n",
	})
	b.git("add", "-A")
	b.git("commit", "--quiet", "--message", "first")
	b.propose(proposals...)
	b.service = b.newService(text)
	return b
}

// newService is a service as the command builds it, with its own repository
// handle: another process would have one too.
func (b *fixture) newService(text string) *Service {
	b.t.Helper()
	p := program.Parse(".autoloop/programs/p.md", []byte(text))
	require.Empty(b.t, p.Problems)
	repo, err := git.Open(b.t.Context(), b.dir, b.env)
	require.NoError(b.t, err)
	return &Service{
		Program: p, Repo: repo, Memory: &memory.Memory{Repo: repo, Now: b.now}, Trees: &tree.Builder{Repo: repo},
		Eval: b, Agents: []Proposer{{Agent: b}}, Strategy: strategy.All().Named(p.Strategy), RunDir: runDir(b.t),
		Holder: history.Lease{Host: "here", PID: 1}, Alive: func(history.Lease) bool { return false },
		Environ: func(dir string, _ []string) ([]string, error) { return b.env, os.MkdirAll(dir, 0o700) },
		Now:     b.now, NewRun: func() string { b.runs++; return fmt.Sprintf("run-%d", b.runs) },
		Sleep: func(_ context.Context, d time.Duration) error { b.clock = b.clock.Add(d); return nil },
	}
}

// now is a clock that moves on by a second whenever it is read.
func (b *fixture) now() time.Time {
	b.clock = b.clock.Add(time.Second)
	return b.clock
}

// propose makes the agent write these values, by iteration.
func (b *fixture) propose(values ...string) {
	b.agent = func(request agent.Request) agent.Reply {
		value := values[min(request.Iteration, len(values))-1]
		b.write(request.Dir, map[string]string{"value.txt": value + "\n"})
		return agent.Reply{Summary: "try " + value}
	}
}

// proposeInTurn makes the agent write these values, one whenever it is asked.
func (b *fixture) proposeInTurn(calls *int, values ...string) {
	b.agent = func(request agent.Request) agent.Reply {
		value := values[min(*calls, len(values)-1)]
		*calls++
		b.write(request.Dir, map[string]string{"value.txt": value + "\n"})
		return agent.Reply{Summary: "try " + value}
	}
}

// Name is the agent's.
func (b *fixture) Name() string { return "scripted" }

// Propose lets the agent work.
func (b *fixture) Propose(_ context.Context, request agent.Request) (agent.Reply, error) {
	return b.agent(request), nil
}

// Run evaluates: "fail" fails, and everything else is what was printed.
func (b *fixture) Run(_ context.Context, request evaluation.Request) (evaluation.Result, error) {
	if b.evaluating != nil {
		b.evaluating(request.Dir)
	}
	data, err := os.ReadFile(filepath.Join(request.Dir, "value.txt"))
	if errors.Is(err, os.ErrNotExist) {
		return evaluation.Result{Problem: "value.txt is missing"}, nil
	}
	if err != nil {
		return evaluation.Result{}, err
	}
	text := strings.TrimSpace(string(data))
	took := time.Second
	if b.run != nil {
		went := b.run(request, text)
		if went.Problem != "" {
			return went, nil
		}
		took = went.Duration
	}
	if text == "fail" {
		return evaluation.Result{Problem: "it exits with 1"}, nil
	}
	if !strings.HasPrefix(text, "{") {
		text = fmt.Sprintf(`{"m": %s}`, text)
	}
	found, err := metric.Extract([]byte(text), "m")
	if err != nil {
		//nolint:nilerr // what cannot be read is the evaluation's problem
		return evaluation.Result{Problem: err.Error()}, nil
	}
	if len(b.noise) > 0 && found.Metric != nil {
		noisy := found.Metric.Add(metric.MustValue(b.noise[b.measured%len(b.noise)]))
		b.measured++
		found.Metric = &noisy
	}
	return evaluation.Result{Measurement: found, Tail: text, Duration: took}, nil
}

// iterate runs so many iterations in one job.
func (b *fixture) iterate(count int) []render.Result {
	b.t.Helper()
	results, err := b.service.Run(b.t.Context(), count)
	require.NoError(b.t, err)
	return results
}

// one runs one iteration in one job.
func (b *fixture) one() render.Result {
	b.t.Helper()
	results := b.iterate(1)
	require.Len(b.t, results, 1)
	return results[0]
}

// twoJobs runs one iteration in two jobs.
func (b *fixture) twoJobs() (proposed, published render.Result) {
	b.t.Helper()
	made, proposed, err := b.service.Propose(b.t.Context())
	require.NoError(b.t, err)
	b.service.Agents = nil // it is not asked again
	if made == nil {
		published, err = b.service.Chores(b.t.Context(), false)
	} else {
		made.ID = fmt.Sprintf("bundle of %s", made.Run)
		published, err = b.service.Publish(b.t.Context(), made)
	}
	b.service.Agents = []Proposer{{Agent: b}}
	require.NoError(b.t, err)
	return proposed, published
}

// pause pauses the program, and names the run that works on it.
func (b *fixture) pause(why string) (worker string, err error) {
	return b.service.Pause(b.t.Context(), why)
}

func (b *fixture) git(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	require.NoError(b.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (b *fixture) write(dir string, files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(b.t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(b.t, os.WriteFile(file, []byte(text), 0o600))
	}
}

// commit commits files on the branch main, as a person does.
func (b *fixture) commit(files map[string]string) {
	b.t.Helper()
	b.write(b.dir, files)
	b.git("add", "-A")
	b.git("commit", "--quiet", "--message", "a person's")
}

// refs are all branches with their commits.
func (b *fixture) refs() string { return b.git("for-each-ref") }

// kept is the number on the program branch.
func (b *fixture) kept() string { return b.git("show", "autoloop/p:value.txt") }

// records are the program's, as they are now.
func (b *fixture) records() *records {
	b.t.Helper()
	files, _, err := b.service.Memory.Read(b.t.Context(), "p")
	require.NoError(b.t, err)
	opened, err := openRecords(sessionOf(b.service.Program), files)
	require.NoError(b.t, err)
	return opened
}

// kinds are the kinds of all events, in order.
func (b *fixture) kinds() []string {
	b.t.Helper()
	var kinds []string
	for _, e := range b.records().log.Events {
		kinds = append(kinds, string(history.KindOf(e)))
	}
	return kinds
}

// story is what the events say but for times, ids of runs and bundles, and the
// commits that these are part of.
func (b *fixture) story() []string {
	b.t.Helper()
	var story []string
	for _, e := range b.records().log.Events {
		if set, is := e.(*history.Set); is && set.Key == history.Published {
			continue
		}
		line, err := history.Line(e)
		require.NoError(b.t, err)
		var fields map[string]any
		require.NoError(b.t, json.Unmarshal(line, &fields))
		for _, name := range []string{"run_id", "seed", "time", "lease", "durations", "seconds", "prepare_seconds"} {
			delete(fields, name)
		}
		for _, name := range []string{"commit", "incumbent"} {
			if id, _ := fields[name].(string); id != "" {
				fields[name] = "files " + b.git("rev-parse", id+"^{tree}")
			}
		}
		if fields["not_before"] != nil {
			fields["not_before"], fields["reason"] = "", ""
		}
		text, err := json.Marshal(fields)
		require.NoError(b.t, err)
		story = append(story, string(text))
	}
	return story
}

// runDir is a directory of a run, whose part that nobody may list can be removed
// when the test ends.
func runDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "w"), 0o700) }) //nolint:gosec // a directory of the test
	return dir
}

// replays holds that the audit of all records finds nothing.
func (b *fixture) replays() {
	b.t.Helper()
	records, err := b.service.Memory.Records(b.t.Context(), "p", BranchPrefix+"p", nil)
	require.NoError(b.t, err)
	assert.Empty(b.t, audit.Of(records, nil).Findings)
}

// threadOf is the conversation of a run with this journal.
func threadOf(j *journal) *thread {
	return &thread{measurer: &measurer{spending: &spending{journal: j}}}
}
