package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// Setting is all that decides which judge there is.
type Setting struct {
	// Mode is the key `judge`: off, api, cli, or auto, which is also "": the API when its key
	// is there, else the command line, else none.
	Mode string
	// Model is `judge-model`; "" is the endpoint's or the agent's own.
	Model string
	// Getenv reads the caller's environment.
	Getenv func(string) string
	// Complete asks a model at an endpoint.
	Complete func(context.Context, models.Endpoint, models.Request) (models.Response, error)
	// Price, optional, is what a model's work costs in dollars, nil when that is not known.
	Price  func(model string, usage metric.Usage) *metric.Value
	Masker process.Masker
	// Agent has a Question. It is asked through its command line, with Env as its whole
	// environment, in an empty directory of its own below Dir, a private one.
	Agent  *commandline.Descriptor
	Runner Runner
	Dir    string
	Env    []string
}

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Choose returns the judge, or nil and why there is none ("" when none is
// wanted). A mode that names a judge which is not there is an error.
func Choose(s Setting) (judge Grader, none string, err error) {
	if s.Mode == "off" {
		return nil, "", nil
	}
	if !slices.Contains([]string{"api", "cli", "auto", ""}, s.Mode) {
		return nil, "", fmt.Errorf("judge %q: give auto, api, cli or off", s.Mode)
	}
	endpoint, lacks := s.endpoint()
	_, missing := process.LookPath(s.Agent.Program, s.Dir, s.Env)
	switch {
	case s.Mode != "cli" && lacks == "":
		return s.API(endpoint), "", nil
	case s.Mode == "api":
		return nil, "", fmt.Errorf("judge: api: %s", lacks)
	case missing == nil:
		return s.cli(), "", nil
	case s.Mode == "cli":
		return nil, "", fmt.Errorf("judge: cli: %s is not in PATH; install it, or choose another judge",
			s.Agent.Program)
	default:
		return nil, fmt.Sprintf("no judge: %s is not in PATH, and for the API: %s", s.Agent.Program, lacks), nil
	}
}

// endpoint is Anthropic's with its own key, else the one of the settings.
func (s Setting) endpoint() (endpoint models.Endpoint, lacks string) {
	endpoint = models.AnthropicFrom(s.Getenv)
	if endpoint.Key == "" {
		if endpoint, lacks = models.EndpointFrom(s.Getenv); lacks != "" {
			return endpoint, "set ANTHROPIC_API_KEY, or " + lacks
		}
	}
	if endpoint.Model = cmp.Or(s.Model, endpoint.Model); endpoint.Model == "" {
		return endpoint, "name the model with `judge-model`"
	}
	return endpoint, ""
}

// API returns a judge that asks the endpoint's model over HTTP.
func (s Setting) API(endpoint models.Endpoint) *Judge {
	// Answers are bounded; reasoning counts too where a model reasons. Of the model's bound
	// some is left for the system prompt and for the answer, and three bytes are taken for a
	// token, which is on the safe side.
	const answerTokens, rest, bytesPerToken = 4000, 1500, 3
	j := &Judge{name: endpoint.Model + " at " + endpoint.URL, masker: s.Masker}
	if endpoint.InputTokens != 0 {
		j.room = max(endpoint.InputTokens-rest, rest) * bytesPerToken
	}
	j.ask = func(ctx context.Context, system, question string) (answer, error) {
		response, err := s.Complete(ctx, endpoint, models.Request{
			Messages: []models.Message{
				{Role: models.System, Text: system, Repeats: true},
				{Role: models.User, Text: question},
			},
			MaxTokens: answerTokens, JSON: true,
		})
		said := answer{Text: response.Text, Model: cmp.Or(response.Model, endpoint.Model)}
		if in, out := response.Usage.InputTokens, response.Usage.OutputTokens; in != nil && out != nil {
			said.Tokens = new(*in + *out)
		}
		if s.Price != nil && err == nil {
			said.USD = s.Price(said.Model, response.Usage)
		}
		if failed, is := errors.AsType[*models.Error](err); is && failed.Status >= http.StatusBadRequest {
			said.Tokens, said.USD = new(int64), &metric.Value{} // a refusal costs nothing
		}
		return said, err
	}
	return j
}

// cli returns a judge that asks the agent through its command line.
func (s Setting) cli() *Judge {
	name := s.Agent.Name
	if s.Model != "" {
		name += " with " + s.Model
	}
	return &Judge{name: name, agent: s.Agent.Name, ask: s.ask, masker: s.Masker}
}

func (s Setting) ask(ctx context.Context, system, question string) (answer, error) {
	dir, err := os.MkdirTemp(s.Dir, "judge-")
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const most = 4 << 20
	result, err := s.Runner.Run(ctx, process.Spec{
		Args: s.Agent.Question.Args(system, s.Model), Dir: dir, Env: slices.Clone(s.Env),
		Stdin: strings.NewReader(question), OutputCap: most,
	})
	switch {
	case err != nil:
	case result.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = errors.New("it took too long")
	case result.Cancelled:
		err = context.Cause(ctx)
	case result.NotFound:
		err = fmt.Errorf("%s is not installed", s.Agent.Program)
	case result.ExitCode == 0, json.Valid(result.Stdout):
		return s.Agent.Question.Read(result.Stdout, result.ExitCode)
	default: // The words are cut where their secrets are hidden.
		ended := cmp.Or(result.Exceeded, result.Signal, fmt.Sprintf("exit code %d", result.ExitCode))
		err = fmt.Errorf("%s: %s", ended, result.Stderr)
	}
	return answer{}, err
}
