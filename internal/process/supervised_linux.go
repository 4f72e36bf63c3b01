package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// self is our own binary, by the link that stays right when its file is
// replaced; "" when /proc is missing, without which nothing can be supervised.
func self() string {
	const link = "/proc/self/exe"
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

func (r *Runner) supervised(ctx context.Context, spec *Spec, path string) (Result, error) {
	if os.Args[0] == supervisorName {
		return Result{}, errors.New("this binary does not call command.Supervise first in its main function")
	}
	if err := becomeReaper(); err != nil {
		return Result{}, fmt.Errorf("become the reaper: %w", err)
	}
	task, err := r.order(spec, path)
	if err != nil {
		return Result{}, err
	}
	cmd := exec.Command(r.Executable) //nolint:noctx // It is ended in the order of waitFor.
	cmd.Args, cmd.Dir, cmd.Env = []string{supervisorName}, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	line, err := newLine(cmd)
	if err != nil {
		return Result{}, err
	}
	defer line.close()
	if group := r.group(task.Bound); group != nil {
		defer group.remove()
		task.Group = group.places
		cmd.ExtraFiles = append(append(cmd.ExtraFiles, nil),
			group.files...) // nil is where our binary is handed to bwrap.
	}
	pipes, err := startWith(cmd, spec)
	if err != nil {
		return Result{}, err
	}
	line.started(task)
	supervisor := cmd.Process
	began, _ := readProc(supervisor.Pid) // We have not reaped it: it is there.
	why := waitFor(ctx, cmd, ending{
		timeout:   spec.Timeout,
		patience:  r.grace() + killTime + time.Second,
		terminate: line.terminate,
		kill:      func() { _ = supervisor.Kill() },
		wake:      func() { _ = supervisor.Signal(syscall.SIGCONT) },
	})
	said, err := line.report()
	lost := cmd.ProcessState.ExitCode() < 0 // The command, or we, killed it.
	killed, left := said.Killed, said.Left
	if lost {
		r.sweeping.Lock()
		killed, left = orphans(began.start)
		r.sweeping.Unlock()
	}
	result := pipes.finish()
	result.Killed, result.Left = killed, left
	ordered := said.Ordered || lost
	result.TimedOut, result.Cancelled = why == byTimeout && ordered, why == byContext && ordered
	result.ExitCode, result.Signal, result.Exceeded = said.Exit, said.Signal, said.Exceeded
	switch {
	case lost:
		result.ExitCode, result.Signal = -1, signalOf(cmd.ProcessState)
		return result, nil
	case err != nil:
		return result, fmt.Errorf("its supervisor ended without a report (exit code %d): %w",
			cmd.ProcessState.ExitCode(), err)
	case said.NoFile:
		result.ExitCode, result.NotFound = 127, true
		return result, nil
	case said.Fault != "":
		return result, said.fault(task, result)
	}
	return result, nil
}

// line is what connects us to a supervisor: orders go out, a report comes back.
type line struct {
	control, status   *os.File
	theirIn, theirOut *os.File
}

func newLine(cmd *exec.Cmd) (*line, error) {
	l := &line{}
	var err error
	if l.theirIn, l.control, err = os.Pipe(); err != nil {
		return nil, err
	}
	if l.status, l.theirOut, err = os.Pipe(); err != nil {
		l.close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{l.theirIn, l.theirOut}
	return l, nil
}

// orderTime bounds how long a supervisor may take to read its order, which can be
// more than a pipe holds.
const orderTime = time.Minute

func (l *line) close() { closeAll(l.control, l.status, l.theirIn, l.theirOut) }

// started gives up the supervisor's ends and hands it its order. A supervisor
// that does not take it is found out when it ends.
func (l *line) started(task order) {
	closeAll(l.theirIn, l.theirOut)
	l.theirIn, l.theirOut = nil, nil
	_ = l.control.SetWriteDeadline(time.Now().Add(orderTime))
	_, _ = l.control.Write(task.encode())
}

func (l *line) terminate() {
	_ = l.control.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = l.control.Write([]byte{terminateByte})
}

// report reads what the supervisor, which has ended, said.
func (l *line) report() (report, error) {
	const most = 64 << 10
	_ = l.status.SetReadDeadline(time.Now().Add(time.Second))
	var said report
	if err := json.NewDecoder(io.LimitReader(l.status, most)).Decode(&said); err != nil {
		return report{}, err
	}
	return said, nil
}
