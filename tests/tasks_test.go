package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// tasksWorld is a repository with a suite of these tasks, each an id and its
// checks as JSON, and two configurations: `before` is committed, and the
// checkout has `after`.
func tasksWorld(t *testing.T, tasks map[string]string) *world {
	t.Helper()
	files := map[string]string{"AGENTS.md": "before\n", "README.md": "of no account\n"}
	for id, checks := range tasks {
		files["suite/"+id+"/task.json"] = `{"id": "` + id + `", "title": "Task ` + id +
			`", "fixtureDir": "fixture", "prompt": "do it", "checks": [` + checks + `]}`
		files["suite/"+id+"/fixture/file.txt"] = "fixture\n"
	}
	w := newWorld(t, files)
	w.write("AGENTS.md", "after\n")
	return w
}

const (
	hasAfter   = `{"kind": "fileContains", "path": "out.txt", "substring": "after"}`
	hasFile    = `{"kind": "fileExists", "path": "file.txt"}`
	copyConfig = "cp AGENTS.md out.txt; echo copied"
)

// tasks compares the checkout with its commit, with a scripted agent.
func (w *world) tasks(script string, more ...string) answer {
	w.t.Helper()
	return w.binary("iterate", w.taskArgs(script, more...)...)
}

func (w *world) taskArgs(script string, more ...string) []string {
	// A busy machine must not decide: no time counts as another one.
	return append([]string{
		"eval", "suite", "--against", "HEAD", "--agent-command", script, "--judge", "off", "--settings",
		w.settings("cost-tolerance: 1000"),
	}, more...)
}

// left lists what a comparison left behind, besides the finished runs.
func (w *world) left() []string {
	w.t.Helper()
	root := filepath.Dir(w.side)
	temporary, err := filepath.Glob(filepath.Join(root, "tmp", "*"))
	require.NoError(w.t, err)
	staged, err := filepath.Glob(filepath.Join(root, "home", ".cache", "autoloop", "tasks", "autoloop-run-*"))
	require.NoError(w.t, err)
	return append(temporary, staged...)
}

func TestTasksCompareTheCheckoutWithItsCommit(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter, "two": hasFile})
	a := w.tasks(copyConfig)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "improved: net composite gain +1 over 2 tasks")
	assert.Contains(t, a.stdout, "promotable: yes")
	assert.Contains(t, a.stderr, "one, candidate: 1 of 1 checks passed")
	assert.Empty(t, w.left())
	assert.Equal(t, " M AGENTS.md", w.git("status", "--short"), "the checkout is as it was")

	again := w.tasks(copyConfig)
	require.Zero(t, again.code, again.stderr)
	assert.Contains(t, again.stderr, "4/4 runs, 4 kept from before")
}

func TestTasksExitCodes(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter})
	assert.Equal(t, 0, w.tasks(copyConfig, "--candidate", "HEAD").code, "neutral")
	assert.Equal(t, 1, w.tasks(copyConfig, "--against", ".", "--candidate", "HEAD").code, "regressed")
	for says, args := range map[string][]string{
		"--against nowhere is neither a directory nor a commit": {"--against", "nowhere"},
		"no agent is called \"nobody\"":                         {"--agent", "nobody"},
		"the tuner works on no case":                            {"--agent", "tuner"},
		"--runs none: give auto":                                {"--runs", "none"},
		"--budget-usd -1: give a number above 0":                {"--budget-usd", "-1"},
		"min-composite-gain":                                    {"--settings", w.settings("min-composite-gain: -1")},
		"judge: cli: claude is not in PATH":                     {"--judge", "cli"},
	} {
		a := w.tasks(copyConfig, args...)
		assert.Equal(t, 2, a.code, says)
		assert.Contains(t, a.stderr, says)
		assert.Equal(t, 1, strings.Count(a.stderr, "\n"), "one line: %s", a.stderr)
	}
	assert.Contains(t, w.binary("iterate", "eval", "suite", "--against", "HEAD").stderr, "one/task.json names no agent")
	w.write("suite/one/task.json", `{"id": "one", "colour": 1}`)
	assert.Equal(t, 2, w.tasks(copyConfig).code)
}

// TestTasksOfAProgram takes from a program file what no flag says.
func TestTasksOfAProgram(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": `{"kind": "fileExists", "path": "docs/rules.txt"}`})
	w.write("docs/rules.txt", "of the candidate\n")
	w.write("p.md", `---
evaluation: tasks
tasks: suite
agent: command
agent-command: echo nothing
evaluation-runs: 1
judge: "off"
min-composite-gain: 2
---
## Goal
Better rules.
## Target
- `+"`docs/`"+`
`)
	a := w.binary("iterate", "eval", "suite", "--against", "HEAD", "--settings", "p.md")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "neutral: net composite gain +1 over 1 task, which does not exceed 2")
	a = w.binary("iterate", "eval", "suite", "--against", "HEAD", "--settings", "p.md", "--agent-command",
		"rm -f docs/rules.txt")
	assert.Contains(t, a.stdout, "neutral: net composite gain 0", "a flag wins")

	w.write("p.md", "---\nevaluation: skill\nskill: s\n---\n")
	a = w.binary("iterate", "eval", "suite", "--settings", "p.md")
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "its evaluation is `skill`")
}

func TestTasksValidate(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter, "two": hasFile})
	a := w.binary("iterate", "validate", "suite")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "2 tasks: ok")

	w.write("suite/two/task.json",
		"{\"id\": \"one\",\n\"title\": \"t\", \"fixtureDir\": \"none\", \"prompt\": \"p\", \"checks\": [{\"kind\": "+
			"\"guess\"}]}")
	a = w.binary("iterate", "validate", "suite", "--json")
	assert.Equal(t, 1, a.code)
	var found struct {
		OK     bool
		Errors []string
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &found))
	assert.False(t, found.OK)
	require.Len(t, found.Errors, 3, "all of them at once")
	assert.Contains(t, found.Errors[0], "two/task.json:2: fixtureDir: ")
}

// TestTasksReport reads what a job would keep and show.
func TestTasksReport(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter +
		`, {"kind": "command", "cmd": "echo 'two | failed' >&2; exit 4"}`})
	summary := filepath.Join(w.side, "summary.md")
	w.env = append(w.env, "GITHUB_STEP_SUMMARY="+summary)
	a := w.tasks(copyConfig, "--out", "out")
	require.Zero(t, a.code, a.stderr)

	markdown := w.read("out/report.md")
	assert.Contains(t, a.stdout, "improved: ")
	assert.Contains(t, w.read("out/report.html"), "<html")
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	assert.Equal(t, markdown+"\n", string(text))
	assert.Contains(t, markdown,
		`exit code 4: two \| failed; [transcript](runs/candidate/one/1/transcript.txt); `+
			`[diff](runs/candidate/one/1/changes.diff)`)
	assert.Equal(t, "copied\n", w.read("out/runs/candidate/one/1/transcript.txt"))
	assert.Contains(t, w.read("out/runs/baseline/one/1/changes.diff"), "+before")

	var report struct {
		Verdict   string
		Agent     string
		Repeats   int
		Candidate struct {
			Scores []struct {
				TaskID string
				Checks []struct{ Detail string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(w.read("out/report.json")), &report))
	assert.Equal(t, "improved", report.Verdict)
	assert.Equal(t, "command", report.Agent)
	assert.Equal(t, "exit code 4: two | failed", report.Candidate.Scores[0].Checks[1].Detail)

	gate := w.binary("iterate", "compare", "out/baseline.json", "out/candidate.json", "--json")
	require.Zero(t, gate.code, gate.stderr)
	assert.Contains(t, gate.stdout, `"verdict": "improved"`, "the outcomes are what `iterate compare` reads")

	assert.Equal(t, 1, w.tasks(copyConfig, "--out", "suite").code, "a directory with other files is left alone")
	assert.Zero(t, w.tasks(copyConfig, "--out", "out").code, "an earlier report is replaced")
}

// TestTasksJudgedByCommandLine puts a program called claude into PATH.
func TestTasksJudgedByCommandLine(t *testing.T) {
	long.Only(t, long.Suites)
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasFile})
	w.write("suite/one/task.json",
		`{"id": "one", "title": "t", "fixtureDir": "fixture", "prompt": "p", "judgeRubric": {"criteria": "is it `+
			`after?"}}`)
	bin := filepath.Join(w.side, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(`#!/bin/sh
if grep -q '^+after'; then score=0.9; else score=0.4; fi
printf '{"result": "{\\"score\\": %s, \\"rationale\\": \\"seen\\"}", "total_cost_usd": 0.01, "modelUsage": {"m": {}}}\n' $score
`), 0o755))
	w.finds(bin)
	args := w.taskArgs(copyConfig, "--json", "--judge", "auto")
	a := w.binary("iterate", args...)
	require.Zero(t, a.code, a.stderr)
	var report struct {
		Verdict, Judge string
		Promotable     bool
		Repeats        int
		Delta          []struct{ JudgeDelta float64 } `json:"perTaskDeltas"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &report))
	assert.Equal(t, "claude", report.Judge)
	assert.Equal(t, 5, report.Repeats, "a judge is a model: five runs")
	assert.Equal(t, "improved", report.Verdict, a.stdout)
	assert.True(t, report.Promotable)
	assert.InDelta(t, 0.5, report.Delta[0].JudgeDelta, 1e-9)

	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho no\n"), 0o755))
	a = w.binary("iterate", append(args, "--fresh")...)
	require.Zero(t, a.code, "a judge never breaks a run: %s", a.stderr)
	assert.Contains(t, a.stderr, "the judge did not answer three times in a row")
	assert.Contains(t, a.stdout, `"verdict": "neutral"`)
}

func TestAgentConfigExample(t *testing.T) {
	long.Only(t, long.Examples)
	t.Parallel()
	w := exampleWorld(t, "agent-config")
	example := filepath.Join(w.dir, "programs", "agent-config")
	args := []string{
		"eval", filepath.Join(example, "tasks"), "--agent-command",
		"sh " + filepath.Join(example, "agent.sh"), "--judge", "off",
	}
	before, after := filepath.Join(example, "before"), filepath.Join(example, "after")
	a := w.binary("iterate", append(args, "--against", before, "--candidate", after)...)
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "improved: net composite gain +1.03 over 3 tasks, no hard regression")
	assert.Contains(t, a.stdout, "15 of 15 checks passed")
	assert.Equal(t, 1, w.binary("iterate", append(args, "--against", after, "--candidate", before)...).code)
	same := w.binary("iterate", append(args, "--against", after, "--candidate", after)...)
	require.Zero(t, same.code, same.stderr)
	assert.Contains(t, same.stdout, "neutral: net composite gain 0 over 3 tasks")
}

func TestTasksOfAgentsWithOtherNames(t *testing.T) {
	t.Parallel()
	w := tasksWorld(t, map[string]string{"one": hasAfter, "two": hasFile})
	w.write("suite/two/task.json", strings.Replace(w.read("suite/two/task.json"), "{", `{"agent": "claude-code", `, 1))
	a := w.binary("iterate", "validate", "suite")
	require.Zero(t, a.code, a.stdout+a.stderr)
	a = w.tasks(copyConfig, "--agent", "command")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "two/task.json names agent claude-code; command works on it, as this run says")
	w.write("suite/one/task.json", strings.Replace(w.read("suite/one/task.json"), "{", `{"agent": "nobody", `, 1))
	a = w.binary("iterate", "validate", "suite")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stdout, `one/task.json: agent: no agent is called "nobody"`)
}
