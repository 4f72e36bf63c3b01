package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Maker makes sandboxes.
type Maker struct {
	Runner Runner
	// Environ makes the home dir and returns the whole environment of a process
	// that lives there; names are variables that it may see besides.
	Environ func(home string, names []string) ([]string, error)
	// Offline keeps the commands of checks from the network; it needs a Runner
	// that isolates.
	Offline bool
	// Remove deletes a directory and all below it, also where an agent closed it.
	Remove func(dir string) error
}

// Box is the sandbox of one run of one task.
type Box struct {
	// Dir is the working directory of the agent, Home its home outside of it, and
	// Env its whole environment.
	Dir, Home string
	Env       []string
	// Base is the directory that both are in, and From what the sandbox began with.
	Base string
	From *Template
	// Masker removes secrets from what is kept of a command's output.
	Masker process.Masker

	maker *Maker
	names []string
	root  *os.Root // opened before the agent could exchange anything
}

// Open makes a sandbox in base, which must not exist: what from puts into its directory,
// such as a copy of a template, and a home beside it.
func (m *Maker) Open(ctx context.Context, base string, from func(ctx context.Context, dir string) (*Template, error),
	names []string,
) (b *Box, err error) {
	b = &Box{Dir: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), maker: m, Base: base, names: names}
	if b.From, err = from(ctx, b.Dir); err == nil {
		b.root, err = os.OpenRoot(b.Dir)
	}
	if err == nil {
		b.Env, err = b.environ(b.Home)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// environ is the environment of a process with this home. Git does not take a
// repository above the sandbox for its own.
func (b *Box) environ(home string) ([]string, error) {
	env, err := b.maker.Environ(home, b.names)
	return append(env, "GIT_CEILING_DIRECTORIES="+b.Base), err
}

// Close removes the sandbox with all that is in it.
func (b *Box) Close() error {
	if b.root != nil {
		_ = b.root.Close() // it was only read from
	}
	return b.maker.Remove(b.Base)
}

const (
	// maxChecked bounds a file that a check looks into.
	maxChecked = 16 << 20
	// maxDetail bounds what is shown of a failed check, in characters.
	maxDetail = 400
	// checkOutput bounds what is kept of each stream of a check's command.
	checkOutput = 1 << 20
)

// Check answers a check of a directory of the sandbox: suite.OutputsDir, or "." for all of it and
// for the agent's diff. A command has the time that is left, and a home of its own, so that
// nothing which the agent left in its home counts. The evidence says in one line what was
// seen, took is how long it took. The error is for failures of our own and for the end of
// ctx.
func (b *Box) Check(ctx context.Context, number int, in string, check suite.Check, diff string,
	left time.Duration,
) (passed bool, evidence string, took time.Duration, err error) {
	if ctx.Err() != nil {
		return false, "", 0, context.Cause(ctx)
	}
	root, lost := b.place(in)
	if lost == nil {
		defer root.Close()
	}
	switch name, runs := path.Join(in, check.File), check.Command != ""; {
	case lost != nil && (runs || !errors.Is(lost, fs.ErrNotExist)):
		evidence = strings.TrimPrefix(in+"/: ", "./: ") + files.Cause(lost).Error()
	case runs:
		passed, evidence, took, err = b.runCheck(ctx, number, in, check, left)
	case check.Kind == suite.DiffContains:
		passed, evidence = check.Verdict(suite.Found{Exists: true, Data: []byte(diff)})
	case lost != nil: // the agent removed its outputs
		passed, evidence = check.Verdict(suite.Found{Name: name})
	default:
		passed, evidence = check.Verdict(find(root, name, check.File, in == "."))
	}
	return passed, b.Masker.OneLine(evidence, maxDetail), took, err
}

// find looks at a path below a root without leaving it. A link that leads to nothing is
// there, unless it is followed.
func find(root *os.Root, name, file string, follow bool) suite.Found {
	found := suite.Found{Name: name}
	info, err := root.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := root.Lstat(file); follow || errors.Is(there, fs.ErrNotExist) {
			return found
		}
	}
	found.Exists = err == nil || !follow
	switch {
	case err != nil:
		found.Problem = "it cannot be reached: " + files.Cause(err).Error()
	case !info.Mode().IsRegular():
		found.Problem = "it is no regular file"
	case info.Size() > maxChecked:
		found.Problem = fmt.Sprintf("it has %d bytes, more than %d", info.Size(), maxChecked)
	default:
		file, err := root.OpenFile(file, os.O_RDONLY|files.NonBlocking, 0) // whatever it is by now
		if err == nil {
			defer func() { _ = file.Close() }()
			found.Data, err = io.ReadAll(io.LimitReader(file, maxChecked))
		}
		if err != nil {
			found.Problem = "it cannot be read: " + files.Cause(err).Error()
		}
	}
	return found
}

// runCheck runs the command of a check.
func (b *Box) runCheck(ctx context.Context, number int, in string, check suite.Check, left time.Duration) (passed bool,
	evidence string, took time.Duration, err error,
) {
	if left <= 0 {
		return false, "the task's time was up before it could run", 0, nil
	}
	dir, variables := filepath.Join(b.Dir, in), []string(nil)
	if in == suite.OutputsDir {
		variables = []string{"OUTPUTS_DIR=" + dir}
	}
	result, err := b.command(ctx, fmt.Sprintf("check-%d", number+1), check.Command,
		process.Spec{Dir: dir, Timeout: left, Offline: b.maker.Offline}, variables...)
	if err != nil {
		return false, "", 0, err
	}
	why := verdict(result, check.Fails)
	return why == "", cmp.Or(why, fmt.Sprintf("exit code %d", result.ExitCode)), result.Duration, nil
}

// command runs a shell command in the sandbox, as spec says, with a home of this name and
// variables besides. The error is for failures of our own and for the end of ctx.
func (b *Box) command(ctx context.Context, home, text string, spec process.Spec, variables ...string) (process.Result,
	error,
) {
	env, err := b.environ(filepath.Join(b.Base, home))
	if err != nil {
		return process.Result{}, err
	}
	spec.Args, spec.Env, spec.OutputCap = []string{"sh", "-c", text}, append(env, variables...), checkOutput
	result, err := b.maker.Runner.Run(ctx, spec)
	if err != nil {
		return result, fmt.Errorf("run a command: %w", err)
	}
	if result.Cancelled {
		err = context.Cause(ctx)
	}
	return result, err
}

// verdict says why the end of a command fails the check. A command that was
// killed, timed out, took too much of the machine or was not found has not
// answered the question, whichever answer was hoped for: exit code 0, or another.
func verdict(result process.Result, fails bool) string {
	const notExecutable, notFound, signals, lastSignal = 126, 127, 128, 64 // the shell's own words on a command
	code := result.ExitCode
	said := fmt.Sprintf("exit code %d", code)
	switch {
	case result.TimedOut:
		said = "it was ended: its time was up"
	case result.Exceeded != "":
		said = "it was ended: " + result.Exceeded
	case result.NotFound:
		return "there is no shell `sh` to run it with"
	case result.Signal != "":
		said = "it was ended by " + result.Signal
	case code == notExecutable:
		said += ": the command cannot be executed"
	case code == notFound:
		said += ": the command was not found"
	case code > signals && code <= signals+lastSignal:
		said += fmt.Sprintf(": the command was ended by signal %d", code-signals)
	case fails && code == 0:
		return said + ", where another one is expected"
	case fails, code == 0:
		return ""
	}
	return said + lastWords(result)
}

// lastWords is the last line that a command printed, for people.
func lastWords(result process.Result) string {
	text := cmp.Or(strings.TrimSpace(string(result.Stderr)), strings.TrimSpace(string(result.Stdout)))
	if text == "" {
		return ""
	}
	return ": " + text[strings.LastIndexByte(text, '\n')+1:]
}
