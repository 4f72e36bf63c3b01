package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Command is the agent that runs a program of the user's: the prompt is on its
// standard input and in the file $AUTOLOOP_PROMPT, and it changes the files of
// its working directory. Its last line of output is the summary.
type Command struct {
	Runner Runner
	Masker process.Masker
}

// Name is "command".
func (*Command) Name() string { return "command" }

// Missing says that there is no command to run.
func (*Command) Missing(request Request) string {
	if strings.TrimSpace(request.Command) == "" {
		return "set `agent-command:` in the frontmatter to the command that makes the change"
	}
	return ""
}

// Propose runs the command.
func (c *Command) Propose(ctx context.Context, request Request) (Reply, error) {
	if missing := c.Missing(request); missing != "" {
		return Reply{Failure: &Failure{Kind: Unavailable, Message: missing}}, nil
	}
	prompt := filepath.Join(request.Home, "prompt.md")
	if err := os.WriteFile(prompt, []byte(request.Prompt), 0o600); err != nil {
		return Reply{}, fmt.Errorf("write the prompt: %w", err)
	}
	env := append(slices.Clone(request.Env),
		"AUTOLOOP_PROMPT="+prompt, "AUTOLOOP_MODEL="+request.Model,
		fmt.Sprintf("AUTOLOOP_ITERATION=%d", request.Iteration),
		fmt.Sprintf("AUTOLOOP_PROPOSAL=%d", max(request.Proposal, 1)))
	spec := process.Spec{
		Args: []string{"sh", "-c", request.Command}, Dir: request.Dir, Env: env,
		Stdin: strings.NewReader(request.Prompt), Timeout: request.Timeout,
	}
	if request.Live != nil {
		said := func(line []byte) { request.said(c.Masker, string(line)) }
		spec.Stdout, spec.Stderr = &lines{hear: said}, &lines{hear: said}
	}
	result, err := c.Runner.Run(ctx, spec)
	if err != nil {
		return Reply{}, fmt.Errorf("run the agent's command: %w", err)
	}
	if result.Cancelled {
		return Reply{}, context.Cause(ctx)
	}
	result = c.Masker.Result(result)
	reply := Reply{
		Duration: result.Duration, Summary: c.Masker.OneLine(lastLine(result.Stdout), MaxSummary),
		Secrets: c.Masker, Failure: badEnd(result, request.Timeout),
	}
	if reply.Failure != nil {
		reply.Failure.Message = c.Masker.OneLine(reply.Failure.Message, maxMessage)
	}
	return reply, reply.keepTranscript(request.Transcript, slices.Concat(result.Stdout, result.Stderr))
}

// lastLine is the last line that has text, as it was printed.
func lastLine[T string | []byte](text T) string {
	trimmed := strings.TrimSpace(string(text))
	return trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
}
