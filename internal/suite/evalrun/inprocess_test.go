package evalrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/work"
)

// worker is an executor in this process; it notes what it was asked for.
type worker struct {
	printed agent.Printed
	work    func(ctx context.Context, r agent.Request) (agent.Reply, error)

	mu    sync.Mutex
	asked []agent.Request
}

func (*worker) Name() string { return "worker" }

func (w *worker) Project() agent.Project {
	return agent.Project{Skills: ".worker/skills", Printed: w.printed}
}

func (w *worker) Propose(ctx context.Context, r agent.Request) (agent.Reply, error) {
	w.mu.Lock()
	w.asked = append(w.asked, r)
	w.mu.Unlock()
	if w.work == nil {
		return agent.Reply{}, nil
	}
	return w.work(ctx, r)
}

// marks is a grader in this process: every expectation passes, with the evidence that it
// says of the case.
type marks func(w judge.Work) (judge.Opinion, error)

func (marks) Name() string { return "marks" }

func (m marks) Grade(_ context.Context, w judge.Work) (judge.Opinion, error) { return m(w) }

// commands is a Runner in this process.
type commands func(ctx context.Context, spec process.Spec) (process.Result, error)

func (c commands) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	return c(ctx, spec)
}

// inProcess are options of a run that starts no process: commands of checks fail.
func (w *fixture) inProcess(executor *worker) evalrun.Options {
	o := w.options("")
	o.Agent, o.Jobs = executor, 1
	o.Sandboxes.Runner = commands(func(context.Context, process.Spec) (process.Result, error) {
		return process.Result{}, errors.New("nothing is started here")
	})
	return o
}

// file writes a file into the sandbox of an executor.
func file(r agent.Request, name, text string) {
	place := filepath.Join(r.Dir, filepath.FromSlash(name))
	if os.MkdirAll(filepath.Dir(place), 0o755) == nil {
		_ = os.WriteFile(place, []byte(text), 0o600) // the check says that it is not there
	}
}

const oneCheck = `[{"id": 1, "prompt": "Say it", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}]`

// TestExecutorsInput: the prompt with where things are, the directory of its own
// skills, and a home and an environment of the case.
func TestExecutorsInput(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": "a", "prompt": "Say it\n\n", "files": ["files/in.txt", "top.md"], `+
		`"deterministic_checks": [{"type": "file_exists", "file": "x"}]}, {"id": "b", "prompt": "Again", `+
		`"deterministic_checks": [{"type": "file_exists", "file": "x"}]}]`)
	w.write("skill/evals/files/in.txt", "in\n")
	w.write("skill/top.md", "top\n")
	executor := &worker{}
	o := w.inProcess(executor)
	o.Model, o.Command, o.Env, o.Timeout = "m", "c", []string{"SEEN"}, 7*time.Second
	o.Sandboxes.Environ = func(home string, names []string) ([]string, error) {
		return append([]string{"HOME=" + home}, names...), nil
	}
	result, err := w.run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, "0", result.Rate.RatString())
	require.Len(t, executor.asked, 2)
	first, second := executor.asked[0], executor.asked[1]
	assert.Equal(t, "Say it\n\n---\nThe skill notes is installed at .worker/skills/notes. Read its SKILL.md first "+
		"and follow it.\nFiles for this task:\n- files/in.txt\n- top.md\n"+
		"Put every file that you produce into outputs/, in the current directory.\n", first.Prompt)
	assert.Equal(t, "Again\n\n---\nThe skill notes is installed at .worker/skills/notes. Read its SKILL.md first and "+
		"follow it.\n"+
		"Put every file that you produce into outputs/, in the current directory.\n", second.Prompt)
	assert.Equal(t, []string{".worker/skills/notes/SKILL.md", ".worker/skills/notes/top.md", "files/in.txt", "top.md"},
		first.Targets)
	assert.Equal(t, []string{".worker/skills/notes/SKILL.md", ".worker/skills/notes/top.md"}, second.Targets,
		"the files of another case are not there")
	for _, r := range executor.asked {
		assert.Equal(t, []string{"m", "c"}, []string{r.Model, r.Command})
		assert.Equal(t, 7*time.Second, r.Timeout)
		assert.Contains(t, r.Env, "HOME="+r.Home)
		assert.Contains(t, r.Env, "SEEN")
		assert.Contains(t, r.Env, "AUTOLOOP_SKILL="+filepath.Join(r.Dir, ".worker/skills/notes"))
		assert.True(t, r.IsTarget("anything"))
		assert.Equal(t, agent.Limit{}, r.Limit)
		assert.NotContains(t, strings.Join(r.Env, " "), "AUTOLOOP_SERVER")
		assert.NoDirExists(t, r.Dir, "its sandbox is removed")
	}
	assert.NotEqual(t, first.Dir, second.Dir)
	assert.NotEqual(t, first.Home, second.Home)
}

// TestCrashedCaseCountsNothing, and has a transcript without a grading; the other cases count. An
// executor that could not work at all ends the run, and nobody works after it.
func TestCrashedCaseCountsNothing(t *testing.T) {
	t.Parallel()
	for kind, says := range map[agent.FailureKind]string{
		agent.Crashed: "", agent.Authentication: "case a: agent worker: authentication: 3; nothing was decided by it",
	} {
		const check = `"prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}`
		w := newFixture(t, `[{"id": "a", `+check+`, {"id": "b", `+check+`]`)
		executor := &worker{}
		executor.work = func(_ context.Context, r agent.Request) (agent.Reply, error) {
			file(r, "outputs/x", "")
			if len(executor.asked) > 1 {
				return agent.Reply{}, nil
			}
			return agent.Reply{Failure: &agent.Failure{Kind: kind, Message: "3"}}, nil
		}
		result, err := w.run(t.Context(), w.inProcess(executor))
		assert.Contains(t, w.read("out/eval-a/transcript.md"), "\n## Failure\n")
		assert.NoFileExists(t, w.at("out/eval-a/grading.json"))
		if says != "" {
			require.ErrorContains(t, err, says)
			assert.Len(t, executor.asked, 1)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "crashed: 3", result.Cases[0].Problem)
		assert.True(t, result.Cases[1].Perfect())
	}
}

// TestSecretsOfTheExecutor are neither kept in what is written down of its work nor shown to
// the grader, also those that only its own login has.
func TestSecretsOfTheExecutor(t *testing.T) {
	t.Parallel()
	const login, ours = "login-of-the-executor-4711", "sk-very-secret-key"
	w := newFixture(t, `[{"id": 1, "prompt": "p", "expectations": ["it is good"], "deterministic_checks": [
		{"type": "json_field_equals", "file": "x.json", "path": "a", "value": 1}, {"type": "shell_command",
			"command": "fail"}, {"type": "shell_command", "command": "fail at length"}]}]`)
	executor := &worker{printed: agent.Markdown}
	executor.work = func(_ context.Context, r agent.Request) (agent.Reply, error) {
		file(r, "outputs/x.json", `{"a": "`+login+" "+ours+`"}`)
		file(r, "outputs/"+login+".txt", login)
		return agent.Reply{Secrets: process.NewMasker(nil, login)},
			os.WriteFile(r.Transcript, []byte("it said "+login+" "+ours), 0o600)
	}
	var shown judge.Work
	o := w.inProcess(executor)
	o.Masker = process.NewMasker(nil, ours)
	o.Sandboxes.Masker = o.Masker
	o.Sandboxes.Runner = commands(func(_ context.Context, spec process.Spec) (process.Result, error) {
		said := login + " " + ours
		if strings.Contains(spec.Args[2], "length") { // what is kept ends within the secret
			said = strings.Repeat("x", 375) + login
		}
		return process.Result{ExitCode: 1, Stderr: []byte(said)}, nil
	})
	o.Grader = marks(func(work judge.Work) (judge.Opinion, error) {
		shown = work
		return judge.Opinion{Expectations: []evals.Graded{{Text: "it is good", Source: evals.ByGrader}}}, nil
	})
	result, err := w.run(t.Context(), o)
	require.NoError(t, err)
	for what, text := range map[string]string{
		"the grading": w.read("out/eval-1/grading.json"), "the transcript": w.read("out/eval-1/transcript.md"),
		"what the grader sees":     shown.Transcript + shown.Outputs,
		"what an improver is told": evalrun.Failures(result, 1<<20),
	} {
		assert.NotContains(t, text, login[:8], what)
		assert.NotContains(t, text, ours, what)
		assert.Contains(t, text, "*** ***", what)
	}
	assert.Contains(t, shown.Outputs, `--- "***.txt"`)
	executor.work = func(context.Context, agent.Request) (agent.Reply, error) {
		return agent.Reply{
			Secrets: process.NewMasker(nil, login),
			Failure: &agent.Failure{Kind: agent.Crashed, Message: "with " + login},
		}, nil
	}
	result, err = w.run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, "crashed: with ***", result.Cases[0].Problem)
}

// TestGradersInput of outputs/: text, as much as there is room for, and of everything
// else that it is there.
func TestGradersInput(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": 1, "prompt": "Say it", "expected_output": "a greeting", "expectations": ["it is good", `+
		`"it is short"]}]`)
	executor := &worker{printed: agent.Events}
	executor.work = func(_ context.Context, r agent.Request) (agent.Reply, error) {
		file(r, "outputs/a.txt", "hello")
		file(r, "outputs/b.bin", "a\x00b")
		file(r, "outputs/c.latin", "caf\xe9")
		file(r, "outputs/d/large.txt", strings.Repeat("ä", 20<<10))
		for i := range 5 {
			file(r, fmt.Sprintf("outputs/e%d.txt", i), strings.Repeat("x", 30<<10))
		}
		_ = os.Symlink("a.txt", filepath.Join(r.Dir, "outputs", "link"))
		return agent.Reply{Duration: 3 * time.Second, Usage: metric.Usage{Turns: new(4)}},
			os.WriteFile(r.Transcript, []byte(`{"type":"said","text":"hi"}`+"\n"), 0o600)
	}
	var shown judge.Work
	o := w.inProcess(executor)
	clock := time.Unix(1e9, 0)
	o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
	o.Grader = marks(func(work judge.Work) (judge.Opinion, error) {
		shown = work
		return judge.Opinion{
			Expectations: []evals.Graded{
				{Text: "it is good", Passed: true, Evidence: "seen", Source: evals.ByGrader},
				{Text: "it is short", Evidence: "long", Source: evals.ByGrader},
			},
			Feedback: json.RawMessage(`{"overall": "well"}`), Tokens: new(int64(7)),
		}, nil
	})
	result, err := w.run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, "1/2", result.Rate.RatString())
	assert.JSONEq(t, `{"overall": "well"}`, string(result.Cases[0].Feedback()))
	assert.Equal(t, int64(7), *result.Expense.Tokens)
	assert.Equal(t, []string{"Say it", "a greeting"}, []string{shown.Prompt, shown.Expected},
		"the prompt of the suite, without what was added")
	assert.Equal(t, []string{"it is good", "it is short"}, shown.Expectations)
	assert.Contains(t, shown.Transcript, "# Transcript of worker\n\n## Prompt\n")
	assert.Contains(t, shown.Transcript, "\n## 1: said\n")
	parts := strings.Split(shown.Outputs, "--- ")
	require.Len(t, parts, 10)
	for i, want := range []string{
		"", "\"a.txt\", 5 bytes\nhello\n", "\"b.bin\", 3 bytes\n(not text)\n",
		"\"c.latin\", 4 bytes\n(not text)\n",
	} {
		assert.Equal(t, want, parts[i])
	}
	assert.Equal(t, "\"d/large.txt\", 40960 bytes\n"+strings.Repeat("ä", 16<<10)+"\n… the rest is left out\n", parts[4])
	for i := 5; i < 9; i++ {
		assert.Equal(t, fmt.Sprintf("\"e%d.txt\", 30720 bytes\n%s\n", i-5, strings.Repeat("x", 30<<10)), parts[i])
	}
	assert.Equal(t, "\"e4.txt\", 30720 bytes\n(not shown)\n1 further paths are links, special files, or too much, "+
		"and are not shown\n", parts[9])

	var kept struct {
		Timing  map[string]float64 `json:"timing"`
		Metrics map[string]any     `json:"execution_metrics"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.read("out/eval-1/grading.json")), &kept))
	assert.Equal(t, map[string]float64{
		"executor_duration_seconds": 3, "grader_duration_seconds": 1,
		"total_duration_seconds": 4,
	}, kept.Timing)
	assert.Equal(t, map[string]any{
		"total_tool_calls": nil, "total_steps": 4.0, "input_tokens": nil, "output_tokens": nil,
		"output_chars": float64(5 + 3 + 4 + 40<<10 + 5*30<<10), "transcript_chars": float64(len(shown.Transcript)),
	}, kept.Metrics, "what is not known is null, not 0")
}

// TestGradersThatFail: without a verdict there is no result, and nothing is made up.
func TestGradersThatFail(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		grades judge.Opinion
		err    error
		silent bool
		says   string
	}{
		"it does not answer": {
			judge.Opinion{Problem: "no key", Tokens: new(int64(5))},
			nil, true,
			"1 cannot be graded: no key; nothing was",
		},
		"the run ends": {judge.Opinion{}, stopped, false, "stopped"},
		"it answers one alone": {judge.Opinion{Expectations: []evals.Graded{{
			Text: "it is good", Passed: true,
			Source: evals.ByGrader,
		}}}, nil, false, ""},
		"it answers others": {judge.Opinion{Expectations: []evals.Graded{{
			Text: "it is nice", Passed: true,
			Source: evals.ByGrader,
		}}}, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, `[{"id": 1, "prompt": "p", "expectations": ["it is good", "it is short"]}]`)
			o := w.inProcess(&worker{})
			o.Grader = marks(func(judge.Work) (judge.Opinion, error) { return c.grades, c.err })
			result, err := w.run(t.Context(), o)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				_, silent := errors.AsType[*work.NoResultError](err)
				assert.Equal(t, c.silent, silent)
				assert.NoFileExists(t, w.at("out/eval-1/grading.json"))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, len(c.grades.Expectations[0].Text) == len("it is good") &&
				c.grades.Expectations[0].Text == "it is good", result.Cases[0].Passed == 1)
			assert.NotEmpty(t, result.Cases[0].Unanswered)
			assert.False(t, result.Cases[0].Perfect())
		})
	}
}

// TestProgressAndTheOrderOfCases: results are in the order of the suite, whoever is done
// first, and each is told once.
func TestProgressAndTheOrderOfCases(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 6 {
		list = append(list, fmt.Sprintf(
			`{"id": "c%d", "prompt": "%d", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}`, i, i))
	}
	w := newFixture(t, "["+strings.Join(list, ",")+"]")
	last := make(chan struct{}) // the first case waits for the end of the third
	executor := &worker{work: func(ctx context.Context, r agent.Request) (agent.Reply, error) {
		switch r.Prompt[0] {
		case '0':
			select {
			case <-last:
			case <-ctx.Done():
			}
		case '2':
			close(last)
		}
		if r.Prompt[0]%2 == 0 {
			file(r, "outputs/x", "")
		}
		return agent.Reply{}, nil
	}}
	o := w.inProcess(executor)
	o.Jobs = 3
	var told []string
	o.Progress = func(done, total int, c evals.CaseScore) {
		told = append(told, c.ID)
		assert.Equal(t, []int{len(told), 6}, []int{done, total})
	}
	result, err := w.run(t.Context(), o)
	require.NoError(t, err)
	var ids []string
	for i, c := range result.Cases {
		ids = append(ids, c.ID)
		assert.Equal(t, i%2 == 0, c.Perfect(), c.ID)
	}
	assert.Equal(t, []string{"c0", "c1", "c2", "c3", "c4", "c5"}, ids)
	assert.ElementsMatch(t, ids, told)
	assert.Equal(t, "1/2", result.Rate.RatString())
}

// TestServerOfSkill runs beside the cases, from a copy of the skill without its suites,
// until they have ended.
func TestServerOfSkill(t *testing.T) {
	t.Parallel()
	serves := func(ctx context.Context, spec process.Spec) (process.Result, error) {
		i := slices.IndexFunc(spec.Env, func(variable string) bool { return strings.HasPrefix(variable, "PORT=") })
		if i < 0 {
			return process.Result{}, nil
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strings.TrimPrefix(spec.Env[i], "PORT="))
		if err != nil {
			return process.Result{ExitCode: 1}, nil //nolint:nilerr // as a server ends
		}
		<-ctx.Done()
		return process.Result{Cancelled: true}, listener.Close()
	}
	t.Run("it serves", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, oneCheck)
		w.write("skill/server.py", "serve")
		executor := &worker{}
		var specs []process.Spec
		var has []string
		o := w.inProcess(executor)
		o.Setup, o.Start = "prepare it", "serve it"
		o.Sandboxes.Runner = commands(func(ctx context.Context, spec process.Spec) (process.Result, error) {
			specs = append(specs, spec)
			entries, err := os.ReadDir(spec.Dir)
			for _, entry := range entries {
				has = append(has, entry.Name())
			}
			if err != nil {
				return process.Result{}, err
			}
			return serves(ctx, spec)
		})
		executor.work = func(ctx context.Context, r agent.Request) (agent.Reply, error) {
			i := slices.IndexFunc(r.Env, func(variable string) bool {
				return strings.HasPrefix(variable, "AUTOLOOP_SERVER=")
			})
			require.GreaterOrEqual(t, i, 0)
			url := strings.TrimPrefix(r.Env[i], "AUTOLOOP_SERVER=")
			assert.Contains(t, r.Prompt, "\nThe server of the skill listens at "+url+".\n")
			connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
			if err == nil {
				file(r, "outputs/x", "it answers")
				_ = connection.Close()
			}
			return agent.Reply{}, nil
		}
		result, err := w.run(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, "1", result.Rate.RatString())
		require.Len(t, specs, 2)
		assert.Equal(t, []string{"prepare it", "serve it"}, []string{specs[0].Args[2], specs[1].Args[2]})
		assert.Equal(t, []string{"SKILL.md", "server.py", "SKILL.md", "server.py"}, has, "without what it is graded by")
		port := strings.TrimPrefix(specs[1].Env[len(specs[1].Env)-1], "PORT=")
		_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
		require.Error(t, err, "it ended with the run")
	})
	for name, c := range map[string]struct {
		ends     process.Result
		err      error
		triggers bool
		says     string
		fault    bool
		asked    int
	}{
		"it does not start": {
			process.Result{ExitCode: 1, Stderr: []byte("no module")},
			nil, false,
			"ended before it listened: exit code 1:", true, 0,
		},
		"nobody can start it": {
			process.Result{},
			errors.New("no processes left"), false,
			"no processes left", false, 0,
		},
		"trigger queries, alone": {process.Result{ExitCode: 1}, nil, true, "", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, oneCheck)
			w.write("skill/evals/trigger-eval.json", `[{"query": "q", "should_trigger": false}]`)
			executor := &worker{}
			o := w.inProcess(executor)
			o.Start = "serve it"
			o.Sandboxes.Runner = commands(func(context.Context, process.Spec) (process.Result, error) {
				return c.ends, c.err
			})
			skill, err := evalrun.Load(w.root, "skill", "")
			require.NoError(t, err)
			if c.triggers {
				skill = skill.TriggerSuite()
			}
			_, err = evalrun.Run(t.Context(), skill, w.at("out"), o)
			assert.Len(t, executor.asked, c.asked, "without its server no case is run")
			left, _ := os.ReadDir(w.at("run"))
			assert.Empty(t, left, "nothing is left behind")
			if c.says == "" {
				require.NoError(t, err)
				assert.Equal(t, "q", executor.asked[0].Prompt)
				return
			}
			require.ErrorContains(t, err, c.says)
			var fault *misuse.Error
			assert.Equal(t, c.fault, errors.As(err, &fault))
		})
	}
	w := newFixture(t, oneCheck)
	require.NoError(t, os.Symlink("/etc", w.at("skill/etc")))
	o := w.inProcess(&worker{})
	o.Start = "serve it"
	_, err := w.run(t.Context(), o)
	var fault *misuse.Error
	require.ErrorAs(t, err, &fault)
}

// shell is what runs the setup of a program.
type shell func(r evaluation.Request) (evaluation.Result, error)

func (s shell) Run(_ context.Context, r evaluation.Request) (evaluation.Result, error) { return s(r) }

// TestSetupOfEvaluation runs before the cases; what is wrong with it is all that there
// is to say.
func TestSetupOfEvaluation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup   string
		result  evaluation.Result
		err     error
		problem string
		asked   int
	}{
		"none":     {"", evaluation.Result{Problem: "never asked"}, nil, "", 1},
		"it works": {"make", evaluation.Result{}, nil, "", 1},
		"it fails": {
			"make",
			evaluation.Result{Problem: "the setup ended with exit code 2"},
			nil,
			"the setup ended with exit code 2", 0,
		},
		"it cannot be run": {"make", evaluation.Result{}, errors.New("no processes left"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, oneCheck)
			executor := &worker{work: func(_ context.Context, r agent.Request) (agent.Reply, error) {
				file(r, "outputs/x", "")
				return agent.Reply{}, nil
			}}
			var scripts []string
			e := &evalrun.Evaluator{
				Options: w.inProcess(executor), Skill: "skill", Keep: w.at("kept"),
				Shell: shell(func(r evaluation.Request) (evaluation.Result, error) {
					scripts = append(scripts, r.Setup+"|"+r.Script)
					return c.result, c.err
				}),
			}
			request := evaluation.Request{
				Dir: w.root, Setup: c.setup, Script: "the evaluation",
				Timeout: 9 * time.Second,
			}
			request.Limit.Tokens = 500
			outcome, err := e.Run(t.Context(), request)
			require.Equal(t, c.err, err)
			assert.Equal(t, c.problem, outcome.Problem)
			assert.Len(t, executor.asked, c.asked)
			if c.setup != "" {
				assert.Equal(t, []string{c.setup + "|echo 0"}, scripts, "the setup alone")
			}
			if c.asked == 0 {
				assert.Nil(t, outcome.Measurement.Metric)
				assert.NoDirExists(t, w.at("kept"))
				return
			}
			assert.Equal(t, "1", outcome.Measurement.Metric.String())
			assert.Equal(t, int64(500), executor.asked[0].Limit.Tokens)
			assert.Equal(t, 9*time.Second, executor.asked[0].Timeout)
			left, err := os.ReadDir(w.at("run"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestInputsThroughLinks: what a case names stands in the sandbox, or the suite is refused.
func TestInputsThroughLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		link [2]string // from, to
		file string
	}{
		"a link to a directory of the skill": {[2]string{"skill/evals/files", "../data"}, "files/in.txt"},
		"a link at the top":                  {[2]string{"skill/in", "data"}, "in/in.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, `[{"id": 1, "prompt": "p", "files": ["`+c.file+
				`"], "deterministic_checks": [{"type": "file_exists", "file": "x"}]}]`)
			w.write("skill/data/in.txt", "in\n")
			require.NoError(t, os.Symlink(c.link[1], w.at(c.link[0])))
			skill, err := evalrun.Load(w.root, "skill", "")
			if err != nil {
				require.ErrorContains(t, err, c.file)
				return
			}
			executor := &worker{work: func(_ context.Context, r agent.Request) (agent.Reply, error) {
				text, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(c.file)))
				if err == nil && string(text) == "in\n" {
					file(r, "outputs/x", "")
				}
				return agent.Reply{}, nil
			}}
			result, err := evalrun.Run(t.Context(), skill, w.at("out"), w.inProcess(executor))
			require.NoError(t, err)
			assert.True(t, result.Cases[0].Perfect(), "the executor is told of a file that is not there")
		})
	}
}
