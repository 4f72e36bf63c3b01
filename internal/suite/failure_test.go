package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/tasks"
	"github.com/org/autoloop/tests/testbox"
	"github.com/org/autoloop/tests/testdir"
)

// TestFailureTableOfTheDocs: the page has the table as it is in code.
func TestFailureTableOfTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/explain/scoring.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| what fails | skill suite | task suite |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var rows []string
	for _, what := range suite.Failures() {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", what, suite.Evals.After(what), suite.Tasks.After(what)))
	}
	assert.ElementsMatch(t, rows, strings.Split(table, "\n"))
}

// scenario makes one row of the table happen, in both formats.
type scenario struct {
	// ends is how the agent ends its first run; nil is well.
	ends *agent.Failure
	// always says that it ends so each time, moved that the sandbox is out of its place then, as on a
	// disk on which nothing can be written.
	always, moved bool
	// silent says to which question, by its number, the judge has no answer; nil asks no judge.
	silent  func(n int, question string) bool
	check   string // a command that is looked at besides
	budget  int64  // of tokens
	invalid bool   // the suite
	runs    int    // of each task; 0 is one
}

func scenarios() map[suite.Failure]scenario {
	failing := func(kind agent.FailureKind) *agent.Failure { return &agent.Failure{Kind: kind, Message: "it failed"} }
	first := func(most int) func(int, string) bool { return func(n int, _ string) bool { return n <= most } }
	ofCandidate := func(_ int, question string) bool {
		return strings.Contains(question, "+after") || !strings.Contains(question, "DIFF")
	}
	return map[suite.Failure]scenario{
		suite.AgentCrashed:    {ends: failing(agent.Crashed)},
		suite.AgentTimedOut:   {ends: failing(agent.Timeout)},
		suite.AlwaysCrashed:   {ends: failing(agent.Crashed), always: true},
		suite.AgentMissing:    {ends: &agent.Failure{Kind: agent.Crashed, Message: "exit code 127", NotStarted: true}},
		suite.LoginRefused:    {ends: failing(agent.Authentication)},
		suite.ProviderLimit:   {ends: failing(agent.RateLimit)},
		suite.AnswerUnusable:  {silent: first(1)},
		suite.NoAnswer:        {silent: first(2), runs: 5},
		suite.NoAnswerThrice:  {silent: ofCandidate, runs: 5},
		suite.JudgeOneSided:   {silent: ofCandidate, runs: 2},
		suite.BudgetUsedUp:    {budget: 100},
		suite.DiskFull:        {moved: true},
		suite.CommandNotFound: {check: "no-such-command-anywhere"},
		suite.SuiteInvalid:    {invalid: true},
	}
}

// TestFailureCells makes every row happen in both formats and looks at what follows.
func TestFailureCells(t *testing.T) {
	t.Parallel()
	all := scenarios()
	for _, what := range suite.Failures() {
		s, there := all[what]
		require.True(t, there, what)
		t.Run(string(what), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, suite.Evals.After(what), s.inEvals(t), "in a skill suite")
			assert.Equal(t, suite.Tasks.After(what), s.inTasks(t), "in a task suite")
		})
	}
}

// scripted is an agent that copies its configuration to a file, and ends as the scenario
// says.
type scripted struct {
	scenario

	mu    sync.Mutex
	asked int
}

func (*scripted) Name() string           { return "scripted" }
func (*scripted) Project() agent.Project { return agent.Project{Skills: ".scripted/skills"} }

func (s *scripted) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	text, err := os.ReadFile(filepath.Join(r.Dir, "AGENTS.md"))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.Dir, "out.txt"), text, 0o600)
	} else {
		err = os.WriteFile(filepath.Join(r.Dir, "outputs", "x"), nil, 0o600)
	}
	reply := agent.Reply{Usage: metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}}
	if s.always || s.asked == 1 {
		reply.Failure = s.ends
	}
	if s.moved {
		err = os.Rename(filepath.Dir(r.Dir), filepath.Dir(r.Dir)+"-moved")
	}
	return reply, err
}

// runner runs one case after the other; the judge, which answers as the scenario says, counts its questions.
func (s scenario) runner(t *testing.T) (runner evalrun.Runner, asked *int) {
	t.Helper()
	asked = new(int)
	runner = evalrun.Runner{
		Jobs: 1, RunDir: t.TempDir(), Now: time.Now, Budget: evalrun.Budget{Limit: metric.Limit{Tokens: s.budget}},
		Sandboxes: testbox.Maker(),
	}
	if s.silent != nil {
		runner.Grader = judge.Setting{
			Complete: func(_ context.Context, _ models.Endpoint, r models.Request) (models.Response, error) {
				*asked++
				if s.silent(*asked, r.Messages[1].Text) {
					return models.Response{Text: "no answer"}, nil
				}
				return models.Response{Model: "m", Text: `{"score": 0.5, "rationale": "so so", "expectations": [
				{"number": 1, "passed": true, "evidence": "seen"}]}`}, nil
			},
		}.API(models.Endpoint{Model: "m"})
	}
	return runner, asked
}

// inEvals runs a suite of two cases, of which the first meets the failure.
func (s scenario) inEvals(t *testing.T) suite.Effect {
	t.Helper()
	const check = `{"type": "file_exists", "file": "x"}`
	first, second := check, "b"
	if s.check != "" {
		first += `, {"type": "shell_command", "command": "` + s.check + `"}`
	}
	if first = `"prompt": "p", "deterministic_checks": [` + first + "]"; s.silent != nil {
		first += `, "expectations": ["it is good"]`
	}
	if s.invalid {
		second = "a"
	}
	root := testdir.New(t, testdir.Files{
		"skill/SKILL.md": "---\nname: s\n---\n",
		"skill/evals/evals.json": `[{"id": "a", ` + first + `}, {"id": "` + second +
			`", "prompt": "p", "deterministic_checks": [` + check + `]}]`,
	})
	skill, err := evalrun.Load(root, "skill", "")
	if err != nil {
		return suite.NoResult
	}
	runner, asked := s.runner(t)
	o := evalrun.Options{Agent: &scripted{scenario: s}, Timeout: time.Minute, Runner: runner}
	result, err := evalrun.Run(t.Context(), skill, t.TempDir(), o)
	if err != nil {
		assert.Empty(t, result.Cases)
		return suite.NoResult
	}
	switch got := result.Cases[0]; {
	case got.Problem != "":
		assert.Zero(t, got.PassRate().Sign())
		return suite.Zero
	case got.Passed < got.Total:
		assert.Equal(t, 1, got.Passed)
		return suite.NotPassed
	case *asked > 1:
		return suite.AskAgain
	}
	return "nothing"
}

// inTasks compares two configurations by a task, which meets the failure.
func (s scenario) inTasks(t *testing.T) suite.Effect {
	t.Helper()
	checks := []string{`{"kind": "fileExists", "path": "out.txt"}`}
	if s.check != "" {
		checks = append(checks, `{"kind": "command", "cmd": "`+s.check+`"}`)
	}
	root := testdir.New(t, testdir.Files{"before/AGENTS.md": "before\n", "after/AGENTS.md": "after\n"})
	for _, id := range []string{"a", "b"} {
		name, rubric := id, ""
		if s.silent != nil {
			rubric = `, "judgeRubric": {"criteria": "good"}`
		}
		if s.invalid {
			name = "a"
		}
		testdir.Put(t, root, testdir.Files{
			"suite/" + id + "/task.json": `{"id": "` + name + `", "title": "t", "prompt": "p", "fixtureDir": "fixture", ` +
				`"checks": [` + strings.Join(
				checks,
				", ",
			) + "]" + rubric + "}",
			"suite/" + id + "/fixture/file.txt": "",
		})
	}
	loaded, err := evalrun.LoadTasks(t.Context(), filepath.Join(root, "suite"))
	if err != nil {
		return suite.NoResult
	}
	runner, asked := s.runner(t)
	worker := &scripted{scenario: s}
	o := evalrun.TaskOptions{
		Agent: "scripted", Config: evalrun.AgentConfig(),
		Agents: func(string) (agent.Agent, error) { return worker, nil }, Runner: runner,
		Runs: max(s.runs, 1), Thresholds: tasks.Thresholds{ObjectiveDropIsRegression: true}, Session: "s",
		Archive: &evalrun.Archive{Dir: filepath.Join(root, "kept"), Stage: t.TempDir()},
	}
	side := func(name string) evalrun.Side {
		return evalrun.Side{Label: name, Dir: filepath.Join(root, name)}
	}
	found, err := evalrun.RunTasks(t.Context(), loaded, o, side("before"), side("after"))
	if err != nil {
		assert.Empty(t, found.Verdict)
		return suite.NoResult
	}
	for _, note := range found.Notes {
		switch note.Kind {
		case tasks.JudgeIncomplete:
			return suite.LeftOut
		case tasks.JudgeOneSided:
			assert.NotEqual(t, decision.Improved, found.Verdict)
			assert.False(t, found.Promotable)
			return suite.Dropped
		default:
		}
	}
	switch got := found.Baseline.Scores[0].Runs[0]; {
	case got.Failure != "":
		assert.Equal(t, tasks.Objective{Passed: 0, Total: len(got.Checks)}, got.Objective)
		return suite.Zero
	case got.Objective.String() != fmt.Sprintf("%d/%d", len(checks), len(checks)):
		assert.Equal(t, 1, got.Objective.Passed)
		return suite.NotPassed
	case *asked > 4:
		return suite.AskAgain
	}
	return "nothing"
}

// TestMain lets the supervisor of commands run.
func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
