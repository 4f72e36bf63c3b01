package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/org/autoloop/internal/plain"
)

const (
	// errorCap bounds how much standard error an ExitError carries.
	errorCap = 64 << 10
	// pipeDelay is how long pipes may stay open after the process is gone.
	pipeDelay = 2 * time.Second
)

// ExitError says that a program ended with a failure.
type ExitError struct {
	// Args is the command line, Args[0] the program as it was asked for.
	Args []string
	// Code is the exit code, -1 when a signal ended the program.
	Code int
	// Stderr is the end of its standard error, at most 64 KiB.
	Stderr []byte
}

// Error gives the program, its code and the last line of its standard error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("%s: exit code %d", filepath.Base(e.Args[0]), e.Code)
	if line := lastLine(e.Stderr); line != "" {
		text += ": " + line
	}
	return text
}

// Output runs a quick program in dir, without a supervisor, and returns its
// whole standard output. The environment is env alone; a nil stdin is empty.
// A failure is an *ExitError (the output is returned beside it), or the
// context's error when that ended the program. The program is told to end when
// our own process is gone.
func Output(ctx context.Context, dir string, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	path, err := LookPath(args[0], dir, env)
	if err != nil {
		return nil, err
	}
	// The signal on a parent's death belongs to the thread that forked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var stdout bytes.Buffer
	stderr := &tail{most: errorCap}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = args
	cmd.Dir = dir
	cmd.Env = append([]string{}, env...) // os/exec inherits nothing when it is empty
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, stderr
	cmd.WaitDelay, cmd.SysProcAttr = pipeDelay, ownGroup()
	cmd.Cancel = func() error { signalGroup(cmd.Process, syscall.SIGKILL); return nil }
	err = cmd.Run()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return stdout.Bytes(), fmt.Errorf("%s: %w", filepath.Base(args[0]), cause)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return stdout.Bytes(), &ExitError{Args: args, Code: exit.ExitCode(), Stderr: stderr.Bytes()}
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return stdout.Bytes(), fmt.Errorf("run %s: %w", filepath.Base(args[0]), err)
	}
	return stdout.Bytes(), nil
}

// lastLine returns the last line that has text, on one line and bounded.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return plain.Short(lines[len(lines)-1], 300)
}
