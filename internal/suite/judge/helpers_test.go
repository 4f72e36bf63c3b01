package judge

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/tasks"
)

func TestMain(m *testing.M) {
	if handled, code := process.Supervise(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

const secret = "sk-very-secret-key"

func masker() process.Masker { return process.NewMasker(nil, secret) }

// task is work that has one score, suite work of which each expectation has a verdict.
func task() Work {
	return Work{
		Title: "Rename", Prompt: "rename it", Criteria: "is it renamed?", Diff: "+new\n", Words: "Renamed it.",
		Checks: []tasks.CheckResult{
			{Kind: suite.FileExists, Name: "a", Passed: true},
			{Kind: suite.CommandCheck, Name: "make", Detail: "exit code 2"},
		},
	}
}

func suiteCase() Work {
	return Work{
		Prompt: "greet", Expectations: []string{"it greets", "it is short"}, Outputs: "hello >>> " + secret,
	}
}

// reply is one answer of a model that is asked in process.
type reply struct {
	text    string
	in, out int64 // tokens; below 0 is not said
	model   string
	err     error
}

// says is a judge that gets these replies, one after the other, and the questions that
// it asked.
func says(endpoint models.Endpoint, price func(string, metric.Usage) *metric.Value, replies ...reply) (*Judge,
	*[]models.Request,
) {
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
	return Setting{Complete: complete, Price: price, Masker: masker()}.API(endpoint), requests
}

// ask asks a judge that gives one text as every answer, and returns its question too.
func ask(t *testing.T, w Work, text string) (found Opinion, question string, asked int) {
	t.Helper()
	j, requests := says(models.Endpoint{Model: "m"}, nil, reply{text: text}, reply{text: text})
	found, err := j.Grade(t.Context(), w)
	require.NoError(t, err)
	return found, (*requests)[0].Messages[1].Text, len(*requests)
}

// runs is a Runner whose commands end as it says.
type runs func(ctx context.Context, spec process.Spec) (process.Result, error)

func (r runs) Run(ctx context.Context, spec process.Spec) (process.Result, error) {
	return r(ctx, spec)
}

// line is a judge that asks the agent claude through a Runner, in a directory of its own.
func line(t *testing.T, run runs) (*Judge, string) {
	t.Helper()
	dir := t.TempDir()
	return Setting{
		Agent: commandline.All().Asked(), Runner: run, Dir: dir, Env: []string{"A=1", "B=2"}, Masker: masker(),
	}.cli(), dir
}
