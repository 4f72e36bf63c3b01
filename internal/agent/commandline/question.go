package commandline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
)

// Question is how an agent is asked one question, as a judge asks it: without any
// tool and without leave to do anything. The question is on standard input.
type Question struct {
	// Variables are those of the caller's environment that it gets.
	Variables []string
	// Env is what it gets besides; getenv reads the caller's environment.
	Env func(getenv func(string) string) []string
	// Args is the command line; model is "" for the agent's own choice.
	Args func(system, model string) []string
	// Read takes the answer out of what it printed.
	Read func(stdout []byte, exitCode int) (Answer, error)
}

// Answer is the answer to a Question. What is not known is nil or "".
type Answer struct {
	Text, Model string
	Tokens      *int64
	USD         *metric.Value
}

// Asked is the first agent that can be asked a question, nil when no agent can.
func (t Table) Asked() *Descriptor {
	if i := slices.IndexFunc(t, func(d Descriptor) bool { return d.Question != nil }); i >= 0 {
		return &t[i]
	}
	return nil
}

// claudeQuestion asks `claude -p`. It writes to the directory of its login.
func claudeQuestion() *Question {
	return &Question{
		Variables: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
		},
		Env: func(getenv func(string) string) []string {
			env := []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
			if home := getenv("HOME"); home != "" && getenv("CLAUDE_CONFIG_DIR") == "" {
				env = append(env, "CLAUDE_CONFIG_DIR="+home+"/.claude")
			}
			return env
		},
		Args: func(system, model string) []string {
			args := []string{
				"claude", "-p", "--output-format", "json", "--system-prompt", system,
				"--tools", "", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands",
				"--no-session-persistence",
			}
			if model != "" {
				args = append(args, "--model", model)
			}
			return args
		},
		Read: readClaudeAnswer,
	}
}

// readClaudeAnswer takes the answer out of what claude printed. An error may come
// with exit code 0, and then is_error says so.
func readClaudeAnswer(stdout []byte, exitCode int) (Answer, error) {
	var said struct {
		IsError bool `json:"is_error"`
		Result  *string
		Cost    *metric.Value `json:"total_cost_usd"`
		Usage   *claudeTokens
		Models  map[string]json.RawMessage `json:"modelUsage"`
	}
	if err := json.Unmarshal(stdout, &said); err != nil {
		return Answer{}, errors.New("what claude printed is not its JSON")
	}
	a := Answer{USD: said.Cost, Model: strings.Join(slices.Sorted(maps.Keys(said.Models)), "+")}
	if u := said.Usage; u != nil {
		a.Tokens = new(u.Input + u.Output + u.Written + u.Read)
	}
	if said.Result != nil {
		a.Text = *said.Result
	}
	switch {
	case said.IsError || exitCode != 0:
		return a, fmt.Errorf("claude failed with exit code %d: %s", exitCode, a.Text)
	case said.Result == nil:
		return a, errors.New("what claude printed has no `result`")
	}
	return a, nil
}
