package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/github/githubtest"

	"github.com/org/autoloop/tests/long"
)

// freezes is a variable with a new directory, in which TestFreeze leaves what the
// present version writes.
const freezes = "AUTOLOOP_COMPAT_FREEZE"

// TestFreeze makes a directory of testdata/compat. It never touches one that is
// there: an older version's files are what that version wrote.
func TestFreeze(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(freezes)
	if dir == "" { // then it is only seen to work
		long.Only(t, long.Simulations)
		dir = filepath.Join(t.TempDir(), "frozen")
	}
	require.True(t, filepath.IsAbs(dir), "%s: give an absolute path", freezes)
	require.NoError(t, os.Mkdir(dir, 0o755), "%s names a new directory", freezes)
	for name, freeze := range map[string]func(t *testing.T, dir string){
		"file": freezeFileProgram, "issue": freezeIssueProgram, "jobs": freezeBundle, "fix": freezeFixBundle,
		"skill": freezeSkill, "tasks": freezeTasks, "judged": freezeJudged, "kinds": freezeKinds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := filepath.Join(dir, name)
			require.NoError(t, os.Mkdir(place, 0o755))
			freeze(t, place)
		})
	}
	if collected := os.Getenv(collects); collected != "" {
		t.Run("events", freezeRareEvents)
		freezeLedger(t, collected, filepath.Join(dir, "ledger.jsonl"))
	}
}

func freezeText(t *testing.T, text string, parts ...string) {
	t.Helper()
	file := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// freezeHistory writes all branches of a repository.
func (w *world) freezeHistory(repository, file string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", "fast-export", "--all", "--use-done-feature", "--show-original-ids")
	cmd.Dir, cmd.Env = repository, w.env
	out, err := cmd.Output()
	require.NoError(w.t, err)
	assert.NotContains(w.t, string(out), filepath.Dir(w.dir), "a path of this machine")
	freezeText(w.t, string(out), file)
	w.run("", "cp", filepath.Join(w.side, "values"), filepath.Join(filepath.Dir(file), "values"))
}

// freezePlan writes what the scheduler decides at a fixed time.
func (w *world) freezePlan(dir string) {
	w.t.Helper()
	freezeText(w.t, strings.ReplaceAll(w.planned(), filepath.Dir(w.dir), frozenHome), dir, "autoloop.json")
}

// planned is what the scheduler decides at that time.
func (w *world) planned() string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "autoloop.json")
	a := w.binary("scheduler", "--now", "2030-01-01T00:00:00Z", "--out", file)
	require.Zero(w.t, a.code, a.stderr)
	return frozenFile(w.t, file)
}

func (h *hub) freeze(dir string) {
	h.t.Helper()
	h.freezeHistory(h.bare, filepath.Join(dir, "remote.fast-import"))
	text, err := json.MarshalIndent(h.look(), "", "  ")
	require.NoError(h.t, err)
	assert.NotContains(h.t, string(text), "127.0.0.1")
	freezeText(h.t, string(text)+"\n", dir, "github.json")
}

func (h *hub) look() *githubtest.State { return h.site.look() }

// freezeTree writes a directory with its permissions and links.
func freezeTree(t *testing.T, dir, file string, leaveOut ...string) {
	t.Helper()
	var entries []frozenEntry
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if slices.Contains(leaveOut, entry.Name()) {
			return fs.SkipDir
		}
		if strings.HasSuffix(entry.Name(), ".seen.json") {
			return nil // what this machine remembers of its files, which others make anew
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := frozenEntry{Path: filepath.ToSlash(name), Mode: fmt.Sprintf("%04o", info.Mode().Perm())}
		switch {
		case entry.IsDir():
			e.Path += "/"
		case entry.Type() == fs.ModeSymlink:
			e.Link, err = os.Readlink(path)
		default:
			e.Text = frozenFile(t, path)
		}
		entries = append(entries, e)
		return err
	}))
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(entries))
	assert.NotContains(t, text.String(), "/tmp/", "a path of this machine")
	freezeText(t, text.String(), file)
}

// freezeFileProgram: a program with a history of each outcome, notes of people in its
// state, a pause and a resumption, beside one that never ran and one that is paused.
func freezeFileProgram(t *testing.T, dir string) {
	t.Helper()
	w := valuesWorld(t, "metric_direction: lower\nschedule: every 6h\ntarget-metric: 2", "10", "9", "11", "none", "8", "7", "1")
	const refuse = `[ "$(cat value.txt)" != none ] || { echo '{"m": null, "rejected_reason": "there is no number"}'; exit 0; }`
	w.write(".autoloop/programs/p.md", strings.Replace(w.read(".autoloop/programs/p.md"), "printf ", refuse+"\nprintf ", 1))
	w.write(".autoloop/programs/idle.md", strings.Replace(fmt.Sprintf(values, "schedule: daily"), "value.txt", "other.txt", 1))
	w.write(".autoloop/programs/later.md", fmt.Sprintf(values, "schedule: weekly"))
	w.write(".autoloop/programs/rest.md", fmt.Sprintf(values, "schedule: daily"))
	w.write(".autoloop/programs/wrong.md", fmt.Sprintf(values, "schedule: sometimes"))
	w.write(".autoloop/programs/blank.md", "<!-- AUTOLOOP:UNCONFIGURED -->\n"+fmt.Sprintf(values, "schedule: daily"))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "more programs")
	outcomes := []string{w.one().Outcome, w.one().Outcome}
	w.edit("## 🎯 Current Priorities\n\n*(none yet)*", "## 🎯 Current Priorities\n\n- mind the *gap*   \n\n## My own notes\n\nkept \\| as is")
	w.edit("| Paused | false |\n| Pause Reason | — |", "| Paused | true |\n| Pause Reason | until Monday |")
	w.edit("| Paused | true |\n| Pause Reason | until Monday |", "| Paused | false |\n| Pause Reason | — |")
	outcomes = append(outcomes, w.one().Outcome, w.one().Outcome)
	require.Equal(t, []string{"accepted", "rejected", "rejected", "accepted"}, outcomes)
	w.pausedTwin("rest")
	w.freezeHistory(w.dir, filepath.Join(dir, "repo.fast-import"))
	w.freezePlan(dir)
}

// pausedTwin gives another program the state of p, paused.
func (w *world) pausedTwin(name string) {
	w.t.Helper()
	state := strings.Replace(w.memory("p.md"), "Autoloop: p", "Autoloop: "+name, 1)
	state = strings.Replace(state, "| Paused | false |\n| Pause Reason | — |", "| Paused | true |\n| Pause Reason | until Monday |", 1)
	require.Contains(w.t, state, "until Monday")
	dir := filepath.Join(w.t.TempDir(), "memory")
	w.git("worktree", "add", "--quiet", dir, "memory/autoloop")
	freezeText(w.t, state, dir, name+".md")
	w.run(dir, "git", "add", "--all")
	w.run(dir, "git", "commit", "--quiet", "--message", "a program that rests")
	w.git("worktree", "remove", dir)
}

// freezeIssueProgram: a program on an issue with an accepted iteration, and one
// that waits for CI.
func freezeIssueProgram(t *testing.T, dir string) {
	t.Helper()
	h := pendingHub(t)
	h.freeze(dir)
	h.freezePlan(dir)
}

// pendingHub is a hub whose program has an accepted iteration and one that waits
// for CI.
func pendingHub(t *testing.T) *hub {
	t.Helper()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7", "6")
	front := "ci-gate: required\nci-wait: 1s\nci-timeout: 720h\nmetric: m"
	h.program(strings.Replace(onIssue, "metric: m", front, 1))
	require.Equal(t, "pending-ci", h.one().Outcome)
	h.report("success")
	require.Equal(t, "accepted", h.one().Outcome)
	h.say("alice", "Smaller steps, please.")
	h.site.open("mallory", "Evil", onIssue, "autoloop-program")
	second := h.one()
	require.Equal(t, "pending-ci", second.Outcome)
	require.Equal(t, 2, second.Iteration)
	return h
}

// freezeBundle: two iterations, and a third that is proposed and not published.
func freezeBundle(t *testing.T, dir string) {
	t.Helper()
	w := valuesWorld(t, "metric_direction: higher\nschedule: every 6h", "1", "3", "2", "5", "6")
	w.one()
	w.one()
	bundle, proposed := w.propose("bundle")
	require.Equal(t, "accepted", proposed.Outcome)
	w.freezeHistory(w.dir, filepath.Join(dir, "repo.fast-import"))
	w.run("", "cp", "-r", bundle, filepath.Join(dir, "bundle"))
}

// freezeFixBundle: a fix of what CI found, proposed and not published.
func freezeFixBundle(t *testing.T, dir string) {
	t.Helper()
	h := pendingHub(t)
	j := h.inTwoJobs()
	h.report("failure", "x_test.go:12: expected 3, got 4")
	h.try("9", "7.5")
	bundle, proposed := j.propose()
	require.NotEmpty(t, bundle)
	require.Equal(t, 2, proposed.Iteration)
	h.freeze(dir)
	h.run("", "cp", "-r", bundle, filepath.Join(dir, "bundle"))
}

// The improver and the executor of the skill. The executor of the third iteration
// waits at a pipe, so that it can be killed there.
const (
	frozenImprover = `case $AUTOLOOP_ITERATION in 1) echo beta >> SKILL.md; ln -s SKILL.md AGENTS.md;; 2) echo nothing >> SKILL.md;; 3) echo gamma >> SKILL.md; test -e "$SIDE/restored" || mkfifo "$SIDE/gate";; 4) echo delta >> SKILL.md;; esac
echo "step $AUTOLOOP_ITERATION"
`
	frozenExecutor = `cp "$AUTOLOOP_SKILL/SKILL.md" outputs/out.md; if [ -p "$SIDE/gate" ]; then touch "$SIDE/waiting"; cat "$SIDE/gate"; fi`
)

// freezeSkill: a workspace with a version that was kept, one that was reverted,
// and an iteration that was killed while it was measured.
func freezeSkill(t *testing.T, dir string) {
	t.Helper()
	w := skillWorld(t, "", frozenImprover)
	a := w.skill("-n", "2", "--runs", "auto", "--executor-command", frozenExecutor)
	require.Zero(t, a.code, a.stderr)
	cmd := w.command("iterate", "skill", "s", "--judge", "off", "--env", "SIDE", "--agent-command", `sh "$SIDE/improve"`,
		"--executor-command", frozenExecutor, "--runs", "auto", "-n", "1")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(w.side, "waiting"))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	freezeTree(t, w.dir, filepath.Join(dir, "tree.json"), ".git", ".autoloop")
}

// freezeTasks: the finished runs of a suite of tasks, their report and outcomes.
func freezeTasks(t *testing.T, dir string) {
	t.Helper()
	w := tasksWorld(t, map[string]string{"one": hasAfter, "two": hasFile})
	w.freezeStart(dir)
	a := w.tasks(copyConfig, "--cache", filepath.Join(w.side, "cache"), "--report", "out", "--runs", "2")
	require.Zero(t, a.code, a.stderr)
	w.freezeReport(dir)
	freezeTree(t, filepath.Join(w.side, "cache"), filepath.Join(dir, "cache.json"))
}

func (w *world) freezeReport(dir string) {
	w.t.Helper()
	for _, name := range []string{"report.json", "baseline.json", "candidate.json"} {
		freezeText(w.t, strings.ReplaceAll(w.read("out/"+name), filepath.Dir(w.dir), frozenHome), dir, name)
	}
	a := w.binary("iterate", "compare", "out/baseline.json", "out/candidate.json", "--json")
	require.Zero(w.t, a.code, a.stderr)
	freezeText(w.t, a.stdout, dir, "comparison.json")
}

// freezeJudged: the outcomes of tasks on which a model works and which another one
// judges, with what both used.
func freezeJudged(t *testing.T, dir string) {
	t.Helper()
	worker := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		word := "before"
		if r.Has("after") {
			word = "after"
		}
		answer := modeltest.Text("PLAN: as I was told\nFILE: file.txt\n<<<<<<< SEARCH\nfixture\n=======\n" + word + "\n>>>>>>> REPLACE\n")
		answer.Usage = modeltest.Tokens{Input: 700, Output: 30}
		return answer
	})
	judge := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		if r.Has("+after") {
			return modeltest.Text(`{"score": 0.9, "rationale": "as it should be"}`)
		}
		return modeltest.Text(`{"score": 0.3, "rationale": "the old word"}`)
	})
	w := tasksWorld(t, map[string]string{"one": hasFile, "two": hasFile})
	w.write("suite/one/task.json", `{"id": "one", "title": "t", "fixtureDir": "fixture", "prompt": "write the word into file.txt",
		"checks": [{"kind": "fileContains", "path": "file.txt", "substring": "after"}], "judgeRubric": {"criteria": "which word is it?", "weight": 0.3}}`)
	w.env = append(w.env, "AUTOLOOP_MODELS_URL="+worker.URL+"/v1", "AUTOLOOP_MODELS_KEY="+theKey, "ANTHROPIC_BASE_URL="+judge.URL, "ANTHROPIC_API_KEY=the-key-of-the-judge")
	a := w.binary("iterate", "tasks", "compare", "--suite", "suite", "--agent", "models", "--model", "claude-sonnet-4-5", "--judge-model", "j-1",
		"--report", "out", "--json", "--cost-tolerance", "1000", "--runs", "1")
	require.Zero(t, a.code, a.stderr)
	w.freezeReport(dir)
}

// freezeStart is freezeHistory for a world whose agent reads no values.
func (w *world) freezeStart(dir string) {
	w.t.Helper()
	w.aside("values", "")
	w.freezeHistory(w.dir, filepath.Join(dir, "repo.fast-import"))
}

// freezeKinds: a program of each kind of evaluation, with one iteration.
func freezeKinds(t *testing.T, dir string) {
	t.Helper()
	const check = `"deterministic_checks": [{"type": "file_contains", "file": "out.md", "text": "`
	w := newWorld(t, map[string]string{
		".autoloop/programs/metric.md": strings.Replace(strings.Replace(fmt.Sprintf(several,
			"guardrails: [{metric: m, direction: higher, max-regression: 50%}]\nmetric-range: [0, 1000]\nsetup: test -e value.txt\nagent: command"),
			`sh "$SIDE/propose" "$AUTOLOOP_ITERATION" "$AUTOLOOP_PROPOSAL"`, `echo $((10 + AUTOLOOP_ITERATION)) > value.txt`, 1), `cat value.txt >> "$SIDE/measured"`, "", 1),
		"value.txt": "1\n",
		".autoloop/programs/skill.md": strings.NewReplacer("%FRONT%", "no-case-regression: true", `sh "$SIDE/improve"`,
			`test $AUTOLOOP_ITERATION = 1 && echo beta >> s/SKILL.md || echo gamma >> s/SKILL.md`).Replace(skillProgram),
		"s/SKILL.md":         "---\nname: s\n---\nalpha\n",
		"s/evals/evals.json": `[{"id": 1, "prompt": "p", ` + check + `alpha"}]}, {"id": 2, "prompt": "p", ` + check + `beta"}]}, {"id": 3, "prompt": "p", ` + check + `gamma"}]}]`,
		".autoloop/programs/tasks.md": "---\nevaluation: tasks\ntasks: suite\nevaluation-runs: 1\njudge: off\ncost-tolerance: 1000\nmin-composite-gain: 0.01\nagent: command\n" +
			"agent-command: echo \"word $AUTOLOOP_ITERATION\" > AGENTS.md\nexecutor-command: cp AGENTS.md file.txt\n---\n## Goal\nBetter words.\n## Target\n`AGENTS.md`\n",
		"AGENTS.md": "before\n", "suite/one/fixture/file.txt": "x\n",
		"suite/one/task.json": `{"id": "one", "title": "t", "fixtureDir": "fixture", "prompt": "p", "checks": [{"kind": "fileContains", "path": "file.txt", "substring": "word"}]}`,
	})
	for _, name := range []string{"metric", "skill", "tasks"} {
		one := w.oneOf(name)
		require.NotNil(t, one.Metric, "%s: %v", name, one.Reasons)
		t.Log(name, one.Outcome, one.Reasons)
	}
	w.freezeStart(dir)
}

// oneOf runs one iteration of a program.
func (w *world) oneOf(program string) iteration {
	w.t.Helper()
	a := w.binary("iterate", "--program", program, "--json")
	require.Zero(w.t, a.code, a.stderr)
	list := w.decode(a.stdout)
	require.Len(w.t, list, 1)
	return list[0]
}

// rare is a program whose candidates are several and noisy, leave notes, and are to
// make a test pass.
const rare = `---
metric: m
guardrails: [{metric: rail, direction: lower, max-regression: 50%}]
min-improvement: 1%
no-case-regression: false
strategy: test-driven
candidates: 2
agent: command
agent-command: |
  echo "- LESSON: The number $(cat value.txt) is few." > .autoloop-notes.md
  echo "FORECLOSED: half of it" >> .autoloop-notes.md
  echo "IDEA: twice as much" >> .autoloop-notes.md
  echo $((1000 * (1 + AUTOLOOP_ITERATION) + AUTOLOOP_PROPOSAL)) > value.txt
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
echo >> "$SIDE/count"
n=$(wc -l < "$SIDE/count")
printf '{"m": %s, "rail": 1, "failing": ["test alpha"]}\n' "$(($(cat value.txt) + n * 7 % 5))"
` + "```" + `
`

// freezeRareEvents leaves ledgers with what few tests have in theirs.
func freezeRareEvents(t *testing.T) {
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": rare, "value.txt": "1000\n"})
	w.iterate("-n", "3")
	h := pendingHub(t)
	h.env = append(h.env, "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=7", "GITHUB_RUN_ATTEMPT=1")
	h.report("failure", "x_test.go:12: expected 3, got 4")
	h.try("9", "11")
	require.Equal(t, "ci-fix-exhausted", h.one().Outcome)
}
