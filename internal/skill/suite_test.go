package skill

import (
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
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/tests/testbox"
	"github.com/org/autoloop/tests/testdir"
)

// executor works on cases in this process: it puts what it is given into outputs/,
// and takes the skill up when that says so.
type executor struct {
	name string
	bad  error

	mu    sync.Mutex
	asked []string // the prompts' first lines
}

func (e *executor) Name() string { return e.name }

func (e *executor) Propose(_ context.Context, r agent.Request) (agent.Reply, error) {
	prompt, _, _ := strings.Cut(r.Prompt, "\n")
	e.mu.Lock()
	e.asked = append(e.asked, prompt)
	e.mu.Unlock()
	_, at, _ := strings.Cut(strings.Join(r.Env, "\n")+"\n", "AUTOLOOP_SKILL=")
	at, _, _ = strings.Cut(at, "\n")
	text, err := os.ReadFile(filepath.Join(at, "SKILL.md"))
	if err != nil {
		return agent.Reply{}, err
	}
	info, err := os.Stat(filepath.Join(at, "SKILL.md"))
	if err != nil {
		return agent.Reply{}, err
	}
	printed := "done"
	if strings.Contains(string(text), "take up "+prompt) {
		printed = "read skills/s/SKILL.md"
	}
	given, _ := os.ReadFile(filepath.Join(r.Dir, "in.txt")) // a case that has no such file
	for name, data := range map[string]string{
		"skill": string(text), "mode": info.Mode().String(), "given": string(given),
		"answer.txt": strings.TrimPrefix(prompt, "What is "),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(r.Dir, "outputs", name), []byte(data), 0o600))
	}
	return agent.Reply{}, errors.Join(err, e.bad, os.WriteFile(r.Transcript, []byte(printed), 0o600))
}

// measuring is a skill with all kinds of suites, its workspace, and an executor.
type measuring struct {
	Loop

	executor *executor
	said     *[]string
}

func newMeasuring(t *testing.T) measuring {
	t.Helper()
	m := measuring{executor: &executor{name: "fake"}, said: &[]string{}}
	m.Workspace = newSkill(t, "", paths{
		"SKILL.md": "-rw-r----- " + front + "take up say it", "in.txt": "of v0",
		"evals/evals.json": `[{"id": "text", "prompt": "one", "deterministic_checks": [
			{"type": "file_contains", "file": "skill", "text": "better"},
			{"type": "file_contains", "file": "mode", "text": "-rw-r-----"}]},
			{"id": "input", "prompt": "two", "files": ["in.txt"],
			"deterministic_checks": [{"type": "file_contains", "file": "given", "text": "of v0"}]}]`,
		"evals/trigger-eval.json": `[{"query": "say it", "should_trigger": true}, {"query": "say more", ` +
			`"should_trigger": true}, {"query": "what time is it", "should_trigger": false}]`,
		"evals/evaluation.xml": `<evaluation><qa_pair><question>What is 7</question><answer>7</answer></qa_pair>` +
			`<qa_pair><question>What is it</question><answer>that</answer></qa_pair></evaluation>`,
	})
	var err error
	m.Suite, err = evalrun.Load(m.Version(0), ".", "")
	require.NoError(t, err)
	m.Dir = testdir.New(t, nil)
	m.Begin = func(line string) { *m.said = append(*m.said, line) }
	m.Tell, m.Evaluate = func(string) {}, evalrun.Run
	m.Options = evalrun.Options{
		Agent: m.executor,
		Runner: evalrun.Runner{
			Jobs: 1, RunDir: filepath.Join(m.Dir, "run"), Now: func() time.Time { return time.Unix(1e9, 0) },
			Sandboxes: testbox.Maker(),
		},
	}
	return m
}

// candidate is a directory of the skill with those files besides.
func (m measuring) candidate(t *testing.T, more paths) string {
	t.Helper()
	dir := m.Candidate()
	_, err := Restore(t.Context(), m.Version(0), dir)
	require.NoError(t, err)
	testdir.Put(t, dir, more)
	return dir
}

// TestVersionsAreMeasuredAlike: whatever a candidate makes of the inputs, and however
// a version is kept, its cases are those of v0.
func TestVersionsAreMeasuredAlike(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more  paths // nil for v0 itself
		rate  string
		fault string
		lost  string
	}{
		"the original":     {nil, "3/4", "", "text"},
		"as the original":  {paths{}, "3/4", "", "text"},
		"a better text":    {paths{"SKILL.md": "-rw-r----- " + front + "better"}, "1", "", ""},
		"another input":    {paths{"in.txt": "of mine"}, "3/4", "", "text"},
		"a link out of it": {paths{"notes": "-> /etc/passwd"}, "", `"notes"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeasuring(t)
			dir := m.Version(0)
			if c.more != nil {
				dir = m.candidate(t, c.more)
			}
			out := testdir.New(t, nil)
			found, err := m.measure(t.Context(), "iteration 3, run 2", dir, out)
			assert.Equal(t, "iteration 3, run 2: the cases run", (*m.said)[0])
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				require.ErrorAs(t, err, new(fault))
				assert.LessOrEqual(t, len([]rune(err.Error())), 100)
				assert.Empty(t, found.Cases)
				assert.Empty(t, m.executor.asked, "nobody works for what cannot be placed")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.rate, found.Rate.Rat().RatString())
			assert.False(t, m.Suite.Graded(), "there are checks alone")
			failures := evalrun.Failures(found, 1000)
			assert.Equal(t, c.lost != "", strings.Contains(failures, "case "+c.lost+":"))
			again, err := evalrun.ReadAll(m.Suite, out)
			require.NoError(t, err)
			assert.Equal(t, asJSON(t, found.Cases), asJSON(t, again.Cases), "what is left says the same")
			twice, err := evalrun.ReadAll(m.Suite, out, out)
			require.NoError(t, err)
			assert.Len(t, twice.Runs, 2)
			assert.Equal(t, found.Rate.String(), twice.Rate.String())
		})
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// TestTriggersRunOnceForTheOriginalAndTheBest and for no other version, nor again.
func TestTriggersRunOnceForTheOriginalAndTheBest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent string
		best  int
		rates []string // of the versions for which they ran
	}{
		"the original is the best": {"fake", 0, []string{"0.666666666667"}},
		"another is":               {"fake", 1, []string{"0.666666666667", "1"}},
		"who does not choose":      {"models", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeasuring(t)
			m.executor.name, m.Best = c.agent, c.best
			_, err := TakeSnapshot(t.Context(),
				m.candidate(t, paths{"SKILL.md": front + "take up say it, take up say more"}), m.Version(1))
			require.NoError(t, err)
			testdir.Put(t, m.Dir, paths{"triggers/.fresh/eval-trigger-9/left": "of a run that was killed"})
			require.NoError(t, m.Triggers(t.Context()))
			require.NoError(t, m.Triggers(t.Context()), "what was run is not run again")
			assert.Len(t, m.executor.asked, 3*len(c.rates))
			assert.Len(t, *m.said, len(c.rates))
			for version := range 2 {
				place := triggersOf(m.Workspace, version)
				if version >= len(c.rates) {
					assert.NoDirExists(t, place)
					continue
				}
				assert.Equal(t, fmt.Sprintf("trigger queries of v%d: the cases run", version), (*m.said)[version])
				result, err := evalrun.ReadAll(m.Suite.TriggerSuite(), place)
				require.NoError(t, err)
				assert.Equal(t, c.rates[version], result.Rate.String(), "v%d", version)
				assert.NoDirExists(t, filepath.Join(place, "eval-trigger-9"))
			}
		})
	}
	m := newMeasuring(t)
	m.executor.bad = errors.New("the machine is on fire")
	require.ErrorContains(t, m.Triggers(t.Context()), "trigger queries of v0: case trigger-1:")
	assert.NoDirExists(t, triggersOf(m.Workspace, 0), "it is there when all of it is")
	m.Suite.Triggers = nil
	require.NoError(t, m.Triggers(t.Context()), "there is nothing to run")
}

// TestEvaluated: each suite of a skill has its own figure.
func TestEvaluated(t *testing.T) {
	t.Parallel()
	m := newMeasuring(t)
	suited, err := evalrun.Load(m.Skill, ".", "")
	require.NoError(t, err)
	whole, err := Evaluate(t.Context(), suited, t.TempDir(), m.Options)
	require.NoError(t, err)
	assert.Equal(t, []string{"0.75", "0.666666666667", "0.5"},
		[]string{whole.Score.String(), whole.Triggers.Score.String(), whole.Answers.Score.String()})
	assert.Equal(t, []string{`file_contains skill "better": does not contain "better"`}, whole.Cases[0].Failed)
	assert.Empty(t, whole.Notes)
	m.executor.name = "models"
	found, err := Evaluate(t.Context(), suited, t.TempDir(), m.Options)
	require.NoError(t, err)
	assert.Nil(t, found.Triggers)
	assert.NotNil(t, found.Answers)
	require.Len(t, found.Notes, 1)
	assert.Contains(t, found.Notes[0], "agent models is shown every file")
}
