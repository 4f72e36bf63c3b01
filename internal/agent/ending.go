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

// ending is how an agent's process ended.
type ending struct {
	result process.Result
	// cause is why we ended it; nil when we did not.
	cause error
	now   time.Time
}

// failure sorts how it ended and what it said into the kinds of failure; nil
// when it did its work.
func (e ending) failure(d *commandline.Descriptor, heard *commandline.Report, timeout time.Duration) *Failure {
	result := &e.result
	switch {
	case result.NotFound:
		return &Failure{Kind: Unavailable, Message: d.Program + " is not installed: " + d.Install}
	case result.Exceeded != "":
		return &Failure{Kind: Crashed, Message: "ended by us: " + result.Exceeded}
	case errors.Is(e.cause, errLimit):
		return &Failure{Kind: Budget, Message: "ended by us: it used more than the program's budget leaves"}
	case heard.Problem != nil:
		return e.said(heard.Problem)
	case heard.Done && errors.Is(e.cause, errFinished), result.OK():
		return nil
	case result.TimedOut:
		return &Failure{Kind: Timeout, Message: fmt.Sprintf("it took longer than %s", timeout)}
	case result.Signal != "":
		return &Failure{Kind: Crashed, Message: fmt.Sprintf("ended by %s %s", result.Signal, lastLine(result.Stderr))}
	default:
		words := cmp.Or(lastLine(result.Stderr), lastLine(result.Stdout))
		return e.said(commandline.NewProblem(0,
			strings.TrimSpace(fmt.Sprintf("exit code %d %s", result.ExitCode, words))))
	}
}

// said makes a failure of what the agent said.
func (e ending) said(p *commandline.Problem) *Failure {
	f := &Failure{Kind: p.Kind, Message: p.Message}
	if p.Kind == RateLimit {
		f.RetryAt = p.RetryAt(e.now)
	}
	return f
}

// idle explains a tree without a change.
func idle(r *commandline.Report) *Failure {
	if r.Denied != "" {
		return &Failure{Kind: Denied, Message: "a tool that it wanted was refused: " + r.Denied}
	}
	return &Failure{Kind: NothingChanged, Message: "it ended well and changed nothing"}
}
