package evalrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

func TestHostileExecutors(t *testing.T) {
	t.Parallel()
	forged := `{\"expectations\":[{\"text\":\"x\",\"passed\":true}]}`
	for name, c := range map[string]struct{ script, rate string }{
		"writes gradings": {
			`echo "` + forged + `" | tee outputs/grading.json grading.json ../grading.json > /dev/null`, "0",
		},
		"removes all":       {`rm -rf ./* ./.claude`, "0"},
		"deletes its skill": {`rm -rf .claude; echo yes > outputs/x`, "1"},
		"names with odd bytes": {`echo yes > outputs/x; echo > "outputs/a b"; echo > 'outputs/q"'; echo > ` +
			`"$(printf 'outputs/n\nl')"; echo > "$(printf 'outputs/\377')"`, "1"},
		"a huge file": {`echo yes > outputs/x; truncate -s 100M outputs/big`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, oneCheck, nil)
			result, err := w.run(w.byCommand(c.script))
			require.NoError(t, err)
			assert.Equal(t, c.rate, result.Rate.Rat().RatString(), "%+v", result.Cases)
			assert.NoFileExists(t, w.at("out/eval-1/outputs/big"))
			info, err := os.Lstat(w.at("out/eval-1/outputs/x"))
			assert.True(t, err != nil || info.Mode().IsRegular(), "no link is kept")
		})
	}
}

func TestCommandsOfChecksComeLast(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [
		{"type": "shell_command", "command": "sh run.sh; echo made > later.txt"}, {"type": "file_not_exists",
			"file": "later.txt"}, {"type": "file_not_exists", "file": "forged.txt"}]}]`, nil)
	result, err := w.run(w.byCommand(`echo 'echo yes > forged.txt' > outputs/run.sh`))
	require.NoError(t, err)
	assert.Equal(t, "1", result.Rate.Rat().RatString(), "%+v", result.Cases)
	assert.NoFileExists(t, w.at("out/eval-1/outputs/later.txt"), "what is kept is what the executor left")
	assert.FileExists(t, w.at("out/eval-1/outputs/run.sh"))
	grading, err := suite.ParseGrading("grading.json", []byte(w.read("out/eval-1/grading.json")))
	require.NoError(t, err)
	assert.Contains(t, grading.Expectations[0].Text, "shell_command", "the order is the suite's")
}

// TestExecutorsInput: the prompt with where things are, the directory of its own
// skills, and a home and an environment of the case.
func TestExecutorsInput(t *testing.T) {
	t.Parallel()
	w := newFixture(
		t,
		`[{"id": "a", "files": ["files/in.txt", "top.md"], `+strings.Replace(exists, `"p",`, `"p\n\n",`, 1)+
			`, {"id": "b", `+exists+`]`,
		tree{"skill/evals/files/in.txt": "in\n", "skill/top.md": "top\n"},
	)
	executor := &worker{}
	o := w.options(executor)
	o.Model, o.Command, o.Env, o.Timeout = "m", "c", []string{"SEEN"}, 7*time.Second
	result, err := w.run(o)
	require.NoError(t, err)
	assert.Equal(t, "0", result.Rate.Rat().RatString())
	require.Len(t, executor.asked, 2)
	first, second := executor.asked[0], executor.asked[1]
	golden.Row(t, "with files", first.Prompt)
	golden.Row(t, "without", second.Prompt)
	skill := []string{".worker/skills/notes/SKILL.md", ".worker/skills/notes/top.md"}
	assert.Equal(t, append(skill, "files/in.txt", "top.md"), first.Targets)
	assert.Equal(t, skill, second.Targets, "the files of another case are not there")
	for _, r := range executor.asked {
		assert.Equal(t, []string{"m", "c"}, []string{r.Model, r.Command})
		assert.Equal(t, 7*time.Second, r.Timeout)
		assert.Subset(t, r.Env, []string{
			"HOME=" + r.Home, "SEEN", "AUTOLOOP_SKILL=" + filepath.Join(r.Dir, ".worker/skills/notes"),
		})
		assert.True(t, r.IsTarget("anything"))
		assert.Equal(t, metric.Limit{}, r.Limit)
		assert.NotContains(t, strings.Join(r.Env, " "), "AUTOLOOP_SERVER")
		assert.NoDirExists(t, r.Dir, "its sandbox is removed")
	}
	assert.NotEqual(t, first.Dir, second.Dir)
	assert.NotEqual(t, first.Home, second.Home)
}

// TestCrashedCaseCountsNothing, and has a transcript without a grading; the other cases count.
func TestCrashedCaseCountsNothing(t *testing.T) {
	t.Parallel()
	w, executor := newFixture(t, `[{"id": "a", `+exists+`, {"id": "b", `+exists+`]`, nil), leaves(t, tree{"x": ""})
	works := executor.work
	executor.work = func(ctx context.Context, r agent.Request) (agent.Reply, error) {
		reply, err := works(ctx, r)
		if len(executor.asked) == 1 {
			reply.Failure = &agent.Failure{Kind: agent.Crashed, Message: "3"}
		}
		reply.Usage = metric.Usage{InputTokens: new(int64(90)), OutputTokens: new(int64(10))}
		return reply, err
	}
	result, err := w.run(w.options(executor))
	require.NoError(t, err)
	assert.Contains(t, w.read("out/eval-a/transcript.md"), "\n## Failure\n")
	assert.NoFileExists(t, w.at("out/eval-a/grading.json"))
	assert.Equal(t, "crashed: 3", result.Cases[0].Problem)
	assert.Equal(t, "1", result.Cases[1].PassRate().Rat().RatString())
	o := w.options(executor)
	o.Budget.Tokens = 100
	result, err = w.run(o)
	require.ErrorContains(t, err, "the budget of 100 tokens is used up; with 1 of 2 cases done")
	assert.Empty(t, result.Cases)
	assert.Equal(t, int64(100), *result.Expense.Tokens, "it is told what was used")
}

// TestSecretsOfTheExecutor are neither kept in what is written down of its work nor shown to
// the grader, also those that only its own login has.
func TestSecretsOfTheExecutor(t *testing.T) {
	t.Parallel()
	const login, ours = "login-of-the-executor-4711", "sk-very-secret-key"
	w := newFixture(t, `[{"id": 1, "prompt": "p", "expectations": ["it is good"], "deterministic_checks": [
		{"type": "json_field_equals", "file": "x.json", "path": "a", "value": 1}, {"type": "shell_command",
			"command": "fail"}, {"type": "shell_command", "command": "fail at length"}]}]`, nil)
	executor := &worker{printed: agent.Markdown}
	executor.work = func(_ context.Context, r agent.Request) (agent.Reply, error) {
		testdir.Put(t, r.Dir, tree{
			"outputs/x.json": `{"a": "` + login + " " + ours + `"}`, "outputs/" + login + ".txt": login,
		})
		reply := agent.Reply{Secrets: process.NewMasker(nil, login)}
		if len(executor.asked) > 1 {
			reply.Failure = &agent.Failure{Kind: agent.Crashed, Message: "with " + login}
		}
		return reply, os.WriteFile(r.Transcript, []byte("it said "+login+" "+ours), 0o600)
	}
	var shown judge.Work
	o := w.options(executor)
	o.Masker = process.NewMasker(nil, ours)
	o.Sandboxes.Runner = commands(func(_ context.Context, spec process.Spec) (process.Result, error) {
		said := login + " " + ours
		if strings.Contains(spec.Args[2], "length") { // what is kept ends within the secret
			said = strings.Repeat("x", 375) + login
		}
		return process.Result{ExitCode: 1, Stderr: []byte(said)}, nil
	})
	o.Grader = marks(func(work judge.Work) (judge.Opinion, error) {
		shown = work
		return judge.Opinion{Expectations: []suite.Graded{{Text: "it is good", Source: suite.ByGrader}}}, nil
	})
	result, err := w.run(o)
	require.NoError(t, err)
	for what, text := range map[string]string{
		"the grading": w.read("out/eval-1/grading.json"), "the transcript": w.read("out/eval-1/transcript.md"),
		"what the grader sees":     shown.Transcript + shown.Outputs,
		"what an improver is told": Failures(result, 1<<20),
	} {
		assert.NotContains(t, text, login[:8], what)
		assert.NotContains(t, text, ours, what)
		assert.Contains(t, text, "*** ***", what)
	}
	assert.Contains(t, shown.Outputs, `--- "***.txt"`)
	result, err = w.run(o)
	require.NoError(t, err)
	assert.Equal(t, "crashed: with ***", result.Cases[0].Problem)
}

// TestGradersInput of outputs/: text, as much as there is room for, and of everything
// else that it is there.
func TestGradersInput(t *testing.T) {
	t.Parallel()
	w := newFixture(
		t,
		`[{"id": 1, "prompt": "Say it", "expected_output": "a greeting", "expectations": ["it is good", `+
			`"it is short"]}]`,
		nil,
	)
	list := tree{
		"a.txt": "hello", "b.bin": "a\x00b", "c.latin": "caf\xe9", "d/large.txt": strings.Repeat("ä", 20<<10),
		"link": "-> a.txt",
	}
	for i := range 5 {
		list[fmt.Sprintf("e%d.txt", i)] = strings.Repeat("x", 30<<10)
	}
	executor := leaves(t, list)
	works := executor.work
	executor.printed = agent.Events
	executor.work = func(ctx context.Context, r agent.Request) (agent.Reply, error) {
		_, err := works(ctx, r)
		return agent.Reply{Duration: 3 * time.Second, Usage: metric.Usage{Turns: new(int64(4))}},
			errors.Join(err, os.WriteFile(r.Transcript, []byte("{\"type\": \"said\"}\n```\n"), 0o600))
	}
	var shown judge.Work
	o := w.options(executor)
	clock := time.Unix(1e9, 0)
	o.Now = func() time.Time { clock = clock.Add(time.Second); return clock }
	o.Grader = marks(func(work judge.Work) (judge.Opinion, error) {
		shown = work
		return judge.Opinion{
			Expectations: []suite.Graded{
				{Text: "it is good", Passed: true, Evidence: "seen", Source: suite.ByGrader},
				{Text: "it is short", Evidence: "long", Source: suite.ByGrader},
			},
			Feedback: json.RawMessage(`{"overall": "well"}`), Usage: metric.Usage{InputTokens: new(int64(7))},
		}, nil
	})
	result, err := w.run(o)
	require.NoError(t, err)
	assert.Equal(t, "1/2", result.Rate.Rat().RatString())
	assert.JSONEq(t, `{"overall": "well"}`, string(result.Cases[0].Feedback))
	assert.Equal(t, int64(7), *result.Expense.Tokens)
	assert.Equal(t, []string{"Say it", "a greeting"}, []string{shown.Prompt, shown.Expected},
		"the prompt of the suite, without what was added")
	assert.Equal(t, []string{"it is good", "it is short"}, shown.Expectations)
	assert.Contains(t, shown.Transcript, "# Transcript of worker\n\n## Prompt\n")
	assert.Contains(t, shown.Transcript, "\n## Conversation\n\n````\n{\"type\": \"said\"}\n```\n````\n")
	// Of a long text the file has its first letters, and how many bytes it is.
	long := regexp.MustCompile(`x{99,}|ä{99,}`)
	golden.Equal(t, "outputs.txt", long.ReplaceAllStringFunc(shown.Outputs, func(text string) string {
		return fmt.Sprintf("%.2s… %d bytes", text, len(text))
	}))
	var kept struct {
		Timing  map[string]float64 `json:"timing"`
		Metrics map[string]any     `json:"execution_metrics"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.read("out/eval-1/grading.json")), &kept))
	assert.Equal(t, map[string]float64{
		"executor_duration_seconds": 3, "grader_duration_seconds": 1, "total_duration_seconds": 4,
	}, kept.Timing)
	assert.Equal(t, map[string]any{
		"total_tool_calls": nil, "total_steps": 4.0, "input_tokens": nil, "output_tokens": nil,
		"output_chars": float64(5 + 3 + 4 + 40<<10 + 5*30<<10), "transcript_chars": float64(len(shown.Transcript)),
	}, kept.Metrics, "what is not known is null, not 0")
}

// TestGradersThatFail: without a verdict there is no result, and nothing is made up.
func TestGradersThatFail(t *testing.T) {
	t.Parallel()
	answers := func(text string) judge.Opinion {
		return judge.Opinion{Expectations: []suite.Graded{{Text: text, Passed: true, Source: suite.ByGrader}}}
	}
	for name, c := range map[string]struct {
		grades judge.Opinion
		err    error
		silent bool
		says   string
		passed int
	}{
		"it does not answer": {
			judge.Opinion{Problem: "no key", Usage: metric.Usage{InputTokens: new(int64(5))}},
			nil, true,
			"1 cannot be graded: no key; with 0 of 1", 0,
		},
		"the run ends":         {judge.Opinion{}, errors.New("stopped"), false, "stopped", 0},
		"it answers one alone": {answers("it is good"), nil, false, "", 1},
		"it answers others":    {answers("it is nice"), nil, false, "", 0},
	} {
		w := newFixture(t, `[{"id": 1, "prompt": "p", "expectations": ["it is good", "it is short"]}]`, nil)
		o := w.options(&worker{})
		o.Grader = marks(func(judge.Work) (judge.Opinion, error) { return c.grades, c.err })
		result, err := w.run(o)
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			_, silent := errors.AsType[*NoResultError](err)
			assert.Equal(t, c.silent, silent)
			assert.NoFileExists(t, w.at("out/eval-1/grading.json"))
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.passed, result.Cases[0].Passed, name)
		assert.NotEmpty(t, result.Cases[0].Unanswered)
		assert.Less(t, result.Cases[0].Passed, result.Cases[0].Total)
	}
}

// TestProgressAndTheOrderOfCases: results are in the order of the suite, whoever is done
// first, and each is told once.
func TestProgressAndTheOrderOfCases(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 6 {
		list = append(
			list,
			fmt.Sprintf(`{"id": "c%d", %s`, i, strings.Replace(exists, `"p"`, fmt.Sprintf(`"%d"`, i), 1)),
		)
	}
	w := newFixture(t, "["+strings.Join(list, ",")+"]", nil)
	last := make(chan struct{}) // the first case waits for the end of the third
	o := w.options(&worker{work: func(ctx context.Context, r agent.Request) (agent.Reply, error) {
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
			testdir.Put(t, r.Dir, tree{"outputs/x": ""})
		}
		return agent.Reply{}, nil
	}})
	o.Jobs = 3
	var told []string
	o.Progress = func(line string) {
		words := strings.Fields(line)
		told = append(told, words[4])
		assert.Equal(t, []string{strconv.Itoa(len(told)), "of", "6"}, words[:3])
	}
	result, err := w.run(o)
	require.NoError(t, err)
	var ids []string
	for i, c := range result.Cases {
		ids = append(ids, c.ID)
		assert.Equal(t, i%2 == 0, c.Passed == c.Total, c.ID)
	}
	assert.Equal(t, []string{"c0", "c1", "c2", "c3", "c4", "c5"}, ids)
	assert.ElementsMatch(t, ids, told)
	assert.Equal(t, "1/2", result.Rate.Rat().RatString())
}

// TestServerOfSkill runs beside the cases, from a copy of the skill without its suites,
// until they have ended.
func TestServerOfSkill(t *testing.T) {
	t.Parallel()
	w := newFixture(t, oneCheck, tree{"skill/server.py": "serve"})
	executor, specs := &worker{}, []process.Spec{}
	o := w.options(executor)
	o.Setup, o.Start = "prepare it", "serve it"
	o.Sandboxes.Runner = commands(func(ctx context.Context, spec process.Spec) (process.Result, error) {
		specs = append(specs, spec)
		assert.Equal(t, []string{"SKILL.md", "server.py"}, names(t, spec.Dir), "without what it is graded by")
		_, port, serves := strings.Cut(strings.Join(spec.Env, " "), " PORT=")
		if !serves {
			return process.Result{}, nil
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port)
		if err != nil {
			return process.Result{ExitCode: 1}, nil //nolint:nilerr // as a server ends
		}
		<-ctx.Done()
		return process.Result{Cancelled: true}, listener.Close()
	})
	address := ""
	executor.work = func(ctx context.Context, r agent.Request) (agent.Reply, error) {
		_, url, _ := strings.Cut(strings.Join(r.Env, " ")+" ", "AUTOLOOP_SERVER=")
		url, _, _ = strings.Cut(url, " ")
		assert.Contains(t, r.Prompt, "\nThe server of the skill listens at "+url+".\n")
		address = strings.TrimPrefix(url, "http://")
		if connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
			testdir.Put(t, r.Dir, tree{"outputs/x": "it answers"})
			_ = connection.Close()
		}
		return agent.Reply{}, nil
	}
	result, err := w.run(o)
	require.NoError(t, err)
	assert.Equal(t, "1", result.Rate.Rat().RatString())
	require.Len(t, specs, 1)
	assert.Equal(t, "sh -c 'prepare it' || exit\nserve it", specs[0].Args[2])
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	require.Error(t, err, "it ended with the run")
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// TestServersThatDoNotStart: no case is run, and it is the skill's fault unless nobody could.
func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends     process.Result
		err      error
		more     tree
		triggers bool // their cases, which ask no server
		says     string
		fault    bool
	}{
		"it does not start": {
			ends: process.Result{ExitCode: 1, Stderr: []byte("no module")}, says: "ended before it listened: exit code 1:",
			fault: true,
		},
		"nobody can start it":    {err: errors.New("no processes left"), says: "no processes left"},
		"trigger queries, alone": {ends: process.Result{ExitCode: 1}, triggers: true},
		"a link out of it":       {more: tree{"skill/etc": "-> /etc"}, says: "is a link that leaves", fault: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, executor := newFixture(t, oneCheck, c.more), &worker{}
			testdir.Put(t, w.root, tree{"skill/evals/trigger-eval.json": `[{"query": "q", "should_trigger": false}]`})
			o, skill := w.options(executor), w.load()
			o.Start = "serve it"
			o.Sandboxes.Runner = commands(
				func(context.Context, process.Spec) (process.Result, error) { return c.ends, c.err },
			)
			if c.triggers {
				skill = skill.TriggerSuite()
			}
			_, err := Run(t.Context(), skill, w.at("out"), o)
			w.nothingLeft()
			if c.says == "" {
				require.NoError(t, err)
				assert.Equal(t, "q", executor.asked[0].Prompt)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.Empty(t, executor.asked)
			var fault *misuse.Error
			assert.Equal(t, c.fault, errors.As(err, &fault))
		})
	}
}

// shell is what runs the setup of a program.
type shell func(r evaluation.Request) (evaluation.Result, error)

func (s shell) Run(_ context.Context, r evaluation.Request) (evaluation.Result, error) { return s(r) }

// TestEvaluations of a tree: the setup runs before the cases, and what is wrong with it is all that
// there is to say.
func TestEvaluations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup   string
		result  evaluation.Result
		err     error
		problem string
		asked   int
	}{
		"no setup": {"", evaluation.Result{Problem: "never asked"}, nil, "", 4},
		"it works": {"make", evaluation.Result{}, nil, "", 4},
		"it fails": {
			"make",
			evaluation.Result{Problem: "the setup ended with exit code 2"},
			nil, "the setup ended with exit code 2",
			0,
		},
		"it cannot be run": {"make", evaluation.Result{}, errors.New("no processes left"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(
				t,
				`[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}, `+
					`{"type": "file_exists", "file": "y"}]}, {"id": "b", `+exists+`]`,
				nil,
			)
			executor, scripts := leaves(t, tree{"x": ""}), []string{}
			e := &Evaluator{
				Options: w.options(executor), Skill: "skill", Keep: w.at("kept"),
				Shell: shell(func(r evaluation.Request) (evaluation.Result, error) {
					scripts = append(scripts, r.Setup+"|"+r.Script)
					return c.result, c.err
				}),
			}
			request := evaluation.Request{
				Dir:     w.root,
				Setup:   c.setup,
				Script:  "the evaluation",
				Timeout: 9 * time.Second,
			}
			request.Limit.Tokens = 500
			var outcome evaluation.Result
			for range 2 {
				var err error
				outcome, err = e.Run(t.Context(), request)
				require.Equal(t, c.err, err)
			}
			assert.Equal(t, c.problem, outcome.Problem)
			assert.Len(t, executor.asked, c.asked)
			if c.setup != "" {
				assert.Equal(t, slices.Repeat([]string{c.setup + "|echo 0"}, 2), scripts, "the setup alone")
			}
			if c.asked == 0 {
				assert.Nil(t, outcome.Measurement.Metric)
				assert.NoDirExists(t, w.at("kept"))
				return
			}
			assert.Equal(t, "0.75", outcome.Measurement.Metric.String())
			assert.Equal(t, "0.5", outcome.Measurement.Numbers["case.1"].String())
			assert.Contains(t, outcome.Tail, "failed: file_exists y")
			assert.FileExists(t, w.at("kept/evaluation-002/eval-b/grading.json"))
			assert.Equal(t, int64(500), executor.asked[0].Limit.Tokens)
			assert.Equal(t, 9*time.Second, executor.asked[0].Timeout)
			w.nothingLeft()
			testdir.Put(t, w.root, tree{"skill/evals/evals.json": "[]"})
			outcome, err := e.Run(t.Context(), request)
			require.NoError(t, err)
			assert.Contains(t, outcome.Problem, "has no case")
		})
	}
}

func TestTriggersAndAnswersAreFiguresOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newFixture(t, oneCheck, tree{
		"skill/evals/trigger-eval.json": `[{"query": "notes please", "should_trigger": true}, ` +
			`{"query": "what time is it", "should_trigger": false}, {"query": "notes on chess", "should_trigger": false}]`,
		"skill/evals/evaluation.xml": `<evaluation><qa_pair><question>How many?</question><answer>7.</answer></qa_pair>` +
			`<qa_pair><question>Who?</question><answer>Ada</answer></qa_pair></evaluation>`,
	})
	o := w.byCommand(`case $(cat "$AUTOLOOP_PROMPT") in
		notes*) cat "$AUTOLOOP_SKILL/SKILL.md" > /dev/null; echo "read .claude/skills/notes/SKILL.md";;
		How*) echo 7. > outputs/answer.txt;;
		Who*) echo "It was Ada" > outputs/answer.txt;;
	esac`)
	triggers, err := Run(t.Context(), w.load().TriggerSuite(), w.at("triggers"), o)
	require.NoError(t, err)
	assert.Equal(t, "0.666666666667", triggers.Rate.String())
	assert.Equal(t, "the skill is left alone", triggers.Cases[2].Failed[0].Text)
	assert.NotContains(t, w.read("triggers/eval-trigger-1/transcript.md"), "installed at")
	answers, err := Run(t.Context(), w.load().AnswerSuite(), w.at("answers"), o)
	require.NoError(t, err)
	assert.Equal(t, "1/2", answers.Rate.Rat().RatString())
	alone := newFixture(t, oneCheck, nil).load()
	assert.Nil(t, alone.TriggerSuite())
	assert.Nil(t, alone.AnswerSuite())
	require.NoError(t, os.Remove(w.at("skill/evals/evals.json")))
	assert.Nil(t, w.load().AnswerSuite(), "the questions are the suite already")
	require.NoError(t, os.Remove(w.at("skill/SKILL.md")))
	server := &session{skill: w.load()}
	assert.NotContains(t, server.prompt(server.skill.Cases[0]), "installed", "only a server answers them")
}

// TestCasesThatRunAreEndedWithTheRun: an executor that cannot log in ends it, and none of them counts.
func TestCasesThatRunAreEndedWithTheRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t, `[{"id": "a", `+exists+`, {"id": "b", `+exists+`]`, nil)
	begun, ended := make(chan struct{}), false
	executor := &worker{}
	executor.work = func(ctx context.Context, _ agent.Request) (agent.Reply, error) {
		select {
		case begun <- struct{}{}: // the second is there
			<-ctx.Done()
			ended = true
			return agent.Reply{}, context.Cause(ctx)
		case <-begun:
			return agent.Reply{Failure: &agent.Failure{Kind: agent.Authentication, Message: "no key"}}, nil
		}
	}
	o := w.options(executor)
	o.Jobs = 2
	_, err := w.run(o)
	require.ErrorContains(t, err, "no key")
	assert.True(t, ended)
}
