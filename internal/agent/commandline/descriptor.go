// Package commandline describes the coding agents that are run by their command
// lines. An agent is one Descriptor in one file: how it is called, what it needs,
// where it keeps what, and two pure functions, the command line and the reader
// of what it prints. Nothing else in the program knows an agent by its name.
package commandline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// Descriptor is what makers of coding agents do differently.
type Descriptor struct {
	// Name is what `agent:` calls it, Program its executable, Install the command
	// that installs it.
	Name, Program, Install string
	// Aliases are what the task files of others call it, in lower case with hyphens.
	Aliases []string
	// Oldest is the first version whose flags and output are those used here.
	Oldest string
	// Keys are variables any one of which lets it log in, Passed others that
	// configure it, such as an endpoint. It gets them, and no other agent does.
	Keys, Passed []string
	// Logins are files below a person's home any one of which lets it log in.
	Logins []Login
	// Private are the paths below a person's home that hold a login or a
	// configuration: isolation hides them, also from the other agents.
	Private []string
	// Skills is the directory of a project in which it looks for skills.
	Skills string
	// Config are globs of the files of a project that configure it; Personal of
	// those among them that are one person's.
	Config, Personal []string
	// Streams says that it prints its whole conversation, an event a line.
	Streams bool
	// Line makes the command line, Read a reader of its output.
	Line func(Task) Invocation
	Read func() Reader
	// Question is how it is asked one question; nil when it cannot be.
	Question *Question
	// Sandboxed says that it has a sandbox of its own, which works only where
	// isolation would, and not within it.
	Sandboxed bool
	// Telemetry is a file below the home that it writes while it works and that
	// its reader gets afterwards, or "".
	Telemetry string
}

// Login is a file below a person's home that lets an agent log in.
type Login struct {
	// Path is below the home, with slashes.
	Path string
	// Members are those of its JSON object that an agent gets, when the file holds
	// more than the login; nil is all of it.
	Members []string
}

// Task is what a command line is made from.
type Task struct {
	Prompt, Model string
	// Home is the agent's HOME.
	Home string
	// MaxCostUSD bounds the cost in US dollars; nil is no bound.
	MaxCostUSD *metric.Value
	// Bare says that the agent's own sandbox would not work here.
	Bare bool
	// Getenv returns the value of one of the agent's own variables, "" when it is
	// not set.
	Getenv func(name string) string
}

// modelled are arguments with the flag that names the model, when one is asked for.
func (t Task) modelled(flag string, args ...string) []string {
	if t.Model == "" {
		return args
	}
	return append(args, flag, t.Model)
}

// Invocation is one command line, ready to run.
type Invocation struct {
	Args []string
	// Env comes after the request's and the agent's own variables, and wins.
	Env []string
	// Stdin is the standard input.
	Stdin string
	// Files are written below the home before it starts, by their slash path.
	Files map[string]string
}

// Table is a list of agents in the order in which people see them.
type Table []Descriptor

// All returns the coding agents of this version. A new agent is a file beside
// this one, and a word here.
func All() Table {
	return Table{Claude(), Codex(), Copilot(), Gemini(), Opencode(), Cursor()}
}

// Names are the names, in order.
func (t Table) Names() (names []string) {
	for _, d := range t {
		names = append(names, d.Name)
	}
	return names
}

// Canonical is the name here of an agent that somebody else's file calls by one of
// its other names; any other text is returned as it is.
func (t Table) Canonical(name string) string {
	asked := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, d := range t {
		if slices.Contains(d.Aliases, asked) {
			return d.Name
		}
	}
	return name
}

// Private are the paths below a person's home that isolation hides.
func (t Table) Private() (all []string) {
	for _, d := range t {
		all = append(all, d.Private...)
	}
	return all
}

// Config are the globs of the files of a project that configure an agent, each once, and of
// those among them that are one person's.
func (t Table) Config() (config, personal []string) {
	for _, d := range t {
		personal = append(personal, d.Personal...)
		for _, glob := range d.Config {
			if !slices.Contains(config, glob) {
				config = append(config, glob)
			}
		}
	}
	return config, personal
}

// Reader makes sense of what an agent prints, one line at a time and while it
// works. Lines are not trusted: whatever they hold, it does not fail.
type Reader interface {
	Out(line []byte) // of standard output, and in the end of the telemetry file
	Err(line []byte) // of standard error
	SoFar() *Report
}

// Report is what is known of an agent's work so far.
type Report struct {
	// Words are its last words, Model the model that it named.
	Words, Model string
	Usage        metric.Usage
	// Problem is the last thing that went wrong; nil when it went on well.
	Problem *Problem
	// Denied names a tool that it wanted and was refused; "" when none was.
	Denied string
	// Done says that its work is over, whether or not its process is.
	Done bool
}

// SoFar returns the report itself, for the readers that embed it.
func (r *Report) SoFar() *Report { return r }

// Err ignores standard error.
func (r *Report) Err([]byte) {}

// tokens counts those of one answer of a model; the cached ones are of the input.
func (r *Report) tokens(input, cached, output int64) {
	count(&r.Usage.InputTokens, input)
	count(&r.Usage.CachedTokens, cached)
	count(&r.Usage.OutputTokens, output)
}

// fail notes what went wrong. How long it asks to wait stays known from an earlier
// problem of the same kind.
func (r *Report) fail(status int, words string, final bool) {
	before := r.Problem
	r.Problem = NewProblem(status, words)
	r.Problem.Final = final
	if before != nil && before.Kind == r.Problem.Kind {
		r.Problem.After = cmp.Or(r.Problem.After, before.After)
	}
}

// FailureKind says why an agent did not do its work.
type FailureKind string

// The kinds of failure that an agent can name.
const (
	Authentication FailureKind = "authentication" // no login, or a refused one
	RateLimit      FailureKind = "rate-limit"     // asked to come back later
	Budget         FailureKind = "budget"         // its own limit of cost or turns
	Crashed        FailureKind = "crashed"        // any other failure

	Unavailable    FailureKind = "unavailable"     // not installed, not configured
	Timeout        FailureKind = "timeout"         // ended by us
	Denied         FailureKind = "denied"          // a tool that it needed was refused
	NothingChanged FailureKind = "nothing-changed" // it ended well and left every file as it was
)

// Problem is what an agent said went wrong.
type Problem struct {
	Kind    FailureKind
	Message string
	// After is how long it asks to wait, At the time until when; zero is unknown.
	After time.Duration
	At    time.Time
	// Final says that waiting for the agent is of no use.
	Final bool
}

// count adds n to a number that is unknown before its first part is known.
func count(total **int64, n int64) { *total = metric.Known(*total, &n) }
