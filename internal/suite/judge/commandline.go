package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
)

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

// isHere reports whether the agent is in PATH.
func (c *CommandLine) isHere() bool {
	_, err := process.LookPath(c.Agent.Program, c.Dir, c.Env)
	return err == nil
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
