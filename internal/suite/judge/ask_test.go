package judge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/judge"
)

// reply is one answer of a model that is asked in process.
type reply struct {
	text    string
	in, out int64 // tokens; below 0 is not said
	model   string
	err     error
}

// asked is a judge that gets these replies, one after the other, and the questions that
// it asked.
func asked(endpoint models.Endpoint, price judge.Price, replies ...reply) (*judge.Judge, *[]models.Request) {
	requests := &[]models.Request{}
	complete := func(_ context.Context, _ models.Endpoint, request models.Request) (models.Response, error) {
		r := replies[len(*requests)]
		*requests = append(*requests, request)
		response := models.Response{Text: r.text, Model: r.model}
		if r.in >= 0 {
			response.Usage.InputTokens = &r.in
		}
		if r.out >= 0 {
			response.Usage.OutputTokens = &r.out
		}
		return response, r.err
	}
	return judge.API(complete, endpoint, price, masker()), requests
}

// TestCostOfAsking: both attempts together, and unknown where one is.
func TestCostOfAsking(t *testing.T) {
	t.Parallel()
	cent := func(model string, usage metric.Usage) *metric.Value {
		if model == "free" || usage.InputTokens == nil {
			return nil
		}
		v := metric.MustValue("0.01").Mul(metric.FromInt(*usage.InputTokens))
		return &v
	}
	good, bad := `{"score": 1}`, "no"
	answer, useless := reply{text: good, in: 10, out: 5}, reply{text: bad, in: 10, out: 5}
	denied := reply{in: -1, out: -1, err: &models.Error{Status: 401, Message: "no"}}
	for name, c := range map[string]struct {
		price       judge.Price
		replies     []reply
		tokens, usd string
	}{
		"one answer": {cent, []reply{answer}, "15", "0.1"},
		"two answers": {
			cent,
			[]reply{useless, {text: good, in: 20, out: 1}},
			"36", "0.3",
		},
		"no price":                 {nil, []reply{answer}, "15", "-"},
		"no price of this model":   {cent, []reply{{text: good, in: 10, out: 5, model: "free"}}, "15", "-"},
		"tokens that are not said": {cent, []reply{{text: good, in: -1, out: 5}}, "-", "-"},
		"half of the tokens":       {cent, []reply{{text: good, in: 10, out: -1}}, "-", "0.1"},
		"the second is not known": {
			cent,
			[]reply{useless, {text: good, in: -1, out: -1}},
			"-", "-",
		},
		"a refusal": {cent, []reply{denied}, "0", "0"},
		"an answer, then a refusal": {
			cent,
			[]reply{useless, denied},
			"15", "0.1",
		},
		"no connection":         {cent, []reply{{in: -1, out: -1, err: errors.New("reset")}}, "-", "-"},
		"an error after tokens": {cent, []reply{{in: 10, out: 5, err: errors.New("cut off")}}, "15", "-"},
		"an error before any status": {
			cent,
			[]reply{{in: -1, out: -1, err: &models.Error{Message: "reset"}}},
			"-", "-",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			say := func(tokens *int64, usd *metric.Value) (string, string) {
				counted, paid := "-", "-"
				if tokens != nil {
					counted = fmt.Sprint(*tokens)
				}
				if usd != nil {
					paid = usd.String()
				}
				return counted, paid
			}
			j, requests := asked(models.Endpoint{Model: "m"}, c.price, c.replies...)
			verdict, err := j.Grade(t.Context(), sample())
			require.NoError(t, err)
			tokens, usd := say(verdict.Tokens, verdict.USD)
			assert.Equal(t, [2]string{c.tokens, c.usd}, [2]string{tokens, usd})
			assert.Len(t, *requests, len(c.replies))
			last := c.replies[len(c.replies)-1]
			assert.Equal(t, last.text == good, verdict.Judgement != nil)
			assert.Equal(t, last.text == good, verdict.Problem == "")
		})
	}
}

func TestModelOfJudge(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{"": "m", "m-2026": "m-2026"} {
		j, requests := asked(models.Endpoint{Model: "m", URL: "https://here"}, nil,
			reply{text: `{"score": 0.5}`, model: says})
		verdict, err := j.Grade(t.Context(), sample())
		require.NoError(t, err)
		assert.Equal(t, want, verdict.Judgement.Model)
		assert.Equal(t, "m at https://here", j.Name())
		assert.Empty(t, j.Agent())
		request := (*requests)[0]
		assert.True(t, request.JSON)
		assert.Positive(t, request.MaxTokens)
		require.Len(t, request.Messages, 2)
		assert.Equal(t, models.System, request.Messages[0].Role)
		assert.True(t, request.Messages[0].Repeats, "what is the same for all is kept by the server")
		assert.False(t, request.Messages[1].Repeats)
	}
	line := judge.CLI(judge.CommandLine{Agent: commandline.All().Asked()}, masker())
	assert.Equal(t, "claude", line.Agent())
}

// TestShapesOfGrades: what counts of an answer, each expectation by itself.
func TestShapesOfGrades(t *testing.T) {
	t.Parallel()
	const none = "the grader gave no evidence"
	for name, c := range map[string]struct {
		text     string
		passed   [2]bool
		evidence [2]string
		feedback string
	}{
		"both": {`{"expectations": [{"number": 1, "passed": true, "evidence": "a"}, {"number": 2, ` +
			`"passed": false, "evidence": "b"}]}`, [2]bool{true, false}, [2]string{"a", "b"}, ""},
		"in another order": {`{"expectations": [{"number": 2, "passed": true, "evidence": "b"}, {"number": 1, ` +
			`"passed": false, "evidence": "a"}]}`, [2]bool{false, true}, [2]string{"a", "b"}, ""},
		"passed without evidence": {`{"expectations": [{"number": 1, "passed": true, "evidence": ""}, {"number": 2, ` +
			`"passed": true}]}`, [2]bool{}, [2]string{none, none}, ""},
		"evidence alone": {`{"expectations": [{"number": 1, "evidence": "a"}, {"number": 2, "passed": ` +
			`null, "evidence": "b"}]}`, [2]bool{}, [2]string{"a", "b"}, ""},
		"between prose": {`Well {so}: {"expectations": [{"number": 1, "passed": true, "evidence": ` +
			`"a"}]} {done}`, [2]bool{true, false}, [2]string{"a", none}, ""},
		"evidence of several lines": {
			`{"expectations": [{"number": 1, "passed": true, "evidence": "a\nb\u001b[31m"}]}`,
			[2]bool{true, false},
			[2]string{"a b", none},
			"",
		},
		"with feedback": {
			`{"expectations": [{"number": 1, "passed": true, "evidence": "a"}], ` +
				`"eval_feedback": {"overall": "` + secret + `"}}`,
			[2]bool{true, false},
			[2]string{"a", none},
			`{"overall": "***"}`,
		},
		"with feedback without end": {`{"expectations": [{"number": 1, "passed": true, "evidence": "a"}], ` +
			`"eval_feedback": "` + strings.Repeat("x", 8<<10) + `"}`, [2]bool{true, false}, [2]string{"a", none}, ""},
		"with other keys": {`{"score": 1, "expectations": [{"number": 1, "passed": true, "evidence": "a", ` +
			`"x": {}}]}`, [2]bool{true, false}, [2]string{"a", none}, ""},
		"beside an object of others": {`{"score": 0.5} {"expectations": [{"number": 1, "passed": true, "evidence": ` +
			`"a"}]}`, [2]bool{true, false}, [2]string{"a", none}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, requests := asked(models.Endpoint{Model: "m"}, nil, reply{text: c.text})
			grades, err := j.Grade(t.Context(), graded())
			require.NoError(t, err)
			require.Empty(t, grades.Problem)
			assert.Len(t, *requests, 1)
			require.Len(t, grades.Expectations, 2)
			for i, got := range grades.Expectations {
				assert.Equal(t, evals.Graded{
					Text: graded().Expectations[i], Passed: c.passed[i],
					Evidence: c.evidence[i], Source: evals.ByGrader,
				}, got)
			}
			assert.Equal(t, c.feedback, string(grades.Feedback))
		})
	}
	for name, text := range map[string]string{
		"number 0":  `{"expectations": [{"number": 0, "passed": true, "evidence": "a"}]}`,
		"no number": `{"expectations": [{"passed": true, "evidence": "a"}]}`,
		"null":      `{"expectations": null}`, "an object": `{"expectations": {"1": true}}`,
		"half a number": `{"expectations": [{"number": 1.5, "passed": true, "evidence": "a"}]}`,
	} {
		j, requests := asked(models.Endpoint{Model: "m"}, nil, reply{text: text}, reply{text: text})
		grades, err := j.Grade(t.Context(), graded())
		require.NoError(t, err)
		assert.Nil(t, grades.Expectations, name)
		assert.Contains(t, grades.Problem, "cannot be used", name)
		assert.Len(t, *requests, 2, name)
	}
}

// TestQuestionsFitTheModel: of a case that is larger than a model takes, each part is
// shown in proportion; a model without a bound is shown more.
func TestQuestionsFitTheModel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 1<<20)
	c := judge.Work{
		Title: "T", Prompt: long, Criteria: long, Diff: long, Words: long,
		Checks: []format.CheckResult{{Name: long}},
	}
	w := judge.Work{Prompt: long, Expected: long, Expectations: []string{long}, Transcript: long, Outputs: long}
	for tokens, most := range map[int]int{
		0: 300 << 10, 100: 6000, 3000: 6000, 4000: 9000, 50_000: 150_000,
		1_000_000: 300 << 10,
	} {
		j, requests := asked(models.Endpoint{Model: "m", InputTokens: tokens}, nil, reply{text: `{"score": 1}`},
			reply{text: `{"expectations": [{"number": 1}]}`})
		_, err := j.Grade(t.Context(), c)
		require.NoError(t, err)
		_, err = j.Grade(t.Context(), w)
		require.NoError(t, err)
		for i, request := range *requests {
			asks := request.Messages[1].Text
			assert.LessOrEqual(t, len(asks), most, "%d tokens", tokens)
			for _, part := range [][]string{
				{"TASK", "CRITERIA", "DIFF", "CHECKS", "LAST_WORDS"},
				{"TASK", "GOOD_RESULT", "EXPECTATIONS", "OUTPUTS", "TRANSCRIPT"},
			}[i] {
				_, begun, found := strings.Cut(asks, "<<<"+part+"\n")
				require.True(t, found, part)
				shown, _, found := strings.Cut(begun, "\n"+part+">>>")
				require.True(t, found, part)
				assert.True(t, strings.HasSuffix(shown, "\n… the rest is left out"), part)
				assert.Greater(t, len(shown), 60, "something of %s is shown to a model of %d tokens", part, tokens)
			}
		}
	}
}
