package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/files"
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
func (h *Headless) Missing(request Request) string {
	if _, err := process.LookPath(h.agent.Program, request.Dir, h.caller); err != nil {
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
	if missing := h.Missing(request); missing != "" {
		return Reply{Failure: &Failure{Kind: Unavailable, Message: missing}}, nil
	}
	own := ownVariables(&h.agent, h.caller)
	line := h.agent.Line(commandline.Task{
		Prompt: request.Prompt, Model: request.Model, Home: request.Home, MaxCostUSD: request.Limit.CostUSD,
		Bare:   h.bare(ctx, request),
		Getenv: func(name string) string { return process.Getenv(own, name) },
	})
	for name, text := range line.Files {
		if err := files.WritePrivate(filepath.Join(request.Home, name), []byte(text)); err != nil {
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
	reply.Usage.CostUSD = cmp.Or(reply.Usage.CostUSD, Price(reply.Model, reply.Usage))
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

// maxLogin bounds a login file, in bytes.
const maxLogin = 1 << 20

// loginCopy is a login file that a person has, copied into an agent's home.
type loginCopy struct {
	commandline.Login
	theirs, copy string // files
	before       []byte
}

// hasLogin reports whether a person has one of the agent's login files.
func hasLogin(d *commandline.Descriptor, home string) bool {
	return home != "" && slices.ContainsFunc(d.Logins, func(l commandline.Login) bool {
		_, err := readLogin(filepath.Join(home, l.Path))
		return err == nil
	})
}

// copyLogins copies what the agent needs of a person's logins; secrets are the values in them
// that no output may show.
func copyLogins(d *commandline.Descriptor, from, to string) (copies []loginCopy, secrets []string, err error) {
	if from == "" || from == to {
		return nil, nil, nil
	}
	for _, l := range d.Logins {
		c := loginCopy{Login: l, theirs: filepath.Join(from, l.Path), copy: filepath.Join(to, l.Path)}
		c.before, err = readLogin(c.theirs)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the login of %s: %w", d.Name, err)
		}
		if err := files.WritePrivate(c.copy, pick(l, c.before)); err != nil {
			return nil, nil, fmt.Errorf("copy the login of %s: %w", d.Name, err)
		}
		copies, secrets = append(copies, c), append(secrets, process.SecretsIn(c.before)...)
	}
	return copies, secrets, nil
}

// pick is what is copied of a file: of what is no JSON object nothing, where members are named.
func pick(l commandline.Login, text []byte) []byte {
	if l.Members == nil {
		return text
	}
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(text, &all)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !slices.Contains(l.Members, name) })
	text, _ = json.Marshal(all) // it was read from JSON
	return text
}

// takeBack removes the copies. A login that the agent renewed is put back: its
// server may have made the old one worthless. Only a whole JSON object with the
// members of before is a renewed login, and only where nobody else renewed it.
func takeBack(copies []loginCopy) error {
	var problems []error
	for _, c := range copies {
		after, lost := readLogin(c.copy)
		now, gone := readLogin(c.theirs)
		if lost == nil && gone == nil && bytes.Equal(now, c.before) && c.Members == nil && renewed(c.before, after) {
			problems = append(problems, files.WriteFile(c.theirs, after, 0o600))
		}
		if err := os.Remove(c.copy); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func renewed(before, after []byte) bool {
	var old, fresh map[string]json.RawMessage
	if bytes.Equal(before, after) || json.Unmarshal(before, &old) != nil || json.Unmarshal(after, &fresh) != nil {
		return false
	}
	for name := range old {
		if _, kept := fresh[name]; !kept {
			return false
		}
	}
	return true
}

func readLogin(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLogin {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", file, maxLogin)
	}
	return os.ReadFile(file)
}
