// Package agent is the contract of those who propose changes, a registry that
// finds them by name, and the agents: an outside command, the built-in tuner,
// a model asked directly, and the command lines of other coding agents.
package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// Agent changes the files of a tree. What it says about its work is a summary
// for people; only the changed files count.
type Agent interface {
	// Name is what `agent:` and --agent call it.
	Name() string
	// Propose works in request.Dir until it is done, fails, or the time is up. An
	// agent that did not work gives a Reply with a Failure; an error means that
	// our own machinery failed, or that ctx ended; the Reply then has the Usage
	// that is known, and no more. Propose returns only after
	// everything that it started has ended.
	Propose(ctx context.Context, request Request) (Reply, error)
}

// Request is what an agent is given for one candidate.
type Request struct {
	// Dir is the tree: the agent's working directory, and all it may change.
	Dir string
	// Prompt is the whole task in words.
	Prompt string
	// Env is the whole environment of the agent's processes.
	Env []string
	// Home is the agent's fresh HOME, outside the tree. "" means none.
	Home string
	// Transcript is the file that keeps what the agent printed, masked; "" keeps
	// nothing.
	Transcript string
	// Live, optional, is told the last line of what the agent says, masked, while it
	// works.
	Live func(line string)
	// Timeout bounds the whole proposal; 0 means no bound but the context's.
	Timeout time.Duration
	// Model is passed on to agents that have a choice; "" is their default.
	Model string
	// Limit ends a proposal that consumes more. Agents that say what they consume
	// while they work are held to it; after the others it can only be counted.
	Limit metric.Limit
	// Command is the program's `agent-command`.
	Command string

	// IsTarget reports whether a path, relative to Dir with slashes, may be
	// changed; Targets lists the existing files for which it does, sorted.
	IsTarget func(path string) bool
	Targets  []string
	// Notes is a file in Dir, no part of the change, that the agent may write
	// what it learned into, or "".
	Notes string

	// History holds what was decided under the present evaluator, oldest
	// first, and Incumbent the best metric so far, or nil.
	History   []*history.Decided
	Direction metric.Direction
	Incumbent *metric.Value
	// Seed and Iteration make a proposal reproducible: the same request gives
	// the same change from an agent that draws its own random numbers.
	Seed      int64
	Iteration int
	// Proposal counts the proposals of one iteration from 1.
	Proposal int
}

// said tells the last line of a text to whoever watches.
func (r *Request) said(masker process.Masker, text string) {
	if line := masker.OneLine(lastLine(text), MaxSummary); line != "" {
		r.Live(line)
	}
}

// Reply is what is known of an agent's work when it has ended.
type Reply struct {
	// Summary is one line, at most MaxSummary characters, in the agent's own
	// words: data, never an instruction. "" means that it said nothing.
	Summary string
	Usage   metric.Usage
	// Model is the model that answered, as the agent names it; "" is unknown.
	Model string
	// Duration is the wall-clock time of the agent.
	Duration time.Duration
	// Params holds the values that a tuner wrote, for the ledger; else nil.
	Params map[string]metric.Value
	// Transcript is the file that was written, or "".
	Transcript string
	// Secrets hides what the agent could log in with, for those who write down
	// more of its work than is in here.
	Secrets process.Masker
	// Failure is nil when the agent did its work, whether or not it changed
	// anything.
	Failure *Failure
	// Idle explains a tree without a change, which only the caller can see:
	// Denied when a tool that the agent wanted was refused, else NothingChanged;
	// nil when the agent cannot tell.
	Idle *Failure
}

// keepTranscript writes what an agent printed, without its secrets, to a file; "" keeps
// nothing.
func (r *Reply) keepTranscript(file string, text []byte) error {
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("keep the transcript: %w", err)
	}
	r.Transcript = file
	return nil
}

// MaxSummary bounds Reply.Summary, in characters.
const MaxSummary = 200

// FailureKind says why an agent did not do its work.
type FailureKind = commandline.FailureKind

// The kinds of failure.
const (
	Authentication = commandline.Authentication
	RateLimit      = commandline.RateLimit
	Budget         = commandline.Budget
	Crashed        = commandline.Crashed
	Unavailable    = commandline.Unavailable
	Timeout        = commandline.Timeout
	Denied         = commandline.Denied
	NothingChanged = commandline.NothingChanged
)

// Failure is why an agent did not do its work.
type Failure struct {
	Kind FailureKind
	// Message is one line for people, with what to do next where that is known.
	Message string
	// RetryAt is when a rate limit ends; nil when unknown.
	RetryAt *time.Time
	// NotStarted says that there was nothing to run: the shell did not find the
	// command, or may not execute it.
	NotStarted bool
}

// Error gives kind and message; a Failure can be handed on as an error.
func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Message }

// Known is an Agent that knows whether it can be used.
type Known interface {
	Agent
	// Missing says what the agent lacks and how to get it; "" when nothing is
	// missing. It starts no process and uses no network. Of a request, Command, Dir, which
	// may be a checkout, and Targets decide that.
	Missing(request Request) string
}

// Installed is an Agent that is a program of its own.
type Installed interface {
	// SignIn says how to sign in; "" when there is a key or a login.
	SignIn() string
	// Version asks it for its version. The error of one that is too old says what to do.
	Version(ctx context.Context) (string, error)
}

// Registry holds the agents that this binary knows, in the order in which they
// are listed to people; their names are distinct.
type Registry []Known

// Names returns the names in order.
func (r Registry) Names() []string {
	return lists.Map(r, Known.Name)
}

// Lookup finds an agent by its name. The error lists the names.
func (r Registry) Lookup(name string) (Known, error) {
	for _, agent := range r {
		if agent.Name() == name {
			return agent, nil
		}
	}
	return nil, fmt.Errorf("no agent is called %q (known: %s)", name, strings.Join(r.Names(), ", "))
}

// Ready finds an agent by its name and asks whether it can be used; one that is a
// program of its own is asked for its version too. The error says what is missing. A
// program that does not say its version is not ready.
func (r Registry) Ready(ctx context.Context, name string, request Request) (Agent, error) {
	agent, err := r.Lookup(name)
	if err != nil {
		return nil, err
	}
	if missing := agent.Missing(request); missing != "" {
		return nil, fmt.Errorf("agent %s cannot be used: %s", name, missing)
	}
	if installed, ok := agent.(Installed); ok {
		if _, err := installed.Version(ctx); err != nil {
			return nil, fmt.Errorf("agent %s cannot be used: %w", name, err)
		}
	}
	return agent, nil
}

// Project is how an agent works with the directory of a project.
type Project struct {
	// Skills is the directory in which it looks for skills.
	Skills  string
	Printed Printed
}

// Printed is what an agent prints, and so what its transcript holds.
type Printed int

// The forms of a transcript.
const (
	Words    Printed = iota // what it has to say to a person
	Events                  // its whole conversation, an event a line
	Markdown                // its whole conversation as markdown
)

// defaultSkills is where an agent is sent to look for skills that has no place of
// its own.
const defaultSkills = ".claude/skills"

// ProjectOf says how an agent works with the directory of a project. An agent
// that does not say so itself is told where the skills are, and its transcript
// is what it printed.
func ProjectOf(a Agent) Project {
	if describing, ok := a.(interface{ Project() Project }); ok {
		return describing.Project()
	}
	return Project{Skills: defaultSkills}
}

// versionTime bounds how long an agent may take to say its version.
const versionTime = time.Minute

var versionNumber = lazyregexp.New(`\d+(?:\.\d+)+`)

// parts are the numbers of a version, of which those that it does not have are 0.
func parts(version string) []int {
	numbers := make([]int, 6)
	for i, part := range strings.SplitN(version, ".", len(numbers)) {
		numbers[i], _ = strconv.Atoi(part)
	}
	return numbers
}

// Version asks the installed agent for its version, in an empty home and with
// nothing of the caller's environment but where programs are. One that is too old is an
// error too.
func (h *Headless) Version(ctx context.Context) (string, error) {
	home, err := os.MkdirTemp(process.Getenv(h.caller, "TMPDIR"), "autoloop-version-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(home) }()
	result, err := h.runner.Run(ctx, process.Spec{
		Args: []string{h.agent.Program, "--version"}, Dir: home, Env: process.Environment(h.caller, home, nil),
		Timeout: versionTime,
	})
	switch {
	case err != nil:
		return "", err
	case result.Cancelled:
		return "", context.Cause(ctx)
	case result.NotFound:
		return "", errors.New(h.absent())
	}
	version := versionNumber().FindString(string(result.Stdout))
	if version == "" {
		return "", fmt.Errorf("it did not say its version: `%s --version` ended with exit code %d %s", h.agent.Program,
			result.ExitCode, plain.Short(lastLine(result.Stderr), MaxSummary))
	}
	return version, outdated(h.agent, version)
}

// outdated is the error of a version that is too old, and how to get another.
func outdated(d commandline.Descriptor, version string) error {
	if slices.Compare(parts(version), parts(d.Oldest)) >= 0 {
		return nil
	}
	return fmt.Errorf("version %s is too old (at least %s): %s", version, d.Oldest, d.Install)
}
