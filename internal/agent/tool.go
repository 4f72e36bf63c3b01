package agent

import (
	"slices"
	"time"

	"github.com/org/autoloop/internal/process"
)

// tool is one coding agent's command line: what it is called, what it needs,
// and two pure functions, the command line and the reader of what it prints.
type tool struct {
	// name is what `agent:` calls it, program its executable, install the command
	// that installs it.
	name, program, install string
	// oldest is the first version whose flags and output are those used here.
	oldest string
	// keys are variables any one of which lets it log in, passed others that
	// configure it, such as an endpoint. It gets them, and no other agent does.
	keys, passed []string
	// logins are files below a person's home any one of which lets it log in.
	logins []login
	// line makes the command line, read a reader of its output.
	line func(ask) line
	read func() reader
	// sandboxed says that it has a sandbox of its own, which works only where
	// isolation would, and not within it.
	sandboxed bool
	// telemetry is a file below the home that it writes while it works and that
	// its reader is told afterwards; "" is none.
	telemetry string
}

// ask is what a command line is made from.
type ask struct {
	prompt, model string
	// home is the agent's HOME.
	home  string
	limit Limit
	// bare says that its own sandbox would not work here.
	bare bool
	// own holds the tool's keys and passed variables that are set, NAME=value.
	own []string
}

// get is the value of one of the tool's own variables.
func (a ask) get(name string) string { return process.Getenv(a.own, name) }

// line is one command line, ready to run.
type line struct {
	args []string
	// env comes after the request's and the tool's own variables, and wins.
	env []string
	// stdin is the standard input.
	stdin string
	// files are written below the home before it starts, by their slash path.
	files map[string]string
}

// reader makes sense of what an agent prints, one line at a time and while it
// works. Lines are not trusted: whatever they hold, it does not fail.
type reader interface {
	out(line []byte)  // of standard output
	errs(line []byte) // of standard error
	told(line []byte) // of the telemetry file
	soFar() *report
}

// report is what is known of an agent's work so far.
type report struct {
	// words are its last words, model the model that it named.
	words, model string
	usage        Usage
	// problem is the last thing that went wrong; nil when it went on well.
	problem *problem
	// denied names a tool that it wanted and was refused; "" is none.
	denied string
	// done says that its work is over, whether or not its process is.
	done bool
}

func (r *report) soFar() *report { return r }
func (r *report) errs([]byte)    {}
func (r *report) told([]byte)    {}

// problem is what an agent said went wrong.
type problem struct {
	kind    FailureKind
	message string
	// after is how long it asks to wait, at the time until when; zero is unknown.
	after time.Duration
	at    time.Time
	// final says that waiting for the agent is of no use.
	final bool
}

// commandLines are the coding agents that are run by their command lines.
func commandLines() []tool {
	return []tool{claude(), codex(), copilot(), gemini(), opencode(), cursor()}
}

// ownVariables picks the tool's variables from the caller's environment.
func (t *tool) ownVariables(caller []string) []string {
	var own []string
	for _, name := range slices.Concat(t.keys, t.passed) {
		if value := process.Getenv(caller, name); value != "" {
			own = append(own, name+"="+value)
		}
	}
	return own
}

// count adds n to a number that is unknown before its first part is known.
func count[N int | int64](total **N, n N) {
	sum := n
	if *total != nil {
		sum += **total
	}
	*total = &sum
}
