package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite/format"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Maker makes sandboxes.
type Maker struct {
	Runner Runner
	// Masker removes secrets from what is kept of a command's output.
	Masker process.Masker
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
	// Base is the directory that both are in.
	Base string

	maker  *Maker
	masker process.Masker
	names  []string
	from   *Template
	root   *os.Root // opened before the agent could exchange anything
}

// Open makes a sandbox in base, which must not exist: a fresh copy of the
// template, and a home beside it.
func (m *Maker) Open(ctx context.Context, base string, from *Template, names []string) (box *Box, err error) {
	source, err := os.OpenRoot(from.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }()
	b := &Box{
		Dir: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), maker: m, masker: m.Masker,
		Base: base, names: names, from: from,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.root, err = newRoot(b.Dir); err != nil {
		return nil, err
	}
	if err := copyTree(ctx, source, b.root, from.Manifest); err != nil {
		return nil, fmt.Errorf("make a sandbox: %w", err)
	}
	b.Env, err = b.environ(b.Home)
	return b, err
}

// Hide removes more secrets from what is kept of commands, such as those that the
// agent could log in with.
func (b *Box) Hide(secrets process.Masker) { b.masker = b.masker.With(secrets) }

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

// intact reports whether the sandbox's directory is still the one that was made.
func (b *Box) intact() bool {
	ours, err := b.root.Stat(".")
	if err != nil {
		return false
	}
	now, err := os.Lstat(b.Dir)
	return err == nil && os.SameFile(ours, now)
}

const (
	// maxChecked bounds a file that a check looks into.
	maxChecked = 16 << 20
	// maxDetail bounds what is shown of a failed check, in characters.
	maxDetail = 400
	// checkOutput bounds what is kept of each stream of a check's command.
	checkOutput = 1 << 20
)

// Check runs the task's checks in their order, after the agent: commands with a
// home of their own, so that nothing which the agent left in its home counts.
// All of them end within the time that is left. The error is for failures of
// our own and for the end of ctx.
func (b *Box) Check(ctx context.Context, checks []format.Check, diff string,
	left time.Duration,
) ([]format.CheckResult, error) {
	results := make([]format.CheckResult, len(checks))
	for i, check := range checks {
		why, took, err := b.check(ctx, i, check, diff, left)
		if err != nil {
			return nil, err
		}
		left -= took
		results[i] = Result(check, b.masker.String(why))
	}
	return results, nil
}

// Result is how a check ended: it passed when nothing is said against it.
func Result(check format.Check, why string) format.CheckResult {
	name := check.Path
	switch check.Kind {
	case format.CommandCheck, format.TestSuiteCheck:
		name = check.Command
	case format.DiffContains:
		name = check.Substring
	default:
	}
	return format.CheckResult{
		Kind: check.Kind, Name: plain.Short(name, maxDetail),
		Passed: why == "", Detail: plain.Short(why, maxDetail),
	}
}

// check says why a check fails, "" when it passes, and how long it took.
func (b *Box) check(ctx context.Context, number int, check format.Check, diff string,
	left time.Duration,
) (why string, took time.Duration, err error) {
	if ctx.Err() != nil {
		return "", 0, context.Cause(ctx)
	}
	if !b.intact() {
		return "the sandbox's directory was removed or exchanged", 0, nil
	}
	switch check.Kind {
	case format.CommandCheck, format.TestSuiteCheck:
		return b.commandCheck(ctx, number, check, left)
	case format.DiffContains:
		if !strings.Contains(diff, check.Substring) {
			return "the diff does not contain it", 0, nil
		}
		return "", 0, nil
	default:
		return b.fileCheck(check), 0, nil
	}
}

// fileCheck looks at a path through the sandbox's root: a link that leaves it is
// not followed.
func (b *Box) fileCheck(check format.Check) string {
	local := filepath.FromSlash(check.Path)
	info, err := b.root.Stat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case err != nil:
		return "it cannot be looked at inside the sandbox: " + files.Cause(err).Error()
	case check.Kind == format.FileExists:
		return ""
	}
	text, why := readInside(b.root, local, info)
	if why != "" {
		return why
	}
	there := strings.Contains(string(text), check.Substring)
	switch {
	case check.Kind == format.RegexMatch && !check.Pattern.Match(text):
		return fmt.Sprintf("nothing in it matches %v", check.Pattern)
	case check.Kind == format.FileContains && !there:
		return fmt.Sprintf("it does not contain %q", check.Substring)
	case check.Kind == format.FileNotContains && there:
		return fmt.Sprintf("it contains %q", check.Substring)
	}
	return ""
}

// readInside reads a regular file that is reached without leaving a directory, or says why
// it cannot be looked into.
func readInside(root *os.Root, local string, info fs.FileInfo) (data []byte, why string) {
	switch {
	case !info.Mode().IsRegular():
		return nil, "it is no regular file"
	case info.Size() > maxChecked:
		return nil, fmt.Sprintf("it has %d bytes, more than %d", info.Size(), maxChecked)
	}
	file, err := root.OpenFile(local, os.O_RDONLY|files.NonBlocking, 0)
	if err == nil {
		defer func() { _ = file.Close() }()
		if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
			err = errors.New("it is no regular file any more")
		} else {
			data, err = io.ReadAll(io.LimitReader(file, maxChecked))
		}
	}
	if err != nil {
		return nil, "it cannot be read: " + files.Cause(err).Error()
	}
	return data, ""
}

// commandCheck runs a shell command in the sandbox.
func (b *Box) commandCheck(ctx context.Context, number int, check format.Check, left time.Duration) (string,
	time.Duration, error,
) {
	if left <= 0 {
		return "the task's time was up before it could run", 0, nil
	}
	result, err := b.command(ctx, checkHome(number), check.Command,
		process.Spec{Dir: b.Dir, Timeout: left, Offline: b.maker.Offline})
	if err != nil {
		return "", 0, err
	}
	return verdict(result, check.ExpectExitZero || check.Kind == format.TestSuiteCheck), result.Duration, nil
}

func checkHome(number int) string { return fmt.Sprintf("check-%d", number+1) }

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
func verdict(result process.Result, zero bool) string {
	switch {
	case result.TimedOut:
		return fmt.Sprintf("it was ended: the task's time was up%s", lastWords(result))
	case result.Exceeded != "":
		return fmt.Sprintf("it was ended: %s%s", result.Exceeded, lastWords(result))
	case result.NotFound:
		return "there is no shell `sh` to run it with"
	case result.Signal != "":
		return fmt.Sprintf("it was ended by %s%s", result.Signal, lastWords(result))
	case unanswered(result.ExitCode) != "":
		return fmt.Sprintf("exit code %d: %s%s", result.ExitCode, unanswered(result.ExitCode), lastWords(result))
	case zero && result.ExitCode != 0:
		return fmt.Sprintf("exit code %d%s", result.ExitCode, lastWords(result))
	case !zero && result.ExitCode == 0:
		return "exit code 0, where another one is expected"
	default:
		return ""
	}
}

// unanswered says what an exit code means that is the shell's own word on a
// command; "" for a command's own exit code.
func unanswered(code int) string {
	const notExecutable, notFound, signals, lastSignal = 126, 127, 128, 64
	switch {
	case code == notExecutable:
		return "the command cannot be executed"
	case code == notFound:
		return "the command was not found"
	case code > signals && code <= signals+lastSignal:
		return fmt.Sprintf("the command was ended by signal %d", code-signals)
	default:
		return ""
	}
}

// lastWords is the last line that a command printed, for people.
func lastWords(result process.Result) string {
	text := cmp.Or(strings.TrimSpace(string(result.Stderr)), strings.TrimSpace(string(result.Stdout)))
	if text == "" {
		return ""
	}
	return ": " + text[strings.LastIndexByte(text, '\n')+1:]
}
