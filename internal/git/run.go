package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// Input is what a call gets besides its arguments. The zero value is right for
// most calls.
type Input struct {
	Stdin []byte
	// Env is added to the environment, as NAME=value (GIT_INDEX_FILE and the
	// like); it wins over what Run sets.
	Env []string
	// Settings are configuration for this call.
	Settings []Setting
	// WorkTree replaces the user's work tree, in which the call works.
	WorkTree string
	// Transport keeps those variables of the user's environment that say how to
	// reach a remote (GIT_SSH_COMMAND, GIT_ASKPASS, …).
	Transport bool
}

// Run is RunWith for a command that needs nothing but its arguments.
func (r *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.RunWith(ctx, Input{}, args...)
}

// RunWith runs git on this repository and returns its standard output. Variables
// GIT_* of the environment, hooks, monitors, filters, pagers, prompts and
// signing are out of play; pathspecs are literal. An exit code other than 0 is
// an *Error.
func (r *Repo) RunWith(ctx context.Context, in Input, args ...string) ([]byte, error) {
	settings, err := r.neutral(ctx, args)
	if err != nil {
		return nil, err
	}
	in.Settings = append(settings, in.Settings...)
	in.WorkTree = cmp.Or(in.WorkTree, r.Root)
	global := []string{"--git-dir=" + r.GitDir, "--work-tree=" + in.WorkTree}
	if args[0] == "check-ignore" { // it refuses the --literal-pathspecs of every call
		global = append(global, "--no-literal-pathspecs")
	}
	return r.execute(ctx, in, global, args...)
}

// Maintain packs loose objects once they are many, as git does by itself where it is
// not told otherwise.
func (r *Repo) Maintain(ctx context.Context) error {
	_, err := r.Run(ctx, "-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "-c",
		"maintenance.autoDetach=false", "maintenance", "run", "--auto", "--quiet")
	return err
}

// line is what a command printed that prints one line.
func line(out []byte, err error) (string, error) {
	return strings.TrimSuffix(string(out), "\n"), err
}

// SaysNo reports whether an error is the exit code 1 by which many commands of git
// say no.
func SaysNo(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.ExitCode == 1
}

// execute runs git in in.WorkTree, without the settings that Run adds.
func (r *Repo) execute(ctx context.Context, in Input, global []string, args ...string) ([]byte, error) {
	env := append(r.env.of(r.Identity, slices.Concat(r.Settings, in.Settings), in.Transport), in.Env...)
	out, err := process.Output(ctx, in.WorkTree, env, bytes.NewReader(in.Stdin),
		slices.Concat([]string{"git"}, fixedArguments(), global, args)...)
	if errors.Is(err, process.ErrNotFound) {
		return nil, ErrNoGit
	}
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return out, &Error{Args: args, ExitCode: exit.Code, Stderr: string(exit.Stderr)}
	}
	return out, err
}

// records are the parts of an output that end with NUL, without empty ones.
func records(out []byte) iter.Seq[string] {
	return strings.FieldsFuncSeq(string(out), func(c rune) bool { return c == 0 })
}

// Setting is one line of git configuration, such as
// {"http.extraHeader", "…"}.
type Setting struct{ Key, Value string }

// fixedArguments begin every call: whatever the repository, the user and the
// system configure, these hold.
func fixedArguments() []string {
	args := []string{"--no-pager", "--literal-pathspecs"}
	for _, s := range []string{
		// Nothing of the repository's is executed.
		"core.hooksPath=/dev/null",
		"core.fsmonitor=false",
		"core.pager=cat",
		"core.alternateRefsCommand=",
		"log.showSignature=false",
		"commit.gpgSign=false",
		"tag.gpgSign=false",
		"push.gpgSign=false",
		// Nothing but the command itself happens.
		"gc.auto=0",
		"maintenance.auto=false",
		"fetch.recurseSubmodules=false",
		"push.recurseSubmodules=no",
		"submodule.recurse=false",
		"advice.detachedHead=false",
		// Trees are whole, and the same on every machine.
		"core.fileMode=true",
		"core.sparseCheckout=false",
		"core.splitIndex=false",
		"core.untrackedCache=false",
		"core.autocrlf=false",
		"core.safecrlf=false",
		"core.attributesFile=/dev/null",
		"core.protectHFS=true",
		// Output is as it is parsed.
		"core.quotePath=false",
		"color.ui=false",
		"i18n.commitEncoding=UTF-8",
		"i18n.logOutputEncoding=UTF-8",
	} {
		args = append(args, "-c", s)
	}
	return args
}
