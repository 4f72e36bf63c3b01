package taskrun

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
)

// named is an agent that does nothing.
type named struct {
	agent.Agent

	name string
}

func (n named) Name() string { return n.name }

// TestCrashingAgentGivesNoResult: on either side, and only when it does so in
// every run.
func TestCrashingAgentGivesNoResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		crashed [roles]string // for each side's runs
		says    string
	}{
		"never": {[roles]string{"..", ".."}, ""},
		"once":  {[roles]string{"x.", ".x"}, ""},
		"all of the candidate": {
			[roles]string{".x", "xx"},
			"2 runs of the candidate (exit code 2)",
		},
		"all of the baseline": {
			[roles]string{"xx", ".."},
			"2 runs of the baseline (exit code 2)",
		},
		"a side that was not run":  {[roles]string{"..", ""}, ""},
		"the only side that was":   {[roles]string{"x", ""}, "all 1 runs of the baseline"},
		"all of both":              {[roles]string{"xx", "xx"}, "of the baseline"},
		"a failure is not a crash": {[roles]string{"ff", "ff"}, ""},
	} {
		s := &session{records: map[unit]record{}}
		for side, runs := range c.crashed {
			for i, end := range runs {
				r := record{Crashed: end == 'x'}
				if end != '.' {
					r.Failure = "exit code 2"
				}
				s.records[unit{i, role(side), 0}] = r
			}
		}
		err := s.crashed()
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
	}
}

// TestTimesOfOneSession: what a run took counts only where each task was run several
// times, all in one session.
func TestTimesOfOneSession(t *testing.T) {
	t.Parallel()
	s := &session{records: map[unit]record{}}
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
	yes, no := true, false
	for name, c := range map[string]struct {
		auto, varies bool
		repeats      int
		want         *bool
	}{
		"one run":                     {true, false, 1, nil},
		"two runs that came the same": {true, false, 2, &no},
		"two that did not":            {true, true, 2, &yes},
		"a model works":               {true, true, 1, &yes},
		"somebody said how often":     {false, false, 5, nil},
		"said, and a model works":     {false, true, 1, &yes},
		"nothing was run":             {true, false, 0, nil},
	} {
		s := &session{auto: c.auto, varies: c.varies, records: map[unit]record{}, tasks: []*prepared{{}, {}}}
		for k := range c.repeats {
			for task := range s.tasks {
				s.records[unit{task, theBaseline, k}], s.records[unit{task, theCandidate, k}] = record{}, record{}
			}
		}
		assert.Equal(t, c.want, s.stochastic(), name)
		assert.Equal(t, c.repeats, s.repeatsMade(), name)
	}
}

// TestKeyOfARun: whatever could make a run come out otherwise makes its key another
// one, and nothing else does, or runs would be made again for nothing.
func TestKeyOfARun(t *testing.T) {
	t.Parallel()
	type fixture struct {
		session
		prepared

		role role
		file *sandbox.Entry
	}
	key := func(change func(*fixture)) string {
		files := sandbox.Manifest{{Path: "a", Mode: 0o644, SHA256: "00"}}
		w := &fixture{
			session: session{Options: Options{
				Runner: work.Runner{Model: "m", Command: "cmd", Env: []string{"A"}}, CommandDigest: "d",
			}},
			prepared: prepared{
				Task: format.Task{ID: "t", Prompt: "p", Timeout: time.Second, Checks: []format.Check{
					{Kind: format.CommandCheck, Command: "make", ExpectExitZero: true},
					{Kind: format.RegexMatch, Path: "a", Pattern: regexp.MustCompile("x")},
				}},
				agent: named{name: commandAgent}, version: "1",
				templates: [roles]*sandbox.Template{{Manifest: files}, {Manifest: slices.Clone(files)}},
			},
			file: &files[0],
		}
		change(w)
		return w.key(w.role, &w.prepared)
	}
	same := key(func(*fixture) {})
	assert.Len(t, same, 32)
	seen := map[string]string{same: "nothing"}
	for name, change := range map[string]func(*fixture){
		"the side":              func(w *fixture) { w.role = theCandidate },
		"the id":                func(w *fixture) { w.ID = "u" },
		"the prompt":            func(w *fixture) { w.Prompt = "q" },
		"the time":              func(w *fixture) { w.Timeout += time.Millisecond },
		"the agent":             func(w *fixture) { w.agent = named{name: "other"} },
		"the agent's version":   func(w *fixture) { w.version = "2" },
		"the model":             func(w *fixture) { w.Model = "n" },
		"the command":           func(w *fixture) { w.Command = "cmd2" },
		"what the command runs": func(w *fixture) { w.CommandDigest = "e" },
		"the isolation":         func(w *fixture) { w.Surroundings = "namespaces" },
		"another variable":      func(w *fixture) { w.Env = []string{"C"} },
		"a check less":          func(w *fixture) { w.Checks = w.Checks[:1] },
		"the order of checks":   func(w *fixture) { slices.Reverse(w.Checks) },
		"a check's kind":        func(w *fixture) { w.Checks[0].Kind = format.TestSuiteCheck },
		"a check's command":     func(w *fixture) { w.Checks[0].Command = "make test" },
		"a check's path":        func(w *fixture) { w.Checks[0].Path = "b" },
		"a check's text":        func(w *fixture) { w.Checks[0].Substring = "s" },
		"a check's pattern":     func(w *fixture) { w.Checks[1].Pattern = regexp.MustCompile("y") },
		"what a check expects":  func(w *fixture) { w.Checks[0].ExpectExitZero = false },
		"a file's content":      func(w *fixture) { w.file.SHA256 = "01" },
		"a file's mode":         func(w *fixture) { w.file.Mode = 0o755 },
		"a file's name":         func(w *fixture) { w.file.Path = "b" },
		"where the words end":   func(w *fixture) { w.Model, w.Command = "mc", "md" },
		"which variable":        func(w *fixture) { w.Env = []string{"A\",\"B"} },
	} {
		got := key(change)
		assert.Empty(t, seen[got], "%s makes the same key", name)
		seen[got] = name
	}
	for name, change := range map[string]func(*fixture){
		"the title":               func(w *fixture) { w.Title = "U" },
		"what the judge is told":  func(w *fixture) { w.Rubric = &format.Rubric{} },
		"where the template is":   func(w *fixture) { w.templates[theBaseline].Dir = "/two" },
		"the other side's files":  func(w *fixture) { w.templates[theCandidate].Manifest = nil },
		"how often it is run":     func(w *fixture) { w.Runs, w.Jobs, w.Session, w.Budget.Tokens = 7, 7, "s", 7 },
		"a part of a millisecond": func(w *fixture) { w.Timeout += 999 * time.Microsecond },
	} {
		assert.Equal(t, same, key(change), name)
	}
	other := func(command string) string {
		return key(func(w *fixture) { w.agent, w.Command, w.CommandDigest = named{name: "other"}, command, command })
	}
	assert.Equal(t, other("x"), other("y"), "a command that is not run makes no difference")
}

// TestOrderOfRuns: repeat by repeat, a task's two sides follow each other, and
// which comes first changes with the task and with the repeat.
func TestOrderOfRuns(t *testing.T) {
	t.Parallel()
	s := &session{tasks: []*prepared{{}, {}}}
	b, c := theBaseline, theCandidate
	assert.Equal(t, []unit{
		{0, b, 0}, {0, c, 0}, {1, c, 0}, {1, b, 0}, {0, c, 1}, {0, b, 1}, {1, b, 1}, {1, c, 1},
	}, s.units(2))
	s.standalone = true
	assert.Equal(t, []unit{{0, b, 0}, {1, b, 0}, {0, b, 1}, {1, b, 1}}, s.units(2))
}

func TestWhetherTwoRunsCameToTheSame(t *testing.T) {
	t.Parallel()
	begin := func() record {
		return record{Session: "a", Digest: "d", Words: "w", Checks: []format.CheckResult{
			{Passed: true},
			{Detail: "x"},
		}}
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
				config := Config{Include: []string{glob}}
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
