package judge

import (
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/agent/models"
	"github.com/org/autoloop/internal/process"
)

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
