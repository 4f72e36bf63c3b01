package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/process"
)

// Headless is a coding agent of another maker, run by its command line without
// a person. Everything that the makers do differently is in its descriptor.
type Headless struct {
	agent  commandline.Descriptor
	runner Runner
	caller []string
	now    func() time.Time
	linger time.Duration
}

// linger is how long an agent that has finished its work may take to end.
const linger = 15 * time.Second

// CommandLines returns the agents of a table of coding agents that are run by
// their command lines. Their keys and logins come from caller, the environment of the person or
// workflow that runs us; now tells when a rate limit ends.
func CommandLines(descriptors commandline.Table, runner Runner, caller []string, now func() time.Time) Registry {
	var agents Registry
	for _, one := range descriptors {
		agents = append(agents, &Headless{agent: one, runner: runner, caller: caller, now: now, linger: linger})
	}
	return agents
}

// Name is what `agent:` calls it.
func (h *Headless) Name() string { return h.agent.Name }

// Project says where it looks for skills and what it prints.
func (h *Headless) Project() Project {
	printed := Words
	if h.agent.Streams {
		printed = Events
	}
	return Project{Skills: h.agent.Skills, Printed: printed}
}

// Missing says that the agent is not installed or has no login. It starts no
// process; Version does.
func (h *Headless) Missing(s Situation) string {
	if _, err := process.LookPath(h.agent.Program, s.Dir, h.caller); err != nil {
		return h.absent()
	}
	return h.SignIn()
}

// absent says that the agent is not installed.
func (h *Headless) absent() string { return h.agent.Program + " is not installed: " + h.agent.Install }

// SignIn says how to sign in to the agent; "" when there is a key or a login.
// Whether they are accepted is known only when it works.
func (h *Headless) SignIn() string {
	hasKey := slices.ContainsFunc(h.agent.Keys, func(name string) bool { return process.Getenv(h.caller, name) != "" })
	if hasKey || hasLogin(&h.agent, process.Getenv(h.caller, "HOME")) {
		return ""
	}
	return fmt.Sprintf("no key and no login: set %s, or log in with %s",
		strings.Join(h.agent.Keys[:min(len(h.agent.Keys), 3)], " or "), h.agent.Program)
}

// Propose runs the agent in the tree.
func (h *Headless) Propose(ctx context.Context, request Request) (reply Reply, err error) {
	if missing := h.Missing(Situation{Dir: request.Dir}); missing != "" {
		return Reply{Failure: &Failure{Kind: Unavailable, Message: missing}}, nil
	}
	own := ownVariables(&h.agent, h.caller)
	line := h.agent.Line(commandline.Task{
		Prompt: request.Prompt, Model: request.Model, Home: request.Home, MaxCostUSD: request.Limit.CostUSD,
		Bare:   h.bare(ctx, request),
		Getenv: func(name string) string { return process.Getenv(own, name) },
	})
	for name, text := range line.Files {
		if err := writePrivate(filepath.Join(request.Home, filepath.FromSlash(name)), []byte(text)); err != nil {
			return Reply{}, fmt.Errorf("prepare the agent's home: %w", err)
		}
	}
	logins, secrets, err := copyLogins(&h.agent, process.Getenv(h.caller, "HOME"), request.Home)
	if err != nil {
		return Reply{}, err
	}
	defer func() { err = errors.Join(err, takeBack(logins)) }()
	masker := process.NewMasker(h.caller, secrets...)
	watching, end := context.WithCancelCause(ctx)
	defer end(nil)
	watch := &watch{reader: h.agent.Read(), limit: request.Limit, linger: h.linger, end: end}
	if request.Live != nil {
		watch.words = func(words string) { request.said(masker, words) }
	}
	result, err := h.runner.Run(watching, process.Spec{
		Args: line.Args, Dir: request.Dir, Env: slices.Concat(request.Env, own, line.Env),
		Stdin: strings.NewReader(line.Stdin), Timeout: request.Timeout,
		Stdout: watch.stream(commandline.Reader.Out), Stderr: watch.stream(commandline.Reader.Err),
	})
	if err != nil {
		return Reply{}, fmt.Errorf("run %s: %w", h.agent.Name, err)
	}
	watch.finish(request.Home, h.agent.Telemetry)
	heard := watch.reader.SoFar()
	reply = Reply{
		Usage: heard.Usage, Model: cmp.Or(masker.OneLine(heard.Model, MaxSummary), request.Model), Secrets: masker,
	}
	if reply.Usage.CostUSD == nil {
		reply.Usage.CostUSD = Price(reply.Model, reply.Usage)
	}
	if result.Cancelled && ctx.Err() != nil {
		return reply, context.Cause(ctx)
	}
	result = masker.Result(result)
	reply.Summary, reply.Duration = masker.OneLine(heard.Words, MaxSummary), result.Duration
	reply.Failure = h.failure(result, context.Cause(watching), heard, request.Timeout)
	if reply.Failure == nil {
		reply.Idle = idle(heard)
	}
	for _, failure := range []*Failure{reply.Failure, reply.Idle} {
		if failure != nil {
			failure.Message = masker.OneLine(failure.Message, maxMessage)
		}
	}
	printed := result.Stdout
	if len(result.Stderr) > 0 {
		printed = slices.Concat(printed, []byte("\n--- standard error ---\n"), result.Stderr)
	}
	return reply, reply.keepTranscript(request.Transcript, printed)
}

// ownVariables picks an agent's variables from the caller's environment.
func ownVariables(d *commandline.Descriptor, caller []string) []string {
	var own []string
	for _, name := range slices.Concat(d.Keys, d.Passed) {
		if value := process.Getenv(caller, name); value != "" {
			own = append(own, name+"="+value)
		}
	}
	return own
}

// bare reports whether the agent's own sandbox would not work: within ours, and
// on a system that lets nobody make one.
func (h *Headless) bare(ctx context.Context, request Request) bool {
	if !h.agent.Sandboxed || runtime.GOOS != "linux" {
		return false
	}
	runner, ours := h.runner.(*process.Runner)
	return ours && (runner.Isolation != nil || runner.ProbeIsolation(ctx, request.Home, request.Env).Isolation == nil)
}

// maxMessage bounds what a failure repeats of an agent's words, in characters.
const maxMessage = 300

// failure sorts how the agent's process ended, why we ended it (nil when we did not), and
// what it said into the kinds of failure; nil when it did its work.
func (h *Headless) failure(result process.Result, cause error, heard *commandline.Report, timeout time.Duration,
) *Failure {
	said := heard.Problem
	switch ended := badEnd(result, timeout); {
	case result.NotFound:
		return &Failure{Kind: Unavailable, Message: h.absent()}
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
