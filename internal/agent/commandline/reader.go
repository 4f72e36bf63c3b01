package commandline

import (
	"cmp"
	"time"

	"github.com/org/autoloop/internal/metric"
)

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
func count(total **int64, n int64) {
	if *total != nil {
		n += **total
	}
	*total = &n
}
