package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Claude asks through the command line of claude, in an empty directory of its
// own, without any tool and without leave to do anything.
type Claude struct {
	Runner Runner
	// Dir is a private directory, below which each question gets its own.
	Dir string
	// Env is the whole environment.
	Env []string
	// Model is passed on; "" is claude's default.
	Model string
}

func (c *Claude) name() string {
	if c.Model == "" {
		return "claude"
	}
	return "claude with " + c.Model
}

func (c *Claude) room() int { return 0 }

// args is the command line. The prompt comes on standard input.
func (c *Claude) args(system string) []string {
	args := []string{
		"claude", "-p", "--output-format", "json", "--system-prompt", system,
		"--tools", "", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",
	}
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	return args
}

func (c *Claude) ask(ctx context.Context, system, question string) (answer, error) {
	dir, err := os.MkdirTemp(c.Dir, "judge-")
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	const most = 4 << 20
	result, err := c.Runner.Run(ctx, process.Spec{
		Args: c.args(system), Dir: dir, Env: slices.Clone(c.Env), Stdin: strings.NewReader(question), OutputCap: most,
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
		return answer{}, errors.New("claude is not installed")
	}
	return readClaude(result)
}

// claudeSaid is the object that `claude -p --output-format json` prints.
type claudeSaid struct {
	IsError bool        `json:"is_error"`
	Result  *string     `json:"result"`
	RawCost json.Number `json:"total_cost_usd"`
	Usage   *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
	} `json:"usage"`
	Models map[string]json.RawMessage `json:"modelUsage"`
}

// readClaude takes the answer out of what claude printed. An error may come
// with exit code 0, and then is_error says so.
func readClaude(result process.Result) (answer, error) {
	var said claudeSaid
	if err := json.Unmarshal(result.Stdout, &said); err != nil {
		if result.ExitCode != 0 {
			return answer{}, fmt.Errorf("exit code %d: %s", result.ExitCode, plain.Short(string(result.Stderr), maxProblem))
		}
		return answer{}, errors.New("what claude printed is not its JSON")
	}
	var a answer
	if said.Usage != nil {
		tokens := said.Usage.Input + said.Usage.Output + said.Usage.Written + said.Usage.Read
		a.tokens = &tokens
	}
	if cost, err := metric.ParseValue(said.RawCost.String()); err == nil {
		a.usd = &cost
	}
	a.model = modelOf(said.Models)
	switch {
	case said.IsError || result.ExitCode != 0:
		words := ""
		if said.Result != nil {
			words = *said.Result
		}
		return a, fmt.Errorf("claude failed with exit code %d: %s", result.ExitCode, plain.Short(words, maxProblem))
	case said.Result == nil:
		return a, errors.New("what claude printed has no `result`")
	}
	a.text = *said.Result
	return a, nil
}

// modelOf names the models that took part, in order.
func modelOf(models map[string]json.RawMessage) string {
	var names []string
	for name := range models {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}
