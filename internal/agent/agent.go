// Package agent is the contract of those who propose changes, a registry that
// finds them by name, and the agents: an outside command, the built-in tuner,
// a model asked directly, and the command lines of other coding agents.
package agent

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/org/autoloop/internal/agent/commandline"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
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
	Limit Limit
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
	// first, and Incumbent the best metric so far, or nil. Earlier is how many
	// iterations before them are left out.
	History   []*history.Decided
	Earlier   int
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

// Limit bounds what one proposal may consume.
type Limit struct {
	// Tokens counts input and output; 0 is no bound.
	Tokens int64
	// CostUSD is in US dollars; nil is no bound.
	CostUSD *metric.Value
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
