package skill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
)

// executor works on cases in this process: it puts what it is given into outputs/,
// and takes the skill up when that says so.
type executor struct {
	name  string
	fails *agent.Failure
	bad   error

	mu    sync.Mutex
	asked []string // the prompts' first lines
}

func (e *executor) Name() string { return e.name }

func (e *executor) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	prompt, _, _ := strings.Cut(r.Prompt, "\n")
	e.mu.Lock()
	e.asked = append(e.asked, prompt)
	e.mu.Unlock()
	var at string
	for _, entry := range r.Env {
		if dir, is := strings.CutPrefix(entry, "AUTOLOOP_SKILL="); is {
			at = dir
		}
	}
	text, err := os.ReadFile(filepath.Join(at, "SKILL.md"))
	if err != nil {
		return agent.Reply{}, err
	}
	printed := "done"
	if strings.Contains(string(text), "take up "+prompt) {
		printed = "read skills/s/SKILL.md"
	}
	mode := ""
	if info, err := os.Stat(filepath.Join(at, "SKILL.md")); err == nil {
		mode = fmt.Sprintf("%04o", info.Mode().Perm())
	}
	for name, data := range map[string][]byte{
		"skill": text, "mode": []byte(mode),
		"answer.txt": []byte(strings.TrimPrefix(prompt, "What is ")),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(r.Dir, "outputs", name), data, 0o600))
	}
	if given, read := os.ReadFile(filepath.Join(r.Dir, "in.txt")); read == nil {
		err = errors.Join(err, os.WriteFile(filepath.Join(r.Dir, "outputs", "given"), given, 0o600))
	}
	return agent.Reply{Failure: e.fails}, errors.Join(err, e.bad, os.WriteFile(r.Transcript, []byte(printed), 0o600))
}

// measuring is a skill with all kinds of suites, its workspace, and an executor.
type measuring struct {
	skill.SuiteEvals

	base, dir string
	executor  *executor
	said      *[]string
}

func newMeasuring(t *testing.T) measuring {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, files.RemoveAll(base)) }) // versions are read-only
	m := measuring{base: base, dir: filepath.Join(base, "s"), executor: &executor{name: "fake"}, said: &[]string{}}
	for name, text := range map[string]string{
		"SKILL.md": front + "take up say it", "in.txt": "of v0",
		"evals/evals.json": `[{"id": "text", "prompt": "one", "deterministic_checks": [{"type": "file_contains", "file": "skill", "text": "better"}, {"type": "file_contains", "file": "mode", "text": "0640"}]},
			{"id": "input", "prompt": "two", "files": ["in.txt"],
			"deterministic_checks": [{"type": "file_contains", "file": "given", "text": "of v0"}]}]`,
		"evals/trigger-eval.json": `[{"query": "say it", "should_trigger": true}, {"query": "say more", ` +
			`"should_trigger": true}, {"query": "what time is it", "should_trigger": false}]`,
		"evals/evaluation.xml": `<evaluation><qa_pair><question>What is ` +
			`7</question><answer>7</answer></qa_pair><qa_pair><question>What is ` +
			`it</question><answer>that</answer></qa_pair></evaluation>`,
	} {
		putFile(t, filepath.Join(m.dir, name), text)
	}
	require.NoError(t, os.Chmod(filepath.Join(m.dir, "SKILL.md"), 0o640)) //nolint:gosec // a mode to be seen
	m.Workspace, err = workspace.Create(t.Context(), workspace.Beside(m.dir), m.dir)
	require.NoError(t, err)
	m.Suited, err = evalrun.Load(m.Workspace.Version(0), ".", "")
	require.NoError(t, err)
	m.Dir = filepath.Join(base, "unpacked")
	require.NoError(t, os.Mkdir(m.Dir, 0o755))
	m.Begin = func(line string) { *m.said = append(*m.said, line) }
	m.Tell = func(string) {}
	m.Options = evalrun.Options{
		Agent: m.executor,
		Runner: work.Runner{
			Jobs: 1, RunDir: filepath.Join(base, "run"), Now: func() time.Time { return time.Unix(1e9, 0) },
			Sandboxes: &sandbox.Maker{
				Remove:  files.RemoveAll,
				Environ: func(home string, _ []string) ([]string, error) { return nil, os.MkdirAll(home, 0o700) },
			},
		},
	}
	return m
}

// candidate is a directory of the skill with those files besides.
func (m measuring) candidate(t *testing.T, more map[string]string) string {
	t.Helper()
	dir := filepath.Join(m.base, "candidate")
	_, err := workspace.Restore(t.Context(), m.Workspace.Version(0), dir)
	require.NoError(t, err)
	for name, text := range more {
		file := filepath.Join(dir, name)
		if target, is := strings.CutPrefix(text, "-> "); is {
			require.NoError(t, os.Symlink(target, file))
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

// TestVersionsAreMeasuredAlike: whatever a candidate makes of the inputs, and however
// a version is kept, its cases are those of v0.
func TestVersionsAreMeasuredAlike(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more  map[string]string // nil for v0 itself
		rate  string
		fault string
		lost  string
	}{
		"the original":     {nil, "3/4", "", "text"},
		"as the original":  {map[string]string{}, "3/4", "", "text"},
		"a better text":    {map[string]string{"SKILL.md": front + "better"}, "1", "", ""},
		"another input":    {map[string]string{"in.txt": "of mine"}, "3/4", "", "text"},
		"a link out of it": {map[string]string{"notes": "-> /etc/passwd"}, "", `"notes"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeasuring(t)
			dir := m.Workspace.Version(0)
			if c.more != nil {
				dir = m.candidate(t, c.more)
			}
			out := filepath.Join(m.Workspace.Iteration(3), "run-2")
			require.NoError(t, os.MkdirAll(out, 0o755))
			found, err := m.Measure(t.Context(), "iteration 3, run 2", dir, out)
			require.NoError(t, err)
			assert.Equal(t, "iteration 3, run 2: the cases run", (*m.said)[0])
			if c.fault != "" {
				assert.Contains(t, found.Fault, c.fault)
				assert.LessOrEqual(t, len([]rune(found.Fault)), 100)
				assert.Nil(t, found.Rate)
				assert.Empty(t, m.executor.asked, "nobody works for what cannot be placed")
				return
			}
			assert.Equal(t, c.rate, found.Rate.RatString(), found.Failures)
			assert.False(t, found.Graded, "there are checks alone")
			if c.lost != "" {
				assert.Contains(t, found.Failures, "case "+c.lost)
			}
			again, err := m.Read(out)
			require.NoError(t, err)
			assert.Equal(t, compact(t, found), compact(t, again), "what is left says the same")
			twice, err := m.Read(out, out)
			require.NoError(t, err)
			assert.Len(t, twice.Runs, 2)
			assert.Equal(t, evals.RateValue(found.Rate).String(), evals.RateValue(twice.Rate).String())
		})
	}
}

// TestTriggersRunOnceForTheOriginalAndTheBest and for no other version, nor again.
func TestTriggersRunOnceForTheOriginalAndTheBest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		best  int
		asked int
		said  []string
	}{
		"the original is the best": {"fake", 0, 3, []string{"trigger queries of v0: the cases run"}},
		"another is": {
			"fake", 1, 6,
			[]string{"trigger queries of v0: the cases run", "trigger queries of v1: the cases run"},
		},
		"who does not choose": {"models", 1, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeasuring(t)
			m.executor.name, m.Workspace.Best = c.agent, c.best
			_, err := workspace.Take(t.Context(),
				m.candidate(t, map[string]string{"SKILL.md": front + "take up say it, take up say more"}),
				m.Workspace.Version(1))
			require.NoError(t, err)
			putFile(t, filepath.Join(m.Workspace.Dir, "triggers", ".fresh", "eval-trigger-9", "left"),
				"of a run that was killed")
			require.NoError(t, m.Triggers(t.Context()))
			require.NoError(t, m.Triggers(t.Context()), "what was run is not run again")
			assert.Len(t, m.executor.asked, c.asked)
			assert.Equal(t, c.said, append([]string(nil), *m.said...))
			for version, rate := range map[int]string{0: "2/3", 1: "1"} {
				place := filepath.Join(m.Workspace.Dir, "triggers", filepath.Base(m.Workspace.Iteration(version)))
				if version > c.best || c.asked == 0 {
					assert.NoDirExists(t, place)
					continue
				}
				result, err := evalrun.Read(m.Suited.TriggerSuite(), place)
				require.NoError(t, err)
				assert.Equal(t, rate, result.Rate.RatString(), "v%d", version)
				assert.NoDirExists(t, filepath.Join(place, "eval-trigger-9"))
			}
		})
	}
	m := newMeasuring(t)
	m.executor.bad = errors.New("the machine is on fire")
	require.ErrorContains(t, m.Triggers(t.Context()), "trigger queries of v0: case trigger-1:")
	assert.NoDirExists(t, filepath.Join(m.Workspace.Dir, "triggers", "iteration-0"), "it is there when all of it is")
	m.Suited.Triggers = nil
	require.NoError(t, m.Triggers(t.Context()), "there is nothing to run")
}

// TestEvaluated: each suite of a skill has its own figure.
func TestEvaluated(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
	suited, err := evalrun.Load(m.dir, ".", "")
	require.NoError(t, err)
	o := m.Options
	whole, err := skill.Evaluate(t.Context(), suited, t.TempDir(), o)
	require.NoError(t, err)
	assert.Equal(t, []string{"0.75", "0.666666666667", "0.5"},
		[]string{whole.Score.String(), whole.Triggers.Score.String(), whole.Answers.Score.String()})
	assert.Equal(t, []string{`file_contains skill "better": does not contain "better"`}, whole.Cases[0].Failed)
	assert.Empty(t, whole.Notes)
	m.executor.name = "models"
	found, err := skill.Evaluate(t.Context(), suited, t.TempDir(), o)
	require.NoError(t, err)
	assert.Nil(t, found.Triggers)
	assert.NotNil(t, found.Answers)
	assert.Equal(t, []string{"the trigger queries were not run: agent models is shown every file, and does not " +
		"choose which skills it takes up"}, found.Notes)
}

// compact takes the blanks out of what gradings keep as it is written.
func compact(t *testing.T, m skill.Measured) skill.Measured {
	t.Helper()
	for _, cases := range m.Runs {
		for _, c := range cases {
			for i := range c.Gradings {
				for _, raw := range []*json.RawMessage{&c.Gradings[i].Metrics, &c.Gradings[i].Timing} {
					var out bytes.Buffer
					require.NoError(t, json.Compact(&out, *raw))
					*raw = out.Bytes()
				}
			}
		}
	}
	return m
}
