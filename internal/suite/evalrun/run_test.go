package evalrun_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/agent/models/client/modeltest"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/scratch"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(scratch.Run(m))
}

// world is a skill, and what running its suite needs.
type world struct {
	t    *testing.T
	root string
}

func newWorld(t *testing.T, evals string) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	w.write("skill/SKILL.md", "---\nname: notes\n---\nWrite the word good.\n")
	w.write("skill/evals/evals.json", evals)
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.at(name)), 0o755))
	require.NoError(w.t, os.WriteFile(w.at(name), []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.at(name))
	require.NoError(w.t, err)
	return string(text)
}

// options run real processes by the agent `command`.
func (w *world) options(script string) evalrun.Options {
	runner := process.NewRunner()
	return evalrun.Options{
		Agent: &agent.Command{Runner: runner}, Command: script, Timeout: time.Minute, RunDir: w.at("run"),
		Now: time.Now,
		Sandboxes: &sandbox.Maker{
			Runner: runner, Remove: os.RemoveAll,
			Environ: func(home string, _ []string) ([]string, error) {
				return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, os.MkdirAll(home, 0o700)
			},
		},
	}
}

func (w *world) run(ctx context.Context, o evalrun.Options) (evalrun.Result, error) {
	w.t.Helper()
	skill, err := evalrun.Load(w.root, "skill", "")
	require.NoError(w.t, err)
	result, err := evalrun.Run(ctx, skill, w.at("out"), o)
	left, _ := os.ReadDir(w.at("run"))
	assert.Empty(w.t, left, "nothing is left behind")
	return result, err
}

func TestACaseIsGivenTheSkillWithoutItsSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "Say hello", "files": ["evals/files/in.txt"], "deterministic_checks": [
		{"type": "file_contains", "file": "tree.txt", "text": "./.claude/skills/notes/SKILL.md"},
		{"type": "file_not_contains", "file": "tree.txt", "text": "evals"},
		{"type": "file_contains", "file": "tree.txt", "text": "./files/in.txt"},
		{"type": "file_contains", "file": "prompt.txt", "text": "Say hello"},
		{"type": "file_not_contains", "file": "prompt.txt", "text": "file_contains"},
		{"type": "regex_match", "file": "skill.txt", "pattern": "word good"},
		{"type": "shell_command", "command": "test -f tree.txt && test -z \"$(ls -A ~)\" && test -f \"$OUTPUTS_DIR/tree.txt\""},
		{"type": "shell_command", "command": "sleep 60", "timeout": 0.2},
		{"type": "file_exists", "file": "nowhere"}]}]`)
	w.write("skill/evals/files/in.txt", "x")
	w.write("skill/evals/files/other.txt", "x")
	result, err := w.run(t.Context(),
		w.options(`touch ~/left; find . > outputs/tree.txt; cp "$AUTOLOOP_PROMPT" outputs/prompt.txt; cp `+
			`"$AUTOLOOP_SKILL/SKILL.md" outputs/skill.txt; echo done`))
	require.NoError(t, err)
	c := result.Cases[0]
	require.Len(t, c.Failed, 2, "%+v", c)
	assert.Contains(t, c.Failed[0].Evidence, "longer than 200ms")
	assert.Contains(t, c.Failed[1].Text, "nowhere")
	assert.Equal(t, "7/9", result.Rate.RatString())
	assert.NotContains(t, w.read("out/eval-1/outputs/tree.txt"), "other.txt")
	assert.True(t, strings.HasPrefix(w.read("out/eval-1/transcript.md"),
		"The agent command does not give its conversation"))
	grading, err := evals.ParseGrading([]byte(w.read("out/eval-1/grading.json")))
	require.NoError(t, err)
	assert.Equal(t, 7, grading.Passed())
	assert.Equal(t, evals.Deterministic, grading.Expectations[0].Source)
}

func TestASuiteElsewhereInTheSkillIsNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[]`)
	w.write("skill/graded/cases.json", `[{"id": 1, "prompt": "p", "deterministic_checks": [
		{"type": "file_contains", "file": "tree.txt", "text": "/notes/graded/readme.md"},
		{"type": "file_not_contains", "file": "tree.txt", "text": "cases.json"}]}]`)
	w.write("skill/graded/readme.md", "part of the skill\n")
	skill, err := evalrun.Load(w.root, "skill", "skill/graded/cases.json")
	require.NoError(t, err)
	result, err := evalrun.Run(t.Context(), skill, w.at("out"), w.options(`find . > outputs/tree.txt`))
	require.NoError(t, err)
	assert.Empty(t, result.Cases[0].Failed)
}

func TestASuiteElsewhereIsNoInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[]`)
	w.write("skill/graded/cases.json",
		`[{"id": 1, "prompt": "p", "files": ["graded/cases.json"], "expectations": ["x"]}]`)
	_, err := evalrun.Load(w.root, "skill", "skill/graded/cases.json")
	require.ErrorContains(t, err, `[0].files[0]: there is no file "graded/cases.json"`)
}

func TestInputsOfCasesFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "p", "files": ["notes.txt", "files/in.txt"], "deterministic_checks": [
		{"type": "file_contains", "file": "seen", "text": "given\ngiven\nmine\n"}]}]`)
	for _, dir := range []string{"skill", "original"} {
		text := map[string]string{"skill": "mine\n", "original": "given\n"}[dir]
		w.write(dir+"/notes.txt", text)
		w.write(dir+"/evals/files/in.txt", text)
	}
	skill, err := evalrun.Load(w.root, "skill", "")
	require.NoError(t, err)
	skill.Inputs = w.at("original")
	result, err := evalrun.Run(t.Context(), skill, w.at("out"),
		w.options(`cat notes.txt files/in.txt "$AUTOLOOP_SKILL/notes.txt" > outputs/seen`))
	require.NoError(t, err)
	assert.Empty(t, result.Cases[0].Failed)
}

func TestACrashedCaseCountsNothing(t *testing.T) {
	t.Parallel()
	check := `"deterministic_checks": [{"type": "file_not_exists", "file": "bad"}]`
	w := newWorld(t, `[{"id": 1, "prompt": "fine", `+check+`}, {"id": 2, "prompt": "crash", `+check+
		`}, {"id": 3, "prompt": "fine", `+check+`}, {"id": 4, "prompt": "hang", `+check+`}]`)
	o := w.options(`case $(head -1 "$AUTOLOOP_PROMPT") in crash) exit 3;; hang) sleep 60000;; esac`)
	o.Jobs = 4
	var result evalrun.Result
	// the others fit into one of these, on any machine
	for o.Timeout = 2 * time.Second; o.Timeout < 5*time.Minute; o.Timeout *= 4 {
		var err error
		result, err = w.run(t.Context(), o)
		require.NoError(t, err)
		if result.Cases[0].Problem == "" && strings.Contains(result.Cases[1].Problem, "exit code") &&
			result.Cases[2].Problem == "" {
			break
		}
	}
	assert.Equal(t, "1/2", result.Rate.RatString())
	assert.Contains(t, result.Cases[1].Problem, "exit code 3")
	assert.Contains(t, result.Cases[3].Problem, "timeout")
	assert.NoFileExists(t, w.at("out/eval-2/grading.json"))
	assert.Contains(t, evalrun.Failures(result, 4000), "case 2: 0 of 1: crashed: exit code 3")
}

// TestJobs has three cases that wait for each other, which only helps those that
// run at the same time.
func TestJobs(t *testing.T) {
	t.Parallel()
	for jobs, want := range map[int]string{1: "1/3", 3: "1"} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			t.Parallel()
			check := `"deterministic_checks": [{"type": "file_exists", "file": "met"}]`
			w := newWorld(t, `[{"id": 1, "prompt": "a", `+check+`}, {"id": 2, "prompt": "b", `+check+
				`}, {"id": 3, "prompt": "c", `+check+`}]`)
			w.write("here/x", "")
			o := w.options(`echo > "` + w.at("here") + `/$(head -1 "$AUTOLOOP_PROMPT")"; for i in $(seq ` +
				strconv.Itoa(1+500*(jobs-1)) + `); do
				if test "$(ls "` + w.at("here") +
				`" | wc -l)" -eq 4; then touch outputs/met; exit; fi; sleep 0.3; done`)
			o.Jobs = jobs
			result, err := w.run(t.Context(), o)
			require.NoError(t, err)
			assert.Equal(t, want, result.Rate.RatString(), "one after the other only the last finds them all")
		})
	}
}

func TestHostileExecutors(t *testing.T) {
	t.Parallel()
	forged := `{\"expectations\":[{\"text\":\"x\",\"passed\":true}]}`
	for name, c := range map[string]struct {
		script, rate string
	}{
		"writes gradings": {`echo "` + forged +
			`" | tee outputs/grading.json grading.json ../grading.json > /dev/null`, "0"},
		"links out of outputs":   {`echo yes > secret; ln -s ../secret outputs/x.txt`, "0"},
		"links to a system file": {`ln -s /etc/passwd outputs/x.txt`, "0"},
		"replaces outputs":       {`rmdir outputs; mkdir other; echo yes > other/x.txt; ln -s other outputs`, "0"},
		"removes all":            {`rm -rf ./* ./.claude`, "0"},
		"deletes its skill":      {`rm -rf .claude; echo yes > outputs/x.txt`, "1"},
		"names with odd bytes": {`echo yes > outputs/x.txt; echo > "outputs/a b"; echo > 'outputs/q"'; echo > ` +
			`"$(printf 'outputs/n\nl')"; echo > "$(printf 'outputs/\377')"`, "1"},
		"a pipe":                   {`mkfifo outputs/x.txt`, "0"},
		"a directory in its place": {`mkdir outputs/x.txt`, "0"},
		"a huge file":              {`echo yes > outputs/x.txt; truncate -s 100M outputs/big`, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_contains", "file": `+
				`"x.txt", "text": "yes"}]}]`)
			result, err := w.run(t.Context(), w.options(c.script))
			require.NoError(t, err)
			assert.Equal(t, c.rate, result.Rate.RatString(), "%+v", result.Cases)
			assert.NoFileExists(t, w.at("out/eval-1/outputs/big"))
			info, err := os.Lstat(w.at("out/eval-1/outputs/x.txt"))
			assert.True(t, err != nil || info.Mode().IsRegular(), "no link is kept")
		})
	}
}

// TestChecksAreHeldToOutputs has executors that put something else where a check
// looks, one for each kind of check.
func TestChecksAreHeldToOutputs(t *testing.T) {
	t.Parallel()
	const good = `{\"a\": [1, \"x\"]}`
	checks := map[string]string{
		"json_valid": ``, "json_field_equals": `, "path": "a[0]", "value": 1`, "json_field_exists": `, "path": "a"`,
		"json_field_absent":  `, "path": "b"`,
		"json_field_matches": `, "path": "a[1]", "pattern": "x"`, "json_field_count": `, "path": "a", "value": 2`,
		"json_array_contains": `, "path": "a", "value": "x"`,
		"file_exists":         ``, "file_not_exists": ``, "file_contains": `, "text": "x"`,
		"file_not_contains": `, "text": "never"`, "regex_match": `, "pattern": "x"`,
	}
	for name, c := range map[string]struct {
		script string
		passes string // the kinds that pass
	}{
		"as it should be":     {`echo "` + good + `" > outputs/f`, "all but file_not_exists"},
		"nothing":             {`true`, "file_not_exists"},
		"outputs removed":     {`rmdir outputs`, "file_not_exists"},
		"outputs exchanged":   {`rmdir outputs; mkdir o; echo "` + good + `" > o/f; ln -s o outputs`, ""},
		"outputs is a file":   {`rmdir outputs; echo "` + good + `" > outputs`, ""},
		"a link out":          {`echo "` + good + `" > secret; ln -s ../secret outputs/f`, "file_exists"},
		"an absolute link":    {`echo "` + good + `" > secret; ln -s "$PWD/secret" outputs/f`, "file_exists"},
		"a link within":       {`echo "` + good + `" > outputs/g; ln -s g outputs/f`, "all but file_not_exists"},
		"a link to nothing":   {`ln -s gone outputs/f`, "file_exists"},
		"a link to itself":    {`ln -s f outputs/f`, "file_exists"},
		"a directory":         {`mkdir outputs/f`, "file_exists"},
		"a pipe":              {`mkfifo outputs/f`, "file_exists"},
		"a file nobody reads": {`echo "` + good + `" > outputs/f; truncate -s 20M outputs/f`, "file_exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []string
			for kind, more := range checks {
				list = append(list, `{"type": "`+kind+`", "file": "f", "description": "`+kind+`"`+more+`}`)
			}
			w := newWorld(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [`+strings.Join(list, ",")+`]}]`)
			result, err := w.run(t.Context(), w.options(c.script))
			require.NoError(t, err)
			failed := map[string]string{}
			for _, g := range result.Cases[0].Failed {
				failed[g.Text] = g.Evidence
			}
			for kind := range checks {
				passes := kind == c.passes || c.passes == "all but file_not_exists" && kind != "file_not_exists"
				if evidence, fails := failed[kind]; passes {
					assert.False(t, fails, "%s fails: %s", kind, evidence)
				} else {
					assert.True(t, fails, "%s passes", kind)
					assert.NotEmpty(t, evidence, kind)
				}
			}
		})
	}
}

func TestCommandsOfChecksComeLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [
		{"type": "shell_command", "command": "sh run.sh; echo made > later.txt"}, {"type": "file_not_exists", "file": "later.txt"}, {"type": "file_not_exists", "file": "forged.txt"}]}]`)
	result, err := w.run(t.Context(), w.options(`echo 'echo yes > forged.txt' > outputs/run.sh`))
	require.NoError(t, err)
	assert.Equal(t, "1", result.Rate.RatString(), "%+v", result.Cases)
	assert.NoFileExists(t, w.at("out/eval-1/outputs/later.txt"), "what is kept is what the executor left")
	assert.FileExists(t, w.at("out/eval-1/outputs/run.sh"))
	grading, err := evals.ParseGrading([]byte(w.read("out/eval-1/grading.json")))
	require.NoError(t, err)
	assert.Contains(t, grading.Expectations[0].Text, "shell_command", "the order is the suite's")
}

func TestAnswersAreExact(t *testing.T) {
	t.Parallel()
	for answer, right := range map[string]bool{
		"a.b (c)": true, "  a.b (c)\n\n": true, "A.b (c)": true, "\tA.B (C) ": true, "axb (c)": false,
		"a.b (c).": false, "The answer is a.b (c)": false, "a.b  (c)": false, "a.b (c)\na.b (c)": false, "": false,
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `[{"id": 1, "prompt": "p", "expectations": ["x"]}]`)
			w.write("skill/evals/evaluation.xml",
				`<evaluation><qa_pair><question>What &amp; where?</question><answer> a.b (c) `+
					`</answer></qa_pair></evaluation>`)
			w.write("given", answer)
			skill, err := evalrun.Load(w.root, "skill", "")
			require.NoError(t, err)
			result, err := evalrun.Run(t.Context(), skill.AnswerSuite(), w.at("answers"),
				w.options(`grep -q "What & where?" "$AUTOLOOP_PROMPT" && cat "`+w.at("given")+
					`" > outputs/answer.txt; ! grep -q "a.b" "$AUTOLOOP_PROMPT"`))
			require.NoError(t, err)
			assert.Equal(t, right, result.Cases[0].Perfect(), "%+v", result.Cases)
			assert.Empty(t, result.Cases[0].Problem, "the answer is not in the prompt")
		})
	}
}

func TestASkillThatLeavesItsTreeIsAFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}]}]`)
	require.NoError(t, os.Symlink("/etc", w.at("skill/etc")))
	_, err := w.run(t.Context(), w.options("true"))
	var fault *misuse.Error
	require.ErrorAs(t, err, &fault)
	assert.ErrorContains(t, err, `"etc"`)
}

// grader answers by a script, through the real client.
func grader(t *testing.T, answers ...string) (judge.Grader, *modeltest.Server) {
	t.Helper()
	var list []modeltest.Answer
	for _, text := range answers {
		list = append(list, modeltest.Answer{Text: text})
	}
	server := modeltest.New(t, list...)
	return judge.API((&client.Client{Pause: 1}).Complete,
		models.Endpoint{API: models.OpenAI, URL: server.URL + "/v1", Key: "k", Model: "m"}, nil,
		process.Masker{}), server
}

func TestTheGraderBearsOutEachExpectation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "Say it", "expected_output": "a greeting", "expectations": ["it greets", "it is polite", "it is short", "it rhymes"],
		"deterministic_checks": [{"type": "file_exists", "file": "x.txt"}]}]`)
	answer := `Here: {"expectations": [{"number": 1, "passed": true, "evidence": "hello"}, {"number": 2, "passed": true, "evidence": " "}, {"number": 3, "passed": false, "evidence": "too long"}],
		"eval_feedback": {"suggestions": [], "overall": "nothing checks the name"}}`
	g, server := grader(t, answer)
	o := w.options("echo hello > outputs/x.txt")
	o.Grader = g
	result, err := w.run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, "2/5", result.Rate.RatString())
	text := evalrun.Failures(result, 4000)
	assert.Contains(t, text, "failed: it rhymes (the grader gave no evidence)")
	assert.Contains(t, text, "the grader on case 1: nothing checks the name")
	assert.Contains(t, string(server.Requests()[0].Body), "1. it greets")
	grading, err := evals.ParseGrading([]byte(w.read("out/eval-1/grading.json")))
	require.NoError(t, err)
	assert.Equal(t, []evals.Source{evals.Deterministic, evals.ByGrader},
		[]evals.Source{grading.Expectations[0].Source, grading.Expectations[1].Source})
}

// TestTheExecutorIsToldThePromptAlone looks at everything that the executor of a
// case can read.
func TestTheExecutorIsToldThePromptAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"skill_name": "SUITE-NAME", "evals": [
		{"id": "first", "prompt": "Say hello", "expected_output": "EXPECTED-OUTPUT", "expectations": ["AN-EXPECTATION"],
		 "deterministic_checks": [{"type": "file_contains", "file": "x", "text": "A-LITERAL", "description": "A-DESCRIPTION"}, {"type": "shell_command", "command": "test A-COMMAND"}]},
		{"id": "second", "prompt": "ANOTHER-PROMPT", "files": ["files/OTHER-FILE"], "deterministic_checks": [{"type": "file_not_exists", "file": "y"}]}]}`)
	w.write("skill/evals/files/OTHER-FILE", "OTHER-INPUT\n")
	w.write("skill/evals/trigger-eval.json", `[{"query": "A-QUERY", "should_trigger": true}]`)
	g, _ := grader(t, `{"expectations": [{"number": 1, "passed": true, "evidence": "seen"}]}`)
	o := w.options(`if grep -q hello "$AUTOLOOP_PROMPT"; then { env; cat "$AUTOLOOP_PROMPT"; find . "$HOME"; find . ` +
		`"$HOME" -type f -exec cat {} +; } > ../all; mv ../all outputs/all; fi`)
	o.Grader, o.Jobs = g, 1
	_, err := w.run(t.Context(), o)
	require.NoError(t, err)
	all := w.read("out/eval-first/outputs/all")
	require.Contains(t, all, "Write the word good", "the skill is there")
	for _, secret := range []string{
		"SUITE-NAME", "EXPECTED-OUTPUT", "AN-EXPECTATION", "A-LITERAL", "A-DESCRIPTION",
		"A-COMMAND", "ANOTHER-PROMPT", "OTHER-FILE", "OTHER-INPUT", "A-QUERY", "should_trigger",
	} {
		assert.NotContains(t, all, secret)
	}
}

func TestAGraderThatDoesNotAnswerIsNoResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "Say it", "expectations": ["it greets"]}]`)
	_, err := w.run(t.Context(), w.options("true"))
	var fault *misuse.Error
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "need a grader")
	g, _ := grader(t, "no", `{"expectations": [{"number": 7, "passed": true}]}`)
	o := w.options("true")
	o.Grader = g
	_, err = w.run(t.Context(), o)
	var silent *evalrun.NoAnswerError
	require.ErrorAs(t, err, &silent)
	require.ErrorContains(t, err, "cannot be graded")
	assert.ErrorContains(t, err, "run the same command again when it answers")
}

func TestEvaluator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `[{"id": 1, "prompt": "p", "deterministic_checks": [{"type": "file_exists", "file": "x"}, `+
		`{"type": "file_exists", "file": "y"}]}, {"id": "b", "prompt": "p", "deterministic_checks": [{"type": `+
		`"file_exists", "file": "x"}]}]`)
	e := &evalrun.Evaluator{Options: w.options("touch outputs/x"), Skill: "skill", Keep: w.at("kept")}
	for range 2 {
		outcome, err := e.Run(t.Context(), evaluation.Request{Dir: w.root, Timeout: time.Minute})
		require.NoError(t, err)
		require.Empty(t, outcome.Problem)
		assert.Equal(t, "0.75", outcome.Measurement.Metric.String())
		assert.Equal(t, "0.5", outcome.Measurement.Numbers["case.1"].String())
		assert.Contains(t, outcome.Tail, "failed: file_exists y")
	}
	assert.FileExists(t, w.at("kept/evaluation-002/eval-b/grading.json"))
	w.write("skill/evals/evals.json", "[]")
	outcome, err := e.Run(t.Context(), evaluation.Request{Dir: w.root, Timeout: time.Minute})
	require.NoError(t, err)
	assert.Contains(t, outcome.Problem, "has no case")
}

// TestRemarksAreMerged: a grader that says the same of every case says it once.
func TestRemarksAreMerged(t *testing.T) {
	t.Parallel()
	said := func(id, feedback string) evals.CaseScore {
		return evals.CaseScore{ID: id, Gradings: []evals.Grading{{Feedback: []byte(feedback)}}}
	}
	same := `{"suggestions": [{"assertion": "it is polite", "reason": "a wrong file passes too"}], "overall": "check ` +
		`the names"}`
	assert.Equal(t, []string{
		"the grader on cases 1, 3: it is polite: a wrong file passes too",
		"the grader on cases 1, 2, 3: check the names",
		"the grader on case 2: a hint",
	}, evalrun.Remarks([]evals.CaseScore{
		said("1", same), said("2", `{"suggestions": ["a hint"], "overall": "check the names"}`), said("3", same),
	}))
}
