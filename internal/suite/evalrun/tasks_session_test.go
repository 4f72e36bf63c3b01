package evalrun

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/long"
)

func verdict(t *testing.T, s *comparison) tasks.Report {
	t.Helper()
	require.NoError(t, s.measure(t.Context()))
	found, err := s.report(t.Context())
	require.NoError(t, err)
	return found
}

// TestFlakyChecksSeldomDecide compares a configuration with itself where one
// check of each task fails one time in five, and no model is known to work.
func TestFlakyChecksSeldomDecide(t *testing.T) {
	long.Only(t, long.Simulations)
	t.Parallel()
	for tasks, comparisons := range map[int]int{1: 400, 3: 300, 10: 100} {
		random, found := rand.New(rand.NewPCG(1, uint64(tasks))), map[decision.Verdict]int{}
		for range comparisons {
			s := simulated(t, tasks, func(_ role, _, check int) bool { return check > 0 || random.Float64() >= 0.2 })
			found[verdict(t, s).Verdict]++
		}
		t.Logf("%d tasks, %d comparisons: %v", tasks, comparisons, found)
		assert.Less(t, found[decision.Improved], comparisons/20)
		assert.Less(t, found[decision.Regressed], comparisons/20)
	}
}

// TestHowOftenATaskIsRun: twice where a difference shows, five times where chance or a model is at work.
func TestHowOftenATaskIsRun(t *testing.T) {
	t.Parallel()
	random, drawn := rand.New(rand.NewPCG(1, 2)), [roles]int{}
	certain := func(side role, task, check int) bool { return side == theCandidate || task > 0 || check > 0 }
	for name, c := range map[string]struct {
		passes   func(side role, task, check int) bool
		tokens   *metric.Value // of each run
		failed   bool          // the first run of the second task on the baseline's side
		runs     int
		verdict  decision.Verdict
		promoted bool
		repeats  int
	}{
		"no difference":         {func(role, int, int) bool { return true }, nil, false, 6, decision.Neutral, false, 1},
		"a certain gain":        {certain, nil, false, 12, decision.Improved, true, 1},
		"a gain beside chance":  {certain, nil, true, 30, decision.Improved, true, 5},
		"a command used tokens": {certain, new(metric.FromInt(7)), false, 30, decision.Improved, true, 5},
		"every second time only": {func(side role, _, _ int) bool { // 12 checks each time
			drawn[side]++
			return (drawn[side]-1)/12%2 == int(side)
		}, nil, false, 30, decision.Neutral, false, 5},
		"one time in five it fails, beside a gain": {func(side role, task, check int) bool {
			return certain(side, task, check) && (task != 1 || check > 0 || random.Float64() >= 0.2)
		}, nil, true, 30, decision.Improved, true, 5},
	} {
		s := simulated(t, 3, c.passes)
		made := s.make
		s.make = func(ctx context.Context, u unit) (record, error) {
			r, err := made(ctx, u)
			r.Cost.Tokens = c.tokens
			return r, err
		}
		if c.failed {
			s.records[unit{1, theBaseline, 0}] = record{Run: tasks.Run{
				Objective: tasks.Objective{Total: 4},
				Checks:    slices.Repeat([]tasks.CheckResult{{Kind: suite.CommandCheck}}, 4),
			}}
		}
		found := verdict(t, s)
		assert.Len(t, s.records, c.runs, name)
		assert.Equal(t, c.verdict, found.Verdict, "%s: %s", name, found.Summary)
		assert.Equal(t, c.promoted, found.Promotable, name)
		assert.Equal(t, c.repeats, found.Repeats, name)
	}
}

// TestCrashingAgentGivesNoResult: on either side, and only when it does so in
// every run.
func TestCrashingAgentGivesNoResult(t *testing.T) {
	t.Parallel()
	for runs, says := range map[string]string{ // of the baseline, and of the candidate; x crashes, f fails
		".. ..": "", "x. .x": "", ".. ": "", "ff ff": "",
		".x xx": "2 runs of the candidate (exit code 2)",
		"xx ..": "2 runs of the baseline (exit code 2)",
		"x ":    "all 1 runs of the baseline",
		"xx xx": "of the baseline",
	} {
		s := &comparison{records: map[unit]record{}}
		for side, ends := range strings.Split(runs, " ") {
			for i, end := range ends {
				r := record{Crashed: end == 'x'}
				if end != '.' {
					r.Failure = "exit code 2"
				}
				s.records[unit{i, role(side), 0}] = r
			}
		}
		err := s.crashed()
		if says == "" {
			require.NoError(t, err, runs)
			continue
		}
		require.ErrorContains(t, err, says, runs)
	}
}

// TestTimesOfOneSession: what a run took counts only where each task was run several
// times, all in one session.
func TestTimesOfOneSession(t *testing.T) {
	t.Parallel()
	s := &comparison{records: map[unit]record{}}
	for k := range 3 {
		for side := range roles {
			s.records[unit{0, side, k}], s.records[unit{1, side, k}] = record{Session: "a"}, record{Session: "a"}
		}
	}
	s.records[unit{1, theCandidate, 2}] = record{Session: "b"}
	assert.True(t, s.timed(0, 3))
	assert.True(t, s.timed(0, 2))
	assert.False(t, s.timed(0, 1), "one run is no sample")
	assert.False(t, s.timed(1, 3), "a run of another day")
}

// TestKnownChance: that nothing varies is known only of two runs of everything
// that an automatic comparison made.
func TestKnownChance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		auto, varies bool
		repeats      int
		want         *bool
	}{
		"one run":                     {true, false, 1, nil},
		"two runs that came the same": {true, false, 2, new(false)},
		"two that did not":            {true, true, 2, new(true)},
		"a model works":               {true, true, 1, new(true)},
		"somebody said how often":     {false, false, 5, nil},
		"said, and a model works":     {false, true, 1, new(true)},
		"nothing was run":             {true, false, 0, nil},
	} {
		s := &comparison{auto: c.auto, varies: c.varies, records: map[unit]record{}, tasks: []*prepared{{}, {}}}
		for _, u := range s.units(c.repeats) {
			s.records[u] = record{}
		}
		assert.Equal(t, c.want, s.stochastic(), name)
		assert.Equal(t, c.repeats, s.repeatsMade(), name)
	}
}

// TestKeyOfARun: whatever could make a run come out otherwise makes its key another
// one, and nothing else does, or runs would be made again for nothing.
func TestKeyOfARun(t *testing.T) {
	t.Parallel()
	type run struct {
		comparison
		prepared

		role role
		file *sandbox.Entry
	}
	key := func(change func(*run)) string {
		list := sandbox.Manifest{{Path: "a", Mode: 0o644, SHA256: "00"}}
		w := &run{
			comparison: comparison{TaskOptions: TaskOptions{
				Runner: Runner{Model: "m", Command: "cmd", Env: []string{"A"}},
			}},
			prepared: prepared{
				Task: suite.Task{ID: "t", Prompt: "p", Timeout: time.Second, Checks: []suite.Check{
					{Kind: suite.CommandCheck, Command: "make"},
					{Kind: suite.RegexMatch, File: "a", Pattern: regexp.MustCompile("x")},
				}},
				agent: &agent.Command{}, version: "1",
				templates: [roles]*sandbox.Template{{Manifest: list}, {Manifest: slices.Clone(list)}},
			},
			file: &list[0],
		}
		change(w)
		return w.key(w.role, &w.prepared)
	}
	same := key(func(*run) {})
	assert.Len(t, same, 32)
	seen := map[string]string{same: "nothing"}
	for name, change := range map[string]func(*run){
		"the side":             func(w *run) { w.role = theCandidate },
		"the id":               func(w *run) { w.ID = "u" },
		"the prompt":           func(w *run) { w.Prompt = "q" },
		"the time":             func(w *run) { w.Timeout += time.Millisecond },
		"the agent":            func(w *run) { w.agent = &configured{} },
		"the agent's version":  func(w *run) { w.version = "2" },
		"the model":            func(w *run) { w.Model = "n" },
		"the command":          func(w *run) { w.Command = "cmd2" },
		"the isolation":        func(w *run) { w.Surroundings = "namespaces" },
		"another variable":     func(w *run) { w.Env = []string{"C"} },
		"a check less":         func(w *run) { w.Checks = w.Checks[:1] },
		"the order of checks":  func(w *run) { slices.Reverse(w.Checks) },
		"a check's kind":       func(w *run) { w.Checks[0].Kind = suite.TestSuiteCheck },
		"a check's command":    func(w *run) { w.Checks[0].Command = "make test" },
		"a check's path":       func(w *run) { w.Checks[0].File = "b" },
		"a check's text":       func(w *run) { w.Checks[0].Text = "s" },
		"a check's pattern":    func(w *run) { w.Checks[1].Pattern = regexp.MustCompile("y") },
		"what a check expects": func(w *run) { w.Checks[0].Fails = true },
		"a file's content":     func(w *run) { w.file.SHA256 = "01" },
		"a file's mode":        func(w *run) { w.file.Mode = 0o755 },
		"a file's name":        func(w *run) { w.file.Path = "b" },
		"where the words end":  func(w *run) { w.Model, w.Command = "mc", "md" },
		"which variable":       func(w *run) { w.Env = []string{"A\",\"B"} },
	} {
		got := key(change)
		assert.Empty(t, seen[got], "%s makes the same key", name)
		seen[got] = name
	}
	for name, change := range map[string]func(*run){
		"the title":               func(w *run) { w.Title = "U" },
		"what the judge is told":  func(w *run) { w.Rubric = &suite.Rubric{} },
		"where the template is":   func(w *run) { w.templates[theBaseline].Dir = "/two" },
		"the other side's files":  func(w *run) { w.templates[theCandidate].Manifest = nil },
		"how often it is run":     func(w *run) { w.Runs, w.Jobs, w.Session, w.Budget.Tokens = 7, 7, "s", 7 },
		"a part of a millisecond": func(w *run) { w.Timeout += 999 * time.Microsecond },
	} {
		assert.Equal(t, same, key(change), name)
	}
}

func TestLinesOfProgress(t *testing.T) {
	t.Parallel()
	var lines []string
	s := &comparison{
		TaskOptions: TaskOptions{Runner: Runner{Progress: func(line string) { lines = append(lines, line) }}},
		total:       10, spent: &Spending{},
	}
	s.say("", "")
	s.reused = 2
	s.spent.Add(metric.Usage{InputTokens: new(int64(700)), CostUSD: new(metric.MustValue("0.12345"))}, false)
	s.spent.Add(metric.Usage{}, false)
	s.say(", 1/4 judged", ": fix, candidate: 1 of 3 checks passed")
	assert.Equal(t, []string{
		"0/10 runs", "0/10 runs, 2 kept from before, 1/4 judged, 0.1235 USD, 700 tokens, 1 runs of unknown cost: fix, " +
			"candidate: 1 of 3 checks passed",
	}, lines)
}

// TestOrderOfRuns: repeat by repeat, a task's two sides follow each other, and
// which comes first changes with the task and with the repeat.
func TestOrderOfRuns(t *testing.T) {
	t.Parallel()
	s := &comparison{tasks: []*prepared{{}, {}}}
	order := func() (list []string) {
		for _, u := range s.units(2) {
			list = append(list, fmt.Sprint(u.task, u.side.String()[:1], u.repeat))
		}
		return list
	}
	assert.Equal(t, strings.Fields("0b0 0c0 1c0 1b0 0c1 0b1 1b1 1c1"), order())
	s.standalone = true
	assert.Equal(t, strings.Fields("0b0 1b0 0b1 1b1"), order())
}

func TestWhetherTwoRunsCameToTheSame(t *testing.T) {
	t.Parallel()
	begin := func() record {
		return record{
			Session: "a", Digest: "d", Words: "w",
			Run: tasks.Run{Checks: []tasks.CheckResult{{Passed: true}, {Detail: "x"}}},
		}
	}
	for name, c := range map[string]struct {
		change func(*record)
		same   bool
	}{
		"another session":    {func(r *record) { r.Session = "b" }, true},
		"other words":        {func(r *record) { r.Words = "v" }, true},
		"why a check failed": {func(r *record) { r.Checks[1].Detail = "y" }, true},
		"other changes":      {func(r *record) { r.Digest = "e" }, false},
		"a failure":          {func(r *record) { r.Failure = "timeout" }, false},
		"a check passes":     {func(r *record) { r.Checks[1].Passed = true }, false},
		"a check less":       {func(r *record) { r.Checks = r.Checks[:1] }, false},
	} {
		other := begin()
		c.change(&other)
		assert.Equal(t, c.same, begin().same(other), name)
	}
}

// TestConfigurations: which files are of one, and that no directory is passed by which has one below it.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	paths, dirs := []string{"a", "b", ".c"}, []string{}
	for range 2 {
		dirs = slices.Clone(paths)
		for _, dir := range dirs {
			paths = append(paths, dir+"/a", dir+"/b", dir+"/.c")
		}
	}
	parts := []string{"a", "*", "**", "?", ".c", "[ab]", "{a,b}", "{a,a/b}", "**b"}
	skipped := 0
	for _, x := range parts {
		for _, y := range parts {
			for _, glob := range []string{x, x + "/" + y, x + "/" + y + "/", x + "/" + y + "/*", x + "/" + y + "/**"} {
				config := sandbox.Config{Include: []string{glob}}
				for _, dir := range dirs {
					if slices.ContainsFunc(paths, func(path string) bool {
						return strings.HasPrefix(path, dir+"/") && config.Match(path)
					}) {
						require.True(t, config.Within(dir), "%s has a file of %s below it", dir, glob)
					} else if !config.Within(dir) {
						skipped++
					}
				}
			}
		}
	}
	assert.Greater(t, skipped, 500, "it is not all looked into")
	agents := AgentConfig()
	for path, is := range map[string]bool{
		"AGENTS.md": true, "sub/AGENTS.md": false, ".claude/a/b.md": true, ".claude/settings.local.json": false,
		"CLAUDE.local.md": false, ".github/copilot-instructions.md": true, ".github/workflows/x.yml": false,
		"main.go": false, ".claude/worktrees/x/AGENTS.md": false,
	} {
		assert.Equal(t, is, agents.Match(path), path)
	}
	for dir, is := range map[string]bool{
		".claude/deep/er": true, ".github": true, ".github/workflows": false, "node_modules": false, "AGENTS.md": false,
	} {
		assert.Equal(t, is, agents.Within(dir), dir)
	}
}
