package tests

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	records "github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/long"
)

// life is a kind of program whose iterations may need to know of earlier ones.
type life struct {
	name string
	// front are keys of the program file.
	front string
	agent agent.Agent
	// github says that the program has an issue and a pull request.
	github bool
	// output is what the evaluation prints.
	output string
	// made changes a made decision, and returns the events of its iteration before it.
	made func(found identity, is history.Head, decided *history.Decided) []history.Event
}

// identity is what an iteration records of how it was measured, and the names of the
// parameters that a tuner has.
type identity struct {
	Evaluator, Definition string
	params                []string
}

// lives are one of each kind.
func lives() []life {
	return []life{
		{name: "plain", agent: instantAgent{}},
		{name: "github", agent: instantAgent{}, github: true, made: func(_ identity, is history.Head, decided *history.Decided) []history.Event {
			if is.Iteration%8 == 0 {
				decided.Outcome, decided.Commit = history.Accepted, fmt.Sprintf("%040x", is.Iteration)
			}
			number := strconv.Itoa(is.Iteration)
			return []history.Event{
				&history.Set{Head: is, Key: history.HeardUntil, Value: number}, &history.Set{Head: is, Key: history.CommandsUntil, Value: number},
				&history.Answered{Head: is, Key: "issue/" + number, Reason: "it is noted"},
			}
		}},
		{name: "tuner", agent: agent.Tuner{}, made: func(found identity, is history.Head, decided *history.Decided) []history.Event {
			decided.Params = map[string]metric.Value{}
			for _, name := range found.params {
				decided.Params[name] = metric.FromInt(int64(is.Iteration) * 7 % 1_000_000)
			}
			return nil
		}},
		{name: "openevolve", front: "strategy: openevolve\n", agent: instantAgent{}, made: func(found identity, is history.Head, decided *history.Decided) []history.Event {
			decided.Proposal = 1
			patch := fmt.Sprintf("diff --git a/d00/f001.txt b/d00/f001.txt\n--- a/d00/f001.txt\n+++ b/d00/f001.txt\n@@ -1,3 +1,3 @@\n-some content\n+content %d\n some content\n some content\n", is.Iteration)
			return []history.Event{&history.Proposed{
				Head: is, Proposal: 1, Outcome: history.Rejected, Metric: decided.Metric, PreviousBest: decided.PreviousBest, Evaluator: found.Evaluator,
				Definition: found.Definition, Digest: decided.Digest, Patch: patch, Work: decided.Work,
			}}
		}},
		{name: "test-driven", front: "strategy: test-driven\n", agent: instantAgent{}, output: "--- FAIL: Test7\n--- FAIL: Test8\n", made: func(_ identity, is history.Head, decided *history.Decided) []history.Event {
			decided.Focus = fmt.Sprintf("Test%d", is.Iteration/3%50)
			return nil
		}},
	}
}

// lived is a repository with a program that has iterations behind it.
type lived struct {
	t       testing.TB
	dir     string
	counts  string // the directory with what was counted
	service *loop.Service
}

// lived makes a program with so many iterations behind it.
func (l life) lived(t testing.TB, behind int) *lived {
	t.Helper()
	scratch := l.repository(t) // its first iteration says how it measures
	scratch.iterate()
	found := scratch.identity()
	made := l.repository(t)
	var more func(history.Head, *history.Decided) []history.Event
	if l.made != nil {
		more = func(is history.Head, decided *history.Decided) []history.Event { return l.made(found, is, decided) }
	}
	madeHistory(t, made.service.Repo, behind, found, more)
	return made
}

// repository has a program that never ran.
func (l life) repository(t testing.TB) *lived {
	t.Helper()
	made := &lived{t: t, dir: t.TempDir(), counts: countingGit(t)}
	environ := append(os.Environ(), "PATH="+made.counts+string(filepath.ListSeparator)+os.Getenv("PATH"))
	smallRepository(t, made.dir)
	repo, err := git.Open(t.Context(), made.dir, environ)
	require.NoError(t, err)
	p := program.Parse("p.md", []byte("---\nmetric_direction: lower\nplateau: off\nevaluation-runs: 1\n"+l.front+"---\n## Target\n`d00/*.txt`\n## Evaluation\n```sh\ntrue\n```\n"))
	require.NoError(t, p.Err())
	run := 0
	made.service = &loop.Service{
		Program: p, Repo: repo, Trees: &tree.Builder{Repo: repo}, Memory: &memory.Memory{Repo: repo, Now: time.Now},
		Agent: l.agent, Eval: &printingEvaluation{output: l.output}, Alive: func(history.Lease) bool { return false },
		Environ: func(dir string, _ []string) ([]string, error) { return nil, os.MkdirAll(dir, 0o700) },
		Now:     time.Now, NewRun: func() string { run++; return fmt.Sprintf("run-%d", run) },
	}
	if l.github {
		made.onGitHub()
	}
	return made
}

// printingEvaluation gives a better number each time, and prints something.
type printingEvaluation struct {
	instantEvaluation

	output string
}

func (e *printingEvaluation) Run(ctx context.Context, request evaluation.Request) (evaluation.Result, error) {
	result, err := e.instantEvaluation.Run(ctx, request)
	result.Tail = e.output
	return result, err
}

// onGitHub gives the program a repository on GitHub, whose branches are those here.
func (l *lived) onGitHub() {
	state := githubtest.NewState("org/repo")
	server := githubtest.New(l.t, state)
	server.Change(func(*githubtest.State) {
		server.Token, server.Heads = hubToken, func(branch string) string {
			out, _ := exec.CommandContext(l.t.Context(), "git", "-C", l.dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
			return strings.TrimSpace(string(out))
		}
	})
	client, err := api.New(api.Options{API: server.URL, Repository: "org/repo", Token: hubToken, UserAgent: "autoloop/test", Now: time.Now, Sleep: api.Sleep})
	require.NoError(l.t, err)
	l.service.Repository = "org/repo"
	l.service.GitHub = &sync.Service{Hub: client, Program: l.service.Program, Now: time.Now}
}

// iterate runs one iteration, and returns what was warned of.
func (l *lived) iterate() []string {
	l.service.RunDir = l.t.TempDir()
	results, err := l.service.Run(context.Background(), 1)
	require.NoError(l.t, err)
	require.Equal(l.t, history.Accepted, results[0].Outcome, results[0].Reasons)
	require.NoError(l.t, tree.RemoveAll(l.service.RunDir))
	return results[0].Warnings
}

// identity is what the last iteration was measured by.
func (l *lived) identity() identity {
	files, _, err := l.service.Memory.Read(l.t.Context(), "p")
	require.NoError(l.t, err)
	log, err := files.Log()
	require.NoError(l.t, err)
	var found identity
	for e := range history.Of[*history.Decided](slices.All(log.Events)) {
		found = identity{e.Evaluator, e.Definition, slices.Sorted(maps.Keys(e.Params))}
	}
	require.NotEmpty(l.t, found.Evaluator)
	return found
}

// countingGit is a directory with a git that notes each call in the file calls there, and
// what is asked of a cat-file that answers for long in the file asked.
func countingGit(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nPATH='%s'\necho \"$1\" >> '%s/calls'\ncase \" $* \" in\n*' cat-file --batch'*) tee -a '%[2]s/asked' | git \"$@\";;\n*) exec git \"$@\";;\nesac\n", os.Getenv("PATH"), dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700)) //nolint:gosec // it is executed
	return dir
}

// forget begins to count anew.
func (l *lived) forget() {
	for _, name := range []string{"calls", "asked"} {
		require.NoError(l.t, os.WriteFile(filepath.Join(l.counts, name), nil, 0o600)) // one that is open stays so
	}
}

// processes is how many git processes were started.
func (l *lived) processes() int64 {
	text, err := os.ReadFile(filepath.Join(l.counts, "calls"))
	require.NoError(l.t, err)
	return int64(bytes.Count(text, []byte("\n")))
}

// read is how many objects were read, and their bytes; the table of results, which stays
// one file, is left out.
func (l *lived) read(table ...string) (objects, size int64) {
	for id, n := range l.asked() {
		if !slices.Contains(table, id) {
			objects, size = objects+1, size+n
		}
	}
	return objects, size
}

// asked are the objects that were read, with their sizes.
func (l *lived) asked() iter.Seq2[string, int64] {
	asked, err := os.ReadFile(filepath.Join(l.counts, "asked"))
	require.NoError(l.t, err)
	var names strings.Builder
	for _, request := range strings.FieldsFunc(string(asked), func(r rune) bool { return r == 0 || r == '\n' }) {
		if name, is := strings.CutPrefix(request, "contents "); is {
			names.WriteString(name + "\n")
		}
	}
	cmd := exec.CommandContext(l.t.Context(), "git", "-C", l.dir, "cat-file", "--batch-check=%(objectname) %(objectsize)")
	cmd.Stdin = strings.NewReader(names.String())
	out, err := cmd.Output()
	require.NoError(l.t, err)
	return func(yield func(string, int64) bool) {
		for line := range strings.Lines(string(out)) {
			id, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && !yield(id, n) {
				return
			}
		}
	}
}

// table is the object of the table of results as it is now.
func (l *lived) table() string {
	out, err := exec.CommandContext(l.t.Context(), "git", "-C", l.dir, "rev-parse", memory.MemoryBranch+":p.results.tsv").Output()
	require.NoError(l.t, err)
	return strings.TrimSpace(string(out))
}

// TestChoosingReadsNoHistory: the scheduler and the status read states, open segments and
// checkpoints, and nothing that is sealed.
func TestChoosingReadsNoHistory(t *testing.T) {
	t.Parallel()
	w := longWorld(t, 600)
	w.write(".autoloop/programs/p.md", fmt.Sprintf(values, "schedule: daily\nmetric_direction: lower\nbudget: {iterations: 20000, per: month}"))
	w.git("commit", "--quiet", "--all", "--message", "a budget")
	behind := map[string]string{} // by object
	for _, file := range strings.Fields(w.git("ls-tree", "-r", "--name-only", "memory/autoloop")) {
		if strings.HasPrefix(file, "p.ledger/0") || strings.HasSuffix(file, ".tsv") {
			behind[w.git("rev-parse", "memory/autoloop:"+file)] = file
		}
	}
	require.Greater(t, len(behind), 10)
	l := &lived{t: t, dir: w.dir, counts: countingGit(t)}
	for name, args := range map[string][]string{"scheduler": {"scheduler", "--out", filepath.Join(w.side, "autoloop.json")}, "scheduler status": {"scheduler", "status"}} {
		l.forget()
		cmd := w.command(args[0], args[1:]...)
		cmd.Env = slices.Concat(w.env, []string{"PATH=" + l.counts + string(filepath.ListSeparator) + os.Getenv("PATH")})
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		read := 0
		for id := range l.asked() {
			read++
			assert.Empty(t, behind[id], "%s reads it", name)
		}
		assert.Positive(t, read, "%s: what is read is counted", name)
	}
}

// TestAnIterationReadsNoMoreLater: what an iteration reads does not grow with those
// behind it, whatever it needs to know of them. A tuner and a population have a number of
// earlier ones to learn from, and read no more than those.
func TestAnIterationReadsNoMoreLater(t *testing.T) {
	long.Only(t, long.Simulations)
	for _, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			type reading struct{ objects, bytes int64 }
			at := map[int]reading{}
			for _, behind := range []int{10, 100, 1_000, 4_000, 10_000} {
				made := l.lived(t, behind)
				made.iterate() // it measures the baseline, and seals what is worth it
				made.forget()
				before := made.table()
				require.Empty(t, made.iterate())
				objects, size := made.read(before, made.table())
				at[behind] = reading{objects, size}
				t.Logf("%d behind it: %d objects, %d bytes", behind, objects, size)
			}
			few := at[1_000]
			if l.name == "tuner" || l.name == "openevolve" {
				few = at[4_000]
			}
			many := at[10_000]
			assert.LessOrEqual(t, 10*many.objects, 13*few.objects)
			const segment = 64 << 10 // the open one is as long as it happens to be
			assert.LessOrEqual(t, 10*many.bytes, 13*(few.bytes+segment))
		})
	}
}

// madeHistory writes the records of so many iterations in one commit, as they are after
// as many runs.
func madeHistory(b testing.TB, repo *git.Repo, iterations int, identity identity, more func(is history.Head, decided *history.Decided) []history.Event) {
	b.Helper()
	log, err := history.Parse(nil)
	require.NoError(b, err)
	table, err := results.Parse(nil)
	require.NoError(b, err)
	doc := records.New("p")
	files := map[string]*git.File{}
	at := time.Now().Add(-time.Duration(iterations) * time.Hour)
	best := metric.FromInt(1)
	for i := range iterations {
		number := i + 1
		at = at.Add(time.Hour)
		is := history.Head{Run: fmt.Sprintf("%s-%08d", at.UTC().Format("20060102T150405Z"), number), Time: at, Iteration: number}
		value := metric.FromInt(int64(number) + 1)
		started := &history.Started{Head: is, Lease: &history.Lease{Host: "runner", PID: number, Until: at.Add(time.Hour)}}
		measured := &history.Measured{Head: is, Role: history.Candidate, Stage: "once", Metric: &value, Samples: []metric.Value{value}, Output: fmt.Sprintf("it took %d ms\n", number), Evaluator: "e"}
		decided := &history.Decided{
			Head: is, Outcome: history.Rejected, Metric: &value, Best: &best, PreviousBest: &best, Verdict: "regressed", Digest: fmt.Sprintf("%032x", number), Evaluator: identity.Evaluator, Definition: identity.Definition,
			Reasons: []string{fmt.Sprintf("%s is worse than the best 1 (lower is better)", value)}, Work: history.Work{Agent: "instant", Summary: "try another way", Changed: []string{"d00/f000.txt"}, Durations: map[string]float64{"propose": 0.1, "measure": 0.2}},
		}
		events := []history.Event{started}
		if more != nil {
			events = append(events, more(is, decided)...)
		}
		require.NoError(b, log.Append(append(events, measured, decided, &history.Finished{Head: is, Outcome: decided.Outcome})...))
		require.NoError(b, table.Append(results.Row{Iteration: number, Time: at, Score: &value, Action: results.Reverted, Changelog: "try another way"}, metric.Lower))
		if number > iterations-100 {
			doc.AddEntry(records.HistoryEntry{Iteration: number, Time: at, Status: records.Status(history.Rejected), Change: "try another way", Metric: &value, PreviousBest: &best})
		}
		s, err := log.Seal()
		require.NoError(b, err)
		if s == nil {
			continue
		}
		for i, segment := range s.Segments {
			short, err := history.Condense(segment)
			require.NoError(b, err)
			files[fmt.Sprintf("p.ledger/%06d.jsonl", s.First+i)] = &git.File{Data: segment}
			files[fmt.Sprintf("p.ledger/%06d.short.jsonl", s.First+i)] = &git.File{Data: short}
		}
		text, err := s.Checkpoint.Encode()
		require.NoError(b, err)
		files["p.ledger/checkpoint.json"] = &git.File{Data: text}
		log, err = history.Open(s.Checkpoint, s.Open)
		require.NoError(b, err)
	}
	for number := 1; ; number++ { // as each was forgotten when the next was sealed
		segment, next := files[fmt.Sprintf("p.ledger/%06d.jsonl", number)], files[fmt.Sprintf("p.ledger/%06d.jsonl", number+1)]
		if next == nil || history.LastIteration(segment.Data) > iterations-1000 {
			break
		}
		numbers := history.Forgettable(segment.Data, next.Data)
		require.NotNil(b, numbers)
		delete(files, fmt.Sprintf("p.ledger/%06d.jsonl", number))
		files[fmt.Sprintf("p.ledger/%06d.numbers.jsonl", number)] = &git.File{Data: numbers}
	}
	machine := doc.Machine()
	for range min(iterations, 10) {
		machine.RecentStatuses = append(machine.RecentStatuses, string(history.Rejected))
	}
	machine.IterationCount, machine.Direction, machine.DirectionGiven = iterations, metric.Lower, true
	doc.SetMachine(machine)
	files["p.jsonl"], files["p.results.tsv"], files["p.md"] = &git.File{Data: log.Bytes()}, &git.File{Data: table.Bytes()}, &git.File{Data: doc.Render()}
	tree, err := repo.WriteFiles(b.Context(), "", files)
	require.NoError(b, err)
	commit, err := repo.CommitTree(b.Context(), tree, nil, "made\n", at)
	require.NoError(b, err)
	require.NoError(b, repo.UpdateRefs(b.Context(), "made", git.RefUpdate{Ref: "refs/heads/" + memory.MemoryBranch, New: commit}))
	require.NoError(b, repo.Pack(b.Context(), []string{commit}, nil)) // as it has been many times by then
}
