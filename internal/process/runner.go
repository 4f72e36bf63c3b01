package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
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

// errTimeUp is why a command's own context is done when its time is up.
var errTimeUp = errors.New("its time is up")

// Run runs a command until it has ended and none of its processes is left. How
// it ended is the Result, also when it failed, was not found, timed out or was
// cancelled; an error means that it could not be run or supervised.
func (r *Runner) Run(ctx context.Context, spec Spec) (result Result, err error) {
	if len(spec.Args) == 0 {
		return result, errors.New("run a command: its arguments are empty")
	}
	begin := time.Now()
	if spec.Dir, err = filepath.Abs(spec.Dir); err == nil {
		_, err = os.Stat(spec.Dir + "/.") // what is no directory has none
	}
	if err != nil {
		return result, fmt.Errorf("run %s: its working directory: %w", spec.Args[0], err)
	}
	path, err := LookPath(spec.Args[0], spec.Dir, spec.Env)
	if err != nil {
		return Result{ExitCode: 127, NotFound: true, Stderr: []byte(err.Error() + "\n")}, nil
	}
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Cancelled: true}, nil
	}
	if spec.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, spec.Timeout, errTimeUp)
		defer cancel()
	}
	// The signal on a parent's death belongs to the thread that forked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
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
		err = fmt.Errorf("run %s: %w", spec.Args[0], err)
	}
	return result, err
}

func (r *Runner) grace() time.Duration { return cmp.Or(r.Grace, defaultGrace) }

// plain runs the command as our own child, in a process group of its own.
func (r *Runner) plain(ctx context.Context, spec *Spec, path string) (Result, error) {
	cmd := exec.Command(path) //nolint:noctx // It is ended in the order of running.wait.
	cmd.Args, cmd.Dir, cmd.SysProcAttr = spec.Args, spec.Dir, ownGroup()
	cmd.Env = append([]string{}, spec.Env...) // os/exec inherits nothing when it is empty
	command, err := start(cmd, spec)
	if err != nil {
		return Result{}, err
	}
	signalled := func(signal syscall.Signal) func() { return func() { signalGroup(cmd.Process, signal) } }
	state, why := command.wait(ctx, r.grace(), signalled(syscall.SIGTERM), signalled(syscall.SIGKILL), func() {})
	signalGroup(cmd.Process, syscall.SIGKILL)
	result := Result{ExitCode: state.ExitCode(), Signal: signalOf(state)}
	result.TimedOut = errors.Is(why, errTimeUp)
	result.Cancelled = why != nil && !result.TimedOut
	command.finish(&result)
	return result, nil
}

// running is a process with the streams of a command.
type running struct {
	cmd       *exec.Cmd
	out, errs tail
}

// start starts cmd with the streams of spec.
func start(cmd *exec.Cmd, spec *Spec) (*running, error) {
	most := int(cmp.Or(spec.OutputCap, DefaultOutputCap))
	r := &running{cmd: cmd, out: tail{most: most, live: spec.Stdout}, errs: tail{most: most, live: spec.Stderr}}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &r.out, &r.errs, pipeDelay
	if spec.Stdin == nil {
		return r, cmd.Start()
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(in, spec.Stdin) // It need not read all of it.
		_ = in.Close()
	}()
	return r, nil
}

// wait returns when the process is gone. Once the context is done, which is why it ended
// then, the process is asked to end, and killed when its patience is over; it is woken now
// and then.
func (r *running) wait(ctx context.Context, patience time.Duration, ask, kill, wake func()) (
	state *os.ProcessState, why error,
) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		state, _ = r.cmd.Process.Wait() // It is our child, and nobody else waits for it.
	}()
	ticker := time.NewTicker(nudge)
	defer ticker.Stop()
	done := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-gone:
			return state, why
		case <-done:
			done, late, why = nil, time.After(patience), context.Cause(ctx)
			ask()
		case <-late:
			kill()
		case <-ticker.C:
			wake()
		}
	}
}

// finish takes what is still in the pipes, without waiting long for a process
// out of our reach that holds one open.
func (r *running) finish(result *Result) {
	_ = r.cmd.Wait() // For the pipes alone: the process is gone.
	result.Stdout, result.Stderr = r.out.Bytes(), r.errs.Bytes()
	result.StdoutTruncated, result.StderrTruncated = r.out.cut, r.errs.cut
}

// tail keeps the last bytes that are written to it: up to twice as many in between, so that
// they are seldom moved. A live copy goes on until that fails.
type tail struct {
	kept []byte
	most int
	cut  bool
	live io.Writer
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*t.most {
		t.kept = append(t.kept[:0], t.Bytes()...)
	}
	if t.live != nil {
		if _, err := t.live.Write(p); err != nil {
			t.live = nil
		}
	}
	return len(p), nil
}

// Bytes returns what was kept, and notes whether there was more.
func (t *tail) Bytes() []byte {
	over := max(len(t.kept)-t.most, 0)
	t.cut = t.cut || over > 0
	return t.kept[over:]
}

func closeAll(files ...*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close() // A pipe end has nothing to lose.
		}
	}
}
