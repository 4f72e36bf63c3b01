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

// answerTokens bounds an answer; reasoning counts too where a model reasons.
const answerTokens = 4000

// roomOf leaves some of the model's bound for the system prompt and for answers,
// and takes three bytes for a token, which is on the safe side.
func roomOf(endpoint models.Endpoint) int {
	const rest, bytesPerToken = 1500, 3
	if endpoint.InputTokens == 0 {
		return 0
	}
	return max(endpoint.InputTokens-rest, rest) * bytesPerToken
}

// askAPI asks an endpoint over HTTP.
func askAPI(ctx context.Context, complete Complete, endpoint models.Endpoint, price Price, system, question string,
) (answer, error) {
	response, err := complete(ctx, endpoint, models.Request{
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
	if price != nil && err == nil {
		said.USD = price(said.Model, response.Usage)
	}
	if failed, is := errors.AsType[*models.Error](err); is && failed.Status >= http.StatusBadRequest {
		said.Tokens, said.USD = new(int64), &metric.Value{} // a refusal costs nothing
	}
	return said, err
}

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// CommandLine asks an agent through its command line, in an empty directory of its
// own.
type CommandLine struct {
	// Agent has a Question.
	Agent  *commandline.Descriptor
	Runner Runner
	// Dir is a private directory, below which each question gets its own.
	Dir string
	// Env is the whole environment.
	Env []string
	// Model is passed on; "" is the agent's default.
	Model string
}

func (c *CommandLine) ask(ctx context.Context, system, question string) (answer, error) {
	dir, err := os.MkdirTemp(c.Dir, "judge-")
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const most = 4 << 20
	result, err := c.Runner.Run(ctx, process.Spec{
		Args: c.Agent.Question.Args(system, c.Model), Dir: dir, Env: slices.Clone(c.Env),
		Stdin: strings.NewReader(question), OutputCap: most,
	})
	if err != nil {
		return answer{}, err
	}
	switch {
	case result.Cancelled && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return answer{}, errors.New("it took too long")
	case result.Cancelled:
		return answer{}, context.Cause(ctx)
	case result.NotFound:
		return answer{}, fmt.Errorf("%s is not installed", c.Agent.Program)
	case result.ExitCode == 0, json.Valid(result.Stdout):
		return c.Agent.Question.Read(result.Stdout, result.ExitCode)
	// The words are cut where their secrets are hidden.
	case result.Exceeded != "":
		return answer{}, fmt.Errorf("it was ended: %s", result.Exceeded)
	case result.Signal != "":
		return answer{}, fmt.Errorf("it was ended by %s: %s", result.Signal, result.Stderr)
	default:
		return answer{}, fmt.Errorf("exit code %d: %s", result.ExitCode, result.Stderr)
	}
}

// Mode is the setting `judge`.
type Mode string

// The modes.
const (
	Auto  Mode = "auto" // the API when its key is there, else the command line, else none
	ByAPI Mode = "api"
	ByCLI Mode = "cli"
	Off   Mode = "off"
)

// Setting is all that decides which judge there is.
type Setting struct {
	Mode Mode
	// Model is `judge-model`; "" is the endpoint's or the agent's own.
	Model string
	// Getenv reads the caller's environment.
	Getenv func(string) string
	// Complete asks a model; nil where no client is linked.
	Complete Complete
	// Price, optional, is what asking it costs.
	Price Price
	// CLI is the agent that is asked through its command line, with its environment.
	CLI    CommandLine
	Masker process.Masker
}

// Choose returns the judge, or nil and why there is none ("" when none is
// wanted). A mode that names a judge which is not there is an error.
func Choose(s Setting) (judge Grader, none string, err error) {
	if !slices.Contains([]Mode{Off, ByAPI, ByCLI, Auto, ""}, s.Mode) {
		return nil, "", fmt.Errorf("judge %q: give auto, api, cli or off", s.Mode)
	}
	if s.Mode == Off {
		return nil, "", nil
	}
	endpoint, lacks := s.endpoint()
	_, missing := process.LookPath(s.CLI.Agent.Program, s.CLI.Dir, s.CLI.Env)
	switch {
	case s.Mode != ByCLI && lacks == "":
		return API(s.Complete, endpoint, s.Price, s.Masker), "", nil
	case s.Mode == ByAPI:
		return nil, "", fmt.Errorf("judge: api: %s", lacks)
	case missing == nil:
		asked := s.CLI
		asked.Model = s.Model
		return CLI(asked, s.Masker), "", nil
	case s.Mode == ByCLI:
		return nil, "", fmt.Errorf("judge: cli: %s is not in PATH; install it, or choose another judge",
			s.CLI.Agent.Program)
	default:
		return nil, fmt.Sprintf("no judge: %s is not in PATH, and for the API: %s", s.CLI.Agent.Program, lacks), nil
	}
}

// endpoint is Anthropic's with its own key, else the one of the settings.
func (s Setting) endpoint() (endpoint models.Endpoint, lacks string) {
	if s.Complete == nil {
		return models.Endpoint{}, "this binary asks no models"
	}
	endpoint = models.AnthropicFrom(s.Getenv)
	if endpoint.Key == "" {
		if endpoint, lacks = models.EndpointFrom(s.Getenv); lacks != "" {
			return endpoint, "set ANTHROPIC_API_KEY, or " + lacks
		}
	}
	if s.Model != "" {
		endpoint.Model = s.Model
	}
	if endpoint.Model == "" {
		return endpoint, "name the model with `judge-model`"
	}
	return endpoint, ""
}
