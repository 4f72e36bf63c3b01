package suite_test

import (
	"context"
	"encoding/json"
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
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/score"
	"github.com/org/autoloop/internal/suite/taskrun"
	"github.com/org/autoloop/internal/suite/work"
)

// TestFailureTableOfTheDocs: the page has the table as it is in code.
func TestFailureTableOfTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/explain/scoring.md")
	require.NoError(t, err)
	table := "| what fails | skill suite | task suite |\n|---|---|---|\n"
	for _, what := range suite.Failures() {
		table += fmt.Sprintf("| %s | %s | %s |\n", what, suite.Evals.After(what), suite.Tasks.After(what))
	}
	assert.Contains(t, string(page), table)
}

// scenario makes one row of the table happen, in both formats.
type scenario struct {
	// ends is how the agent ends its run number n, from 1; nil is well.
	ends func(n int, r agent.Request) *agent.Failure
	// answers is what the judge says to its question number n; nil asks no judge.
	answers func(n int, question string) string
	check   string // a command that is looked at besides
	budget  int64  // of tokens
	invalid bool   // the suite
	runs    int    // of each task; 0 is one
}

func failing(kind agent.FailureKind) func(int, agent.Request) *agent.Failure {
	return func(n int, _ agent.Request) *agent.Failure {
		if n > 1 {
			return nil
		}
		return &agent.Failure{Kind: kind, Message: "it failed"}
	}
}

// good is an answer that a grader and a judge can both give.
const good = `{"score": 0.5, "rationale": "so so", "expectations": [{"number": 1, "passed": true, "evidence": "seen"}]}`

func scenarios() map[suite.Failure]scenario {
	silent := func(at func(n int, question string) bool) func(int, string) string {
		return func(n int, question string) string {
			if at(n, question) {
				return "no answer"
			}
			return good
		}
	}
	ofCandidate := func(_ int, question string) bool {
		return strings.Contains(question, "+after") || !strings.Contains(question, "DIFF")
	}
	return map[suite.Failure]scenario{
		suite.AgentCrashed:  {ends: failing(agent.Crashed)},
		suite.AgentTimedOut: {ends: failing(agent.Timeout)},
		suite.AlwaysCrashed: {ends: func(int,
			agent.Request,
		) *agent.Failure {
			return &agent.Failure{Kind: agent.Crashed}
		}},
		suite.AgentMissing: {ends: func(int, agent.Request) *agent.Failure {
			return &agent.Failure{Kind: agent.Crashed, Message: "exit code 127", NotStarted: true}
		}},
		suite.LoginRefused:   {ends: failing(agent.Authentication)},
		suite.ProviderLimit:  {ends: failing(agent.RateLimit)},
		suite.AnswerUnusable: {answers: silent(func(n int, _ string) bool { return n == 1 })},
		suite.NoAnswer:       {answers: silent(func(n int, _ string) bool { return n <= 2 }), runs: 5},
		suite.NoAnswerThrice: {answers: silent(ofCandidate), runs: 5},
		suite.JudgeOneSided:  {answers: silent(ofCandidate), runs: 2},
		suite.BudgetUsedUp:   {budget: 100},
		suite.DiskFull: {ends: func(_ int,
			r agent.Request,
		) *agent.Failure {
			return moved(filepath.Dir(r.Dir))
		}},
		suite.CommandNotFound: {check: "no-such-command-anywhere"},
		suite.SuiteInvalid:    {invalid: true},
	}
}

// moved takes a sandbox out of its place, as a disk on which nothing can be written.
func moved(base string) *agent.Failure {
	_ = os.Rename(base, base+"-moved")
	return nil
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
	if s.ends != nil {
		reply.Failure = s.ends(s.asked, r)
	}
	return reply, err
}

// judge answers as the scenario says, and counts its questions.
func (s scenario) judge(asked *int) *judge.Judge {
	complete := func(_ context.Context, _ models.Endpoint, r models.Request) (models.Response, error) {
		*asked++
		return models.Response{Text: s.answers(*asked, r.Messages[1].Text), Model: "m"}, nil
	}
	return judge.API(complete, models.Endpoint{Model: "m"}, nil, process.Masker{})
}

func boxes() *sandbox.Maker {
	return &sandbox.Maker{
		Runner: process.NewRunner(), Remove: os.RemoveAll,
		Environ: func(home string, _ []string) ([]string, error) {
			return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, os.MkdirAll(home, 0o700)
		},
	}
}

func write(t *testing.T, dir, name string, value any) {
	t.Helper()
	text, is := value.(string)
	if !is {
		data, err := json.Marshal(value)
		require.NoError(t, err)
		text = string(data)
	}
	place := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o755))
	require.NoError(t, os.WriteFile(place, []byte(text), 0o600))
}

type object = map[string]any

// inEvals runs a suite of two cases, of which the first meets the failure.
func (s scenario) inEvals(t *testing.T) suite.Effect {
	t.Helper()
	root, run := t.TempDir(), t.TempDir()
	checks := []object{{"type": "file_exists", "file": "x"}}
	if s.check != "" {
		checks = append(checks, object{"type": "shell_command", "command": s.check})
	}
	first := object{"id": "a", "prompt": "p", "deterministic_checks": checks}
	if s.answers != nil {
		first["expectations"] = []string{"it is good"}
	}
	cases := []object{first, {"id": "b", "prompt": "p", "deterministic_checks": checks[:1]}}
	if s.invalid {
		cases[1]["id"] = "a"
	}
	write(t, root, "skill/SKILL.md", "---\nname: s\n---\n")
	write(t, root, "skill/evals/evals.json", cases)
	skill, err := evalrun.Load(root, "skill", "")
	if err != nil {
		return suite.NoResult
	}
	asked := 0
	o := evalrun.Options{
		Agent: &scripted{scenario: s}, Timeout: time.Minute, Runner: s.runner(run),
	}
	if s.answers != nil {
		o.Grader = s.judge(&asked)
	}
	result, err := evalrun.Run(t.Context(), skill, t.TempDir(), o)
	if err != nil {
		assert.Empty(t, result.Cases)
		return suite.NoResult
	}
	switch got := result.Cases[0]; {
	case got.Problem != "":
		assert.Zero(t, got.PassRate().Sign())
		return suite.Zero
	case !got.Perfect():
		assert.Equal(t, 1, got.Passed)
		return suite.NotPassed
	case asked > 1:
		return suite.AskAgain
	}
	return "nothing"
}

// runner runs one case after the other.
func (s scenario) runner(dir string) work.Runner {
	return work.Runner{
		Jobs: 1, Sandboxes: boxes(), RunDir: dir, Now: time.Now, Budget: work.Budget{Tokens: s.budget},
	}
}

// inTasks compares two configurations by a task, which meets the failure.
func (s scenario) inTasks(t *testing.T) suite.Effect {
	t.Helper()
	root := t.TempDir()
	checks := []object{{"kind": "fileExists", "path": "out.txt"}}
	if s.check != "" {
		checks = append(checks, object{"kind": "command", "cmd": s.check})
	}
	for _, id := range []string{"a", "b"} {
		task := object{"id": id, "title": id, "prompt": "p", "fixtureDir": "fixture", "checks": checks}
		if s.answers != nil {
			task["judgeRubric"] = object{"criteria": "good"}
		}
		if s.invalid {
			task["id"] = "a"
		}
		write(t, root, "suite/"+id+"/task.json", task)
		write(t, root, "suite/"+id+"/fixture/file.txt", "")
	}
	write(t, root, "before/AGENTS.md", "before\n")
	write(t, root, "after/AGENTS.md", "after\n")
	loaded, err := taskrun.Load(t.Context(), filepath.Join(root, "suite"))
	if err != nil {
		return suite.NoResult
	}
	asked, worker := 0, &scripted{scenario: s}
	run, stage := t.TempDir(), t.TempDir()
	o := taskrun.Options{
		Agent: "scripted", Agents: func(string) (agent.Agent, error) { return worker, nil }, Runner: s.runner(run),
		Runs: max(s.runs, 1), Thresholds: score.DefaultThresholds(), Session: "s",
		Archive: &cache.Archive{Dir: filepath.Join(root, "kept"), Stage: stage},
	}
	if s.answers != nil {
		o.Grader = s.judge(&asked)
	}
	side := func(name string) taskrun.Side {
		return taskrun.Side{Label: name, Dir: filepath.Join(root, name), Config: taskrun.AgentConfig()}
	}
	found, err := taskrun.Run(t.Context(), loaded, side("before"), side("after"), o)
	if err != nil {
		assert.Empty(t, found.Verdict)
		return suite.NoResult
	}
	for _, note := range found.Notes {
		switch note.Kind {
		case score.JudgeIncomplete:
			return suite.LeftOut
		case score.JudgeOneSided:
			assert.NotEqual(t, decision.Improved, found.Verdict)
			assert.False(t, found.Promotable)
			return suite.Dropped
		default:
		}
	}
	switch got := found.Baseline.Scores[0].Runs[0]; {
	case got.Failure != "":
		assert.Equal(t, format.Passed(0, len(got.Checks)), got.Objective)
		return suite.Zero
	case got.Objective.String() != fmt.Sprintf("%d/%d", len(checks), len(checks)):
		assert.Equal(t, "1", got.Objective.Passed.String())
		return suite.NotPassed
	case asked > 4:
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
