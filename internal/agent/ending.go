package agent

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
)

// maxMessage bounds what a failure repeats of an agent's words, in characters.
const maxMessage = 300

// failure sorts how the agent's process ended, why we ended it (nil when we did not), and
// what it said into the kinds of failure; nil when it did its work.
func (h *Headless) failure(result process.Result, cause error, heard *commandline.Report, timeout time.Duration,
) *Failure {
	said := heard.Problem
	switch ended := badEnd(result, timeout); {
	case result.NotFound:
		return &Failure{Kind: Unavailable, Message: h.agent.Program + " is not installed: " + h.agent.Install}
	case result.Exceeded != "":
		return ended
	case errors.Is(cause, errLimit):
		return &Failure{Kind: Budget, Message: "ended by us: it used more than the program's budget leaves"}
	case said != nil:
	case heard.Done && errors.Is(cause, errFinished), ended == nil:
		return nil
	case result.TimedOut, result.Signal != "":
		return ended
	default:
		words := cmp.Or(lastLine(result.Stderr), lastLine(result.Stdout))
		said = commandline.NewProblem(0, fmt.Sprintf("exit code %d %s", result.ExitCode, words))
	}
	f := &Failure{Kind: said.Kind, Message: said.Message}
	if said.Kind == RateLimit {
		f.RetryAt = said.RetryAt(h.now())
	}
	return f
}

// badEnd is how a process ended, nil when it ended well.
func badEnd(result process.Result, timeout time.Duration) *Failure {
	words := lastLine(result.Stderr)
	switch {
	case result.Exceeded != "":
		return &Failure{Kind: Crashed, Message: "ended by us: " + result.Exceeded}
	case result.OK():
		return nil
	case result.TimedOut:
		return &Failure{Kind: Timeout, Message: fmt.Sprintf("it took longer than %s", timeout)}
	case result.Signal != "":
		return &Failure{Kind: Crashed, Message: fmt.Sprintf("ended by %s %s", result.Signal, words)}
	default:
		const notExecutable, notFound = 126, 127 // of the shell
		return &Failure{
			Kind: Crashed, Message: strings.TrimSpace(fmt.Sprintf("exit code %d %s", result.ExitCode, words)),
			NotStarted: result.ExitCode == notExecutable || result.ExitCode == notFound,
		}
	}
}

// idle explains a tree without a change.
func idle(r *commandline.Report) *Failure {
	if r.Denied != "" {
		return &Failure{Kind: Denied, Message: "a tool that it wanted was refused: " + r.Denied}
	}
	return &Failure{Kind: NothingChanged, Message: "it ended well and changed nothing"}
}
