package git

import (
	"context"
	"errors"
	"strings"
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
	// WorkTree replaces the user's work tree; Dir is the working directory and
	// defaults to the work tree.
	WorkTree, Dir string
	// GitDir replaces the repository's git directory.
	GitDir string
	// Transport keeps those variables of the user's environment that say how to
	// reach a remote (GIT_SSH_COMMAND, GIT_ASKPASS, …).
	Transport bool
}

// Run runs git on this repository and returns its standard output. Variables
// GIT_* of the environment, hooks, monitors, filters, pagers, prompts and
// signing are out of play; pathspecs are literal. An exit code other than 0 is
// an *Error.
func (r *Repo) Run(ctx context.Context, in Input, args ...string) ([]byte, error) {
	workTree, gitDir := r.Root, r.GitDir
	if in.WorkTree != "" {
		workTree = in.WorkTree
	}
	if in.GitDir != "" {
		gitDir = in.GitDir
	}
	dir := workTree
	if in.Dir != "" {
		dir = in.Dir
	}
	neutral, err := r.configuration().neutralised(ctx)
	if err != nil {
		return nil, err
	}
	return r.execute(ctx, call{
		dir:       dir,
		global:    append(pathspecs(args), "--git-dir="+gitDir, "--work-tree="+workTree),
		args:      args,
		stdin:     in.Stdin,
		env:       in.Env,
		settings:  append(neutral, in.Settings...),
		transport: in.Transport,
	})
}

// pathspecs lifts the fixed --literal-pathspecs where a command refuses it.
func pathspecs(args []string) []string {
	if len(args) > 0 && args[0] == "check-ignore" {
		return []string{"--no-literal-pathspecs"}
	}
	return nil
}

// Maintain packs loose objects once they are many, as git does by itself where it is
// not told otherwise.
func (r *Repo) Maintain(ctx context.Context) error {
	_, err := r.Run(ctx, Input{}, "-c", "gc.auto=6700", "-c", "gc.autoDetach=false", "-c",
		"maintenance.autoDetach=false", "maintenance", "run", "--auto", "--quiet")
	return err
}

// Succeeds runs a command whose exit code 1 means no. Any other failure is an
// error.
func (r *Repo) succeeds(ctx context.Context, in Input, args ...string) (bool, error) {
	_, err := r.Run(ctx, in, args...)
	if err == nil {
		return true, nil
	}
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return false, nil
	}
	return false, err
}

// line runs a command that prints one line.
func (r *Repo) line(ctx context.Context, in Input, args ...string) (string, error) {
	out, err := r.Run(ctx, in, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

type call struct {
	dir       string
	global    []string
	args      []string
	stdin     []byte
	env       []string
	settings  []Setting
	transport bool
}

func (r *Repo) execute(ctx context.Context, c call) ([]byte, error) {
	args := append(fixedArguments(), c.global...)
	args = append(args, c.args...)
	settings := append(append([]Setting(nil), r.extra...), c.settings...)
	env := r.env.of(r.Identity, settings, c.transport)
	env = append(env, c.env...)
	stdout, stderr, code, err := start(ctx, c.dir, env, c.stdin, args)
	if err != nil {
		return nil, err
	}
	if code != 0 {
		return stdout, &Error{Args: c.args, ExitCode: code, Stderr: stderr}
	}
	return stdout, nil
}
