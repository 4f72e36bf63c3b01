package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

const (
	// defaultGrace is the time between asking a command to end and killing it.
	defaultGrace = 2 * time.Second
	// killTime bounds how long killing may take before it is given up.
	killTime = 5 * time.Second
	// nudge is how often a supervisor is woken, should the command have stopped it.
	nudge = time.Second
)

// supervisorName is the name (argument 0) under which our own binary is started
// as a supervisor.
const supervisorName = "autoloop-supervisor"

// Runner runs commands under supervision. Its methods may be used by several
// goroutines at once; their commands are kept apart.
type Runner struct {
	// Executable is the absolute path of our own binary, whose main function
	// calls Supervise first. "" runs without a supervisor: then only the
	// command's process group is ended.
	Executable string
	// Isolation keeps commands apart from the rest of the system; nil does not.
	Isolation *Isolation
	// Grace is the time between SIGTERM and SIGKILL; 0 is two seconds.
	Grace time.Duration
	// Processes is how many processes a supervised command may have, Memory how
	// many bytes; 0 is 4096 processes, and four fifths of the machine's memory.
	Processes int
	Memory    int64

	ungrouped bool // no control groups, as on a system that gives none

	sweeping sync.Mutex // one sweep of orphans at a time
}

// NewRunner returns a Runner that supervises where the system can.
func NewRunner() *Runner { return &Runner{Executable: self()} }

// Run runs a command until it has ended and none of its processes is left. How
// it ended is the Result, also when it failed, was not found, timed out or was
// cancelled; an error means that it could not be run or supervised.
func (r *Runner) Run(ctx context.Context, spec Spec) (Result, error) {
	if err := spec.check(); err != nil {
		return Result{}, err
	}
	dir, err := filepath.Abs(spec.Dir)
	if err != nil {
		return Result{}, err
	}
	spec.Dir = dir
	path, err := LookPath(spec.Args[0], spec.Dir, spec.Env)
	if errors.Is(err, ErrNotFound) {
		return Result{ExitCode: 127, NotFound: true, Stderr: []byte(err.Error() + "\n")}, nil
	}
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Cancelled: true}, nil
	}
	// The signal on a parent's death belongs to the thread that forked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	begin := time.Now()
	var result Result
	switch {
	case spec.Offline && r.Isolation == nil:
		err = errOffline
	case r.Executable == "" && r.Isolation != nil:
		err = errors.New("isolation needs a supervisor, which this program was not given")
	case r.Executable == "":
		result, err = r.plain(ctx, &spec, path)
	default:
		result, err = r.supervised(ctx, &spec, path)
	}
	result.Duration = time.Since(begin)
	if err != nil {
		return result, fmt.Errorf("run %s: %w", spec.Args[0], err)
	}
	return result, nil
}

func (r *Runner) grace() time.Duration {
	if r.Grace > 0 {
		return r.Grace
	}
	return defaultGrace
}

// plain runs the command as our own child, in a process group of its own.
func (r *Runner) plain(ctx context.Context, spec *Spec, path string) (Result, error) {
	cmd := exec.Command(path) //nolint:noctx // It is ended in the order of waitFor.
	cmd.Args, cmd.Dir, cmd.Env = spec.Args, spec.Dir, explicit(spec.Env)
	ownGroup(cmd)
	cmd.Cancel = nil
	pipes, err := startWith(cmd, spec)
	if err != nil {
		return Result{}, err
	}
	group := cmd.Process
	why := waitFor(ctx, cmd, ending{
		timeout:   spec.Timeout,
		patience:  r.grace(),
		terminate: func() { terminateGroup(group) },
		kill:      func() { killGroup(group) },
	})
	killGroup(group)
	result := pipes.finish()
	result.ExitCode, result.Signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	result.TimedOut, result.Cancelled = why == byTimeout, why == byContext
	return result, nil
}

type cause int

const (
	byItself cause = iota
	byTimeout
	byContext
)

// ending is how a process is ended: asked first, killed when patience is over,
// woken now and then (nil: not at all).
type ending struct {
	timeout, patience     time.Duration
	terminate, kill, wake func()
}

// waitFor waits for the process of cmd, ending it when its time is up or the
// context is done. It returns when the process is gone.
func waitFor(ctx context.Context, cmd *exec.Cmd, end ending) cause {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // ProcessState says how it ended.
	}()
	var timeUp <-chan time.Time
	if end.timeout > 0 {
		timer := time.NewTimer(end.timeout)
		defer timer.Stop()
		timeUp = timer.C
	}
	ticker := time.NewTicker(nudge)
	defer ticker.Stop()
	why, done := byItself, ctx.Done()
	var patience <-chan time.Time
	for {
		select {
		case <-gone:
			return why
		case <-timeUp:
			why = byTimeout
		case <-done:
			why = byContext
		case <-patience:
			end.kill()
			continue
		case <-ticker.C:
			if end.wake != nil {
				end.wake()
			}
			continue
		}
		timeUp, done = nil, nil
		end.terminate()
		patience = time.After(end.patience)
	}
}

// startWith starts cmd with the streams of spec, closing our copies of the
// command's ends.
func startWith(cmd *exec.Cmd, spec *Spec) (*streams, error) {
	pipes, err := newStreams(spec)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = pipes.stdout, pipes.stderr
	if pipes.stdin != nil { // A nil *os.File would be a non-nil io.Reader.
		cmd.Stdin = pipes.stdin
	}
	if err := cmd.Start(); err != nil {
		pipes.abandon()
		return nil, err
	}
	pipes.copy(spec)
	return pipes, nil
}

func closeAll(files ...*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close() // A pipe end has nothing to lose.
		}
	}
}
