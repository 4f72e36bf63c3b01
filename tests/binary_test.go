package tests

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/agent/models/client"
	"github.com/org/autoloop/internal/cli"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/process"
)

// answer is what a binary printed and how it ended.
type answer struct {
	stdout, stderr string
	code           int
}

// binary does what one of the binaries does, in the process of the tests: the binary
// itself is for signals, terminals, permissions, kills and the release build. Agents
// and evaluations are supervised by the binary as ever.
func (w *project) binary(binary string, args ...string) answer {
	w.t.Helper()
	if w.separate {
		return w.process(binary, args...)
	}
	return inProcess(w.t.Context(), binary, cli.Env{
		Args: args, Step: actions.Step{Dir: w.dir, Environ: w.environ()}, Now: time.Now,
	})
}

// inProcess does what one of the binaries does with these arguments, there and then.
func inProcess(ctx context.Context, binary string, env cli.Env) answer {
	work := cli.Scheduler
	if binary == "iterate" {
		work = cli.Iterate((&client.Client{}).Complete, "org/autoloop")
	}
	var stdout, stderr bytes.Buffer
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &stdout, &stderr
	env.Sleep = api.Sleep
	env.Getenv = func(name string) string { return process.Getenv(env.Environ, name) }
	env.Root, env.Executable = os.Geteuid() == 0, filepath.Join(binaries, "iterate")
	code := work(ctx, env)
	return answer{stdout.String(), stderr.String(), code}
}

// ok is binary for what must succeed.
func (w *project) ok(binary string, args ...string) answer {
	w.t.Helper()
	a := w.binary(binary, args...)
	require.Zero(w.t, a.code, "%v: %s%s", args, a.stdout, a.stderr)
	return a
}

// environ has each variable once, as a process has them.
func (w *project) environ() []string { return (&exec.Cmd{Dir: w.dir, Env: w.env}).Environ() }

// process runs one of the binaries in the repository.
func (w *project) process(binary string, args ...string) answer {
	w.t.Helper()
	return w.answer(w.command(binary, args...))
}

// command prepares one of the binaries in the repository.
func (w *project) command(binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), filepath.Join(binaries, binary), args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// answer runs a prepared binary.
func (w *project) answer(cmd *exec.Cmd) answer {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.t, err)
	}
	a := answer{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	require.NotContains(w.t, a.stderr, "panic:", "no input may end in a panic")
	return a
}
