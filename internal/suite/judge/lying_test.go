package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
)

// runs is a Runner whose commands end as it says.
type runs func(ctx context.Context, spec process.Spec) (process.Result, error)

func (r runs) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	return r(ctx, spec)
}

// line is a judge that asks the agent claude through a Runner, in a directory of its own.
func line(t *testing.T, model string, run runs) (*judge.Judge, string) {
	t.Helper()
	dir := t.TempDir()
	return judge.CLI(judge.CommandLine{
		Agent: commandline.All().Asked(), Runner: run, Dir: dir,
		Env: []string{"A=1", "B=2"}, Model: model,
	}, masker()), dir
}

// says is the standard output of an agent that answers so.
func says(t *testing.T, text string) []byte {
	t.Helper()
	out, err := json.Marshal(map[string]any{"type": "result", "subtype": "success", "result": text})
	require.NoError(t, err)
	return out
}

// TestHowACommandLineEnds: an answer counts however the command ends; without one, how it
// ended is what is said, once, and asking again would be no use.
func TestHowACommandLineEnds(t *testing.T) {
	t.Parallel()
	good := says(t, `{"score": 0.5}`)
	for name, c := range map[string]struct {
		result process.Result
		err    error
		says   string // "" where there is a judgement
		asked  int
	}{
		"well":                {process.Result{Stdout: good}, nil, "", 1},
		"an answer that fits": {process.Result{Stdout: says(t, "no")}, nil, "it has no JSON object with a `score`", 2},
		"badly": {
			process.Result{ExitCode: 2, Stderr: []byte("one\nkey " + secret)},
			nil,
			"did not answer: exit code 2: one key", 1,
		},
		"in half an answer": {
			process.Result{ExitCode: 1, Stdout: good[:20], Stderr: []byte("cut off")},
			nil,
			"did not answer: exit code 1: cut off", 1,
		},
		"not found": {
			process.Result{ExitCode: 127, NotFound: true},
			nil,
			"did not answer: claude is not installed", 1,
		},
		"too much memory": {
			process.Result{
				ExitCode: -1, Signal: "SIGKILL",
				Exceeded: "it used more than 9 MB of memory",
			},
			nil,
			"it was ended: it used more than 9 MB of", 1,
		},
		"a signal": {
			process.Result{ExitCode: -1, Signal: "SIGSEGV", Stderr: []byte("oh")},
			nil,
			"did not answer: it was ended by SIGSEGV", 1,
		},
		"no runner": {
			process.Result{},
			errors.New("no processes left"),
			"did not answer: no processes left", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			j, base := line(t, "", func(context.Context, process.Spec) (process.Result, error) {
				asked++
				return c.result, c.err
			})
			verdict, err := j.Grade(t.Context(), sample())
			require.NoError(t, err, "a judge never breaks a run")
			assert.Equal(t, c.asked, asked)
			assert.Equal(t, c.says == "", verdict.Judgement != nil, verdict.Problem)
			assert.Contains(t, verdict.Problem, c.says)
			assert.NotContains(t, verdict.Problem, secret)
			left, err := os.ReadDir(base)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	j, base := line(t, "", nil)
	require.NoError(t, os.Remove(base))
	verdict, err := j.Grade(t.Context(), sample())
	require.NoError(t, err)
	assert.Contains(t, verdict.Problem, "no such file or directory", "without its directory nobody is asked")
}

// TestNoCutHalvesWhatACommandLineSays: wherever a secret lies in its words, none of it is
// left of one that the problem has no room for before others of them are hidden.
func TestNoCutHalvesWhatACommandLineSays(t *testing.T) {
	t.Parallel()
	for _, end := range []process.Result{{ExitCode: 2}, {ExitCode: -1, Signal: "SIGSEGV"}} {
		j, _ := line(t, "", func(context.Context, process.Spec) (process.Result, error) { return end, nil })
		for count := 190; count <= 220; count++ {
			end.Stderr = []byte(strings.Repeat(secret+" ", 5) + strings.Repeat("x", count) + secret + " after")
			verdict, err := j.Grade(t.Context(), sample())
			require.NoError(t, err)
			require.NotContains(t, verdict.Problem, secret[:4], "%d", count)
			graded, err := j.Grade(t.Context(), graded())
			require.NoError(t, err)
			require.NotContains(t, graded.Problem, secret[:4], "%d", count)
		}
	}
}

// TestTimeOfCase: both questions have one end, which is no end of the comparison.
func TestTimeOfCase(t *testing.T) {
	t.Parallel()
	var ends []time.Time
	complete := func(ctx context.Context, _ models.Endpoint, _ models.Request) (models.Response, error) {
		end, bounded := ctx.Deadline()
		require.True(t, bounded)
		ends = append(ends, end)
		return models.Response{Text: "no"}, nil
	}
	begun := time.Now()
	j := judge.API(complete, models.Endpoint{Model: "m"}, nil, masker())
	_, err := j.Grade(t.Context(), sample())
	require.NoError(t, err)
	require.Len(t, ends, 2)
	assert.Equal(t, ends[0], ends[1], "the second question has what the first one left")
	assert.WithinDuration(t, begun.Add(5*time.Minute), ends[0], 10*time.Second)
	ends = nil
	_, err = j.Grade(t.Context(), graded())
	require.NoError(t, err)
	require.Len(t, ends, 2)
	assert.Equal(t, ends[0], ends[1])

	cut, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(-time.Second),
		errors.New("the run's time is up"))
	defer cancel()
	ends = nil
	_, err = j.Grade(cut, sample())
	require.EqualError(t, err, "the run's time is up", "an end of the run is one of the case")
	slow, _ := line(t, "", func(ctx context.Context, _ process.Spec) (process.Result, error) {
		return process.Result{ExitCode: -1, Cancelled: true}, ctx.Err()
	})
	_, err = slow.Grade(cut, sample())
	require.EqualError(t, err, "the run's time is up")
}

// TestFeedbackIsJSON also without the secrets that were in it: it goes into a file of others.
func TestFeedbackIsJSON(t *testing.T) {
	t.Parallel()
	const digits = "2026112317"
	hide := process.NewMasker(nil, secret, digits)
	for name, c := range map[string]struct{ feedback, want string }{
		"an object":             {`{"overall": "good"}`, `{"overall": "good"}`},
		"a secret in a text":    {`{"overall": "` + secret + `"}`, `{"overall": "***"}`},
		"a secret as a key":     {`{"` + secret + `": 1}`, `{"***": 1}`},
		"digits in a text":      {`{"overall": "` + digits + `"}`, `{"overall": "***"}`},
		"digits as a number":    {`{"overall": "good", "when": ` + digits + `}`, ""},
		"digits in a number":    {`[1` + digits + `.5]`, ""},
		"null":                  {"null", "null"},
		"a text":                {`"good"`, `"good"`},
		"as much as is kept":    {`"` + strings.Repeat("x", 8<<10-2) + `"`, `"` + strings.Repeat("x", 8<<10-2) + `"`},
		"a byte more than that": {`"` + strings.Repeat("x", 8<<10-1) + `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := `{"expectations": [{"number": 1, "passed": true, "evidence": "seen"}], "eval_feedback": ` +
				c.feedback + `}`
			complete := func(context.Context, models.Endpoint, models.Request) (models.Response, error) {
				return models.Response{Text: answer}, nil
			}
			grades, err := judge.API(complete, models.Endpoint{Model: "m"}, nil, hide).Grade(t.Context(), graded())
			require.NoError(t, err)
			require.Empty(t, grades.Problem)
			assert.Equal(t, c.want, string(grades.Feedback))
			_, err = json.Marshal(map[string]any{"eval_feedback": grades.Feedback})
			require.NoError(t, err, "it can be written")
			assert.NotContains(t, string(grades.Feedback), digits)
		})
	}
}

// TestKeptAnswersOfJudge is one line of bounded length, whatever it wrote.
func TestKeptAnswersOfJudge(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	j, _ := asked(models.Endpoint{Model: "m"}, nil,
		reply{text: `{"score": 0.5, "rationale": "one\ntwo \u001b[31mred ` + secret + ` ` + long + `"}`})
	verdict, err := j.Grade(t.Context(), sample())
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(verdict.Judgement.Rationale, "one two red *** ä"), verdict.Judgement.Rationale)
	assert.Len(t, []rune(verdict.Judgement.Rationale), 1000)
	j, requests := asked(models.Endpoint{Model: "m"}, nil, reply{text: `{"score": "` + long + `"}`},
		reply{err: errors.New("line\nbreak " + secret + long)})
	verdict, err = j.Grade(t.Context(), sample())
	require.NoError(t, err)
	assert.Len(t, []rune(verdict.Problem), 300)
	assert.True(t, strings.HasPrefix(verdict.Problem, "the judge m at did not answer: line break ***ä"),
		verdict.Problem)
	second := (*requests)[1].Messages[1].Text
	assert.True(t, strings.HasPrefix(second, (*requests)[0].Messages[1].Text), "the same question")
	assert.Contains(t, second, "not be used: its `score` is no number.")
	j, _ = asked(models.Endpoint{Model: "m"}, nil,
		reply{text: `{"expectations": [{"number": 1, "passed": true, "evidence": "` + long + `"}]}`})
	grades, err := j.Grade(t.Context(), graded())
	require.NoError(t, err)
	assert.Len(t, []rune(grades.Expectations[0].Evidence), 600)
}

// TestJudgesInput: of checks which passed and why not, of nothing that there is
// nothing, and never which side a run is of.
func TestJudgesInput(t *testing.T) {
	t.Parallel()
	part := func(text, name string) string {
		_, rest, found := strings.Cut(text, "<<<"+name+"\n")
		require.True(t, found, name)
		body, _, found := strings.Cut(rest, "\n"+name+">>>\n")
		require.True(t, found, name)
		return body
	}
	shown := func(c judge.Work) string {
		j, requests := asked(models.Endpoint{Model: "m"}, nil, reply{text: `{"score": 1}`})
		_, err := j.Grade(t.Context(), c)
		require.NoError(t, err)
		return (*requests)[0].Messages[1].Text
	}
	bare := shown(judge.Work{Title: "T", Prompt: "p", Criteria: "c"})
	assert.Equal(t, "T\n\np", part(bare, "TASK"))
	assert.Equal(t, "The agent changed nothing.", part(bare, "DIFF"))
	assert.Equal(t, "There are none.", part(bare, "CHECKS"))
	assert.Equal(t, "There are none.", part(bare, "LAST_WORDS"))
	full := shown(judge.Work{
		Title: "T", Prompt: "p", Criteria: "c", Diff: " \n", Words: "done\n\n",
		Failure: "timeout: it took longer than 2s",
		Checks: []format.CheckResult{
			{Kind: format.CommandCheck, Name: "make", Passed: true},
			{Kind: format.FileExists, Name: "a", Detail: "there is no such file"},
		},
	})
	assert.Equal(t, "passed: command make\nFAILED: fileExists a (there is no such file)\n"+
		"The agent itself failed: timeout: it took longer than 2s", part(full, "CHECKS"))
	assert.Equal(t, "The agent changed nothing.", part(full, "DIFF"), "blanks are nothing")
	assert.Equal(t, "done", part(full, "LAST_WORDS"))

	graded := func(w judge.Work) string {
		j, requests := asked(models.Endpoint{Model: "m"}, nil, reply{text: `{"expectations": [{"number": 1}]}`})
		_, err := j.Grade(t.Context(), w)
		require.NoError(t, err)
		return (*requests)[0].Messages[1].Text
	}
	work := graded(judge.Work{Prompt: "p", Expectations: []string{"a", "b\nc"}})
	assert.Equal(t, "1. a\n2. b\nc", part(work, "EXPECTATIONS"))
	assert.Equal(t, "There is no description.", part(work, "GOOD_RESULT"))
	assert.Equal(t, "The agent left no file in outputs/.", part(work, "OUTPUTS"))
	assert.Equal(t, "There is no transcript.", part(work, "TRANSCRIPT"))
	assert.True(t, strings.HasSuffix(work, "Give a verdict on each of the 2 expectations."))
}
