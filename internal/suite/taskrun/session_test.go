package taskrun

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
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

// TestWhatARunDependsOn: whatever could make a run come out otherwise makes its key another
// one, and nothing else does, or runs would be made again for nothing.
func TestWhatARunDependsOn(t *testing.T) {
	t.Parallel()
	type world struct {
		session
		prepared

		role role
	}
	begin := func() *world {
		return &world{
			session: session{Options: Options{
				Model: "m", Command: "cmd", CommandDigest: "d", Surroundings: "none",
				Env: []string{"A"},
			}},
			prepared: prepared{
				Task: format.Task{
					ID: "t", Prompt: "p", Title: "T", File: "a/task.json", Timeout: time.Second, Agent: "command",
					Fixture: "fixture",
					Rubric:  &format.Rubric{Criteria: "c"},
					Checks: []format.Check{
						{Kind: format.CommandCheck, Command: "make", ExpectExitZero: true},
						{Kind: format.RegexMatch, Path: "a", Pattern: regexp.MustCompile("x")},
					},
				},
				agent: named{name: commandAgent}, version: "1",
				templates: [roles]*sandbox.Template{
					{Dir: "/one", Manifest: sandbox.Manifest{{Path: "a", Mode: 0o644, SHA256: "00"}}},
					{Dir: "/one", Manifest: sandbox.Manifest{{Path: "a", Mode: 0o644, SHA256: "00"}}},
				},
			},
		}
	}
	key := func(change func(*world)) string {
		w := begin()
		change(w)
		return w.key(w.role, &w.prepared)
	}
	file := func(change func(*sandbox.Entry)) func(*world) {
		return func(w *world) { change(&w.templates[theBaseline].Manifest[0]) }
	}
	seen := map[string]string{key(func(*world) {}): "nothing"}
	for name, change := range map[string]func(*world){
		"the side":              func(w *world) { w.role = theCandidate },
		"the id":                func(w *world) { w.ID = "u" },
		"the prompt":            func(w *world) { w.Prompt = "q" },
		"the time":              func(w *world) { w.Timeout += time.Millisecond },
		"the agent":             func(w *world) { w.agent = named{name: "other"} },
		"the agent's version":   func(w *world) { w.version = "2" },
		"the model":             func(w *world) { w.Model = "n" },
		"the command":           func(w *world) { w.Command = "cmd2" },
		"what the command runs": func(w *world) { w.CommandDigest = "e" },
		"the isolation":         func(w *world) { w.Surroundings = "namespaces" },
		"a variable more":       func(w *world) { w.Env = append(w.Env, "B") },
		"another variable":      func(w *world) { w.Env = []string{"C"} },
		"a check less":          func(w *world) { w.Checks = w.Checks[:1] },
		"a check twice":         func(w *world) { w.Checks = append(w.Checks, w.Checks[0]) },
		"the order of checks":   func(w *world) { w.Checks[0], w.Checks[1] = w.Checks[1], w.Checks[0] },
		"a check's kind":        func(w *world) { w.Checks[0].Kind = format.TestSuiteCheck },
		"a check's command":     func(w *world) { w.Checks[0].Command = "make test" },
		"a check's path":        func(w *world) { w.Checks[0].Path = "b" },
		"a check's text":        func(w *world) { w.Checks[0].Substring = "s" },
		"a check's pattern":     func(w *world) { w.Checks[1].Pattern = regexp.MustCompile("y") },
		"what a check expects":  func(w *world) { w.Checks[0].ExpectExitZero = false },
		"a file's content":      file(func(e *sandbox.Entry) { e.SHA256 = "01" }),
		"a file's mode":         file(func(e *sandbox.Entry) { e.Mode = 0o755 }),
		"a file's name":         file(func(e *sandbox.Entry) { e.Path = "b" }),
		"a file more": func(w *world) {
			w.templates[theBaseline].Manifest = append(w.templates[theBaseline].Manifest, sandbox.Entry{Path: "c"})
		},
		"a file's name and mode, merged":  file(func(e *sandbox.Entry) { e.Path = "a\" 644" }),
		"where a check's word ends":       func(w *world) { w.Checks[0].Command, w.Checks[0].Path = "mak", "e" },
		"where the words of the run end":  func(w *world) { w.Model, w.Command = "mc", "md" },
		"which of two variables is which": func(w *world) { w.Env = []string{"A\",\"B"} },
	} {
		got := key(change)
		before, twice := seen[got]
		assert.False(t, twice, "%s makes the same key as %s", name, before)
		seen[got] = name
		assert.Len(t, got, 32)
	}
	same := key(func(*world) {})
	for name, change := range map[string]func(*world){
		"the title":                         func(w *world) { w.Title = "U" },
		"where the task's file is":          func(w *world) { w.File = "b/task.json" },
		"where the fixture is":              func(w *world) { w.Fixture = "elsewhere" },
		"what only the judge is told":       func(w *world) { w.Rubric = nil },
		"what the task calls its agent":     func(w *world) { w.Task.Agent = "" },
		"where the template is":             func(w *world) { w.templates[theBaseline].Dir = "/two" },
		"the other side's files":            func(w *world) { w.templates[theCandidate].Manifest = nil },
		"how many work at once":             func(w *world) { w.Jobs = 7 },
		"how often it is run":               func(w *world) { w.Runs = 7 },
		"who asks":                          func(w *world) { w.Session = "s" },
		"a budget":                          func(w *world) { w.Budget.Tokens = 7 },
		"a part of a millisecond":           func(w *world) { w.Timeout += 999 * time.Microsecond },
		"how big a file is, beside its sum": file(func(e *sandbox.Entry) { e.Size = 9 }),
	} {
		assert.Equal(t, same, key(change), name)
	}
	other := func(command string) string {
		return key(func(w *world) { w.agent, w.Command, w.CommandDigest = named{name: "other"}, command, command })
	}
	assert.Equal(t, other("x"), other("y"), "a command that is not run makes no difference")
}

// TestTheOrderOfRuns: each run is there once, a task's two sides follow each other, and
// which comes first changes with the task and with the repeat.
func TestTheOrderOfRuns(t *testing.T) {
	t.Parallel()
	for tasks := 1; tasks <= 4; tasks++ {
		s := &session{}
		for range tasks {
			s.tasks = append(s.tasks, &prepared{})
		}
		list := s.units(5)
		require.Len(t, list, 10*tasks)
		seen, first := map[unit]bool{}, map[unit]role{}
		for i, u := range list {
			assert.False(t, seen[u])
			seen[u] = true
			assert.Equal(t, i/(2*tasks), u.repeat, "repeat by repeat")
			if i%2 == 0 {
				assert.Equal(t, unit{u.task, 1 - u.side, u.repeat}, list[i+1])
				first[unit{task: u.task, repeat: u.repeat}] = u.side
			}
		}
		for u, side := range first {
			if before, there := first[unit{task: u.task, repeat: u.repeat - 1}]; there {
				assert.NotEqual(t, before, side)
			}
			if before, there := first[unit{task: u.task - 1, repeat: u.repeat}]; there {
				assert.NotEqual(t, before, side)
			}
		}
		s.standalone = true
		assert.Len(t, s.units(5), 5*tasks)
	}
}

func TestWhenTwoRunsCameToTheSame(t *testing.T) {
	t.Parallel()
	begin := func() record {
		return record{
			Session: "a", Digest: "d", Words: "w",
			Checks: []format.CheckResult{{Kind: format.FileExists, Passed: true}, {Passed: false, Detail: "x"}},
		}
	}
	for name, c := range map[string]struct {
		change func(*record)
		same   bool
	}{
		"nothing":            {func(*record) {}, true},
		"another session":    {func(r *record) { r.Session = "b" }, true},
		"other words":        {func(r *record) { r.Words = "v" }, true},
		"another cost":       {func(r *record) { r.Cost.Tokens = new(metric.NumberFromInt(1)) }, true},
		"why a check failed": {func(r *record) { r.Checks[1].Detail = "y" }, true},
		"other changes":      {func(r *record) { r.Digest = "e" }, false},
		"a failure":          {func(r *record) { r.Failure = "timeout" }, false},
		"a check passes":     {func(r *record) { r.Checks[1].Passed = true }, false},
		"a check fails":      {func(r *record) { r.Checks[0].Passed = false }, false},
		"a check less":       {func(r *record) { r.Checks = r.Checks[:1] }, false},
	} {
		other := begin()
		c.change(&other)
		assert.Equal(t, c.same, begin().same(other), name)
		assert.Equal(t, c.same, other.same(begin()), name)
	}
}

// TestAnAgentThatAlwaysCrashesIsNoResult: on either side, and only when it does so in
// every run.
func TestAnAgentThatAlwaysCrashesIsNoResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		crashed [roles]string // for each side's runs
		says    string
	}{
		"never": {[roles]string{"..", ".."}, ""},
		"once":  {[roles]string{"x.", ".x"}, ""},
		"all of the candidate": {
			[roles]string{".x", "xx"},
			"the agent failed in all 2 runs of the candidate (exit code 2)",
		},
		"all of the baseline": {
			[roles]string{"xx", ".."},
			"the agent failed in all 2 runs of the baseline (exit code 2)",
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

func TestFaultsAreSaidOnce(t *testing.T) {
	t.Parallel()
	a, b := errors.New("a"), errors.New("b")
	assert.Equal(t, []error{a, b}, work.Once([]error{nil, a, b, errors.New("a"), nil, b}))
	assert.Empty(t, work.Once([]error{nil}))
}

// TestNoConfigurationIsPassedBy: a directory that has a file of the configuration somewhere
// below it is looked into, whatever the globs.
func TestNoConfigurationIsPassedBy(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", ".c"}
	var paths, dirs []string
	for _, x := range names {
		paths = append(paths, x)
		dirs = append(dirs, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
			dirs = append(dirs, x+"/"+y)
			for _, z := range names {
				paths = append(paths, x+"/"+y+"/"+z)
			}
		}
	}
	parts := []string{"a", "*", "**", "?", ".c", "[ab]", "{a,b}", "{a,a/b}", "**b"}
	globs := append([]string{}, parts...)
	for _, x := range parts {
		for _, y := range parts {
			globs = append(globs, x+"/"+y, x+"/"+y+"/")
			for _, z := range []string{"a", "*", "**"} {
				globs = append(globs, x+"/"+y+"/"+z)
			}
		}
	}
	matched, skipped := 0, 0
	for _, glob := range globs {
		config := Config{Include: []string{glob}}
		require.NoError(t, config.Err())
		for _, dir := range dirs {
			below := false
			for _, path := range paths {
				if len(path) > len(dir) && path[:len(dir)+1] == dir+"/" && config.Match(path) {
					below = true
				}
			}
			if below {
				matched++
				assert.True(t, config.Within(dir), "%s has a file of %s below it", dir, glob)
			} else if !config.Within(dir) {
				skipped++
			}
		}
	}
	assert.Greater(t, matched, 1000)
	assert.Greater(t, skipped, 500, "it is not all looked into")
}

func TestGlobsThatAreNone(t *testing.T) {
	t.Parallel()
	for glob, ok := range map[string]bool{
		"a": true, "a/": true, "**/x": true, "": false, "/a": false, "[": false,
		"{a": false,
	} {
		for name, config := range map[string]Config{
			"include": {Include: []string{"x", glob}},
			"exclude": {Include: []string{"x"}, Exclude: []string{glob}},
		} {
			err := config.Err()
			assert.Equal(t, ok, err == nil, "%s %q: %v", name, glob, err)
			if !ok {
				require.ErrorContains(t, err, fmt.Sprintf("%q is no glob for a path in a repository", glob))
			}
		}
	}
	require.ErrorContains(t, Config{}.Err(), "no glob says which files are the configuration")
	only := Config{Include: []string{"d/"}, Exclude: []string{"**/*.local.md", "d/private/"}}
	for path, want := range map[string]bool{
		"d/a": true, "d/x/y/z": true, "e": false, "d/a.local.md": false,
		"d/private/a": false, "d/privately": true,
	} {
		assert.Equal(t, want, only.Match(path), path)
	}
}

// TestWhatIsKnownOfChance: that nothing varies is known only of two runs of everything
// that an automatic comparison made.
func TestWhatIsKnownOfChance(t *testing.T) {
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
