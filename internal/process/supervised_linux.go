package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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

// ownGroup starts a process in a group of its own, which the kernel tells to end when our
// thread is gone. The caller holds its thread until then.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

const (
	// orderTime bounds how long a supervisor may take to read its order, which can be
	// more than its socket holds.
	orderTime = time.Minute
	// maxReport bounds what a supervisor says, in bytes.
	maxReport = 64 << 10
)

func (r *Runner) supervised(ctx context.Context, spec *Spec, path string) (Result, error) {
	if os.Args[0] == supervisorName {
		return Result{}, errors.New("this binary does not call command.Supervise first in its main function")
	}
	if err := becomeReaper(); err != nil {
		return Result{}, err
	}
	task, err := r.order(spec, path)
	if err != nil {
		return Result{}, err
	}
	line, theirs, err := newLine()
	if err != nil {
		return Result{}, err
	}
	defer closeAll(line, theirs)
	cmd := exec.Command(r.Executable) //nolint:noctx // It is ended in the order of running.wait.
	cmd.Args, cmd.Dir, cmd.Env, cmd.SysProcAttr = []string{supervisorName}, "/", []string{}, ownGroup()
	cmd.ExtraFiles = []*os.File{theirs, nil} // nil is where our binary is handed to bwrap
	if !r.ungrouped {
		group := newGroup(task.Bound)
		defer group.remove()
		task.Groups = len(group)
		directories := group.open()
		defer closeAll(directories...)
		cmd.ExtraFiles = append(cmd.ExtraFiles, directories...)
	}
	command, err := start(cmd, spec)
	if err != nil {
		return Result{}, err
	}
	closeAll(theirs)
	_ = line.SetDeadline(time.Now().Add(orderTime))
	_ = task.tell(line)                   // A supervisor that does not take it is found out when it ends.
	began, _ := readProc(cmd.Process.Pid) // We have not reaped it: it is there.
	state, why := command.wait(ctx, r.grace()+killTime+time.Second,
		func() {
			_ = line.SetDeadline(time.Now().Add(time.Second))
			_, _ = line.WriteString("t")
		},
		func() { _ = cmd.Process.Kill() },
		func() { _ = cmd.Process.Signal(syscall.SIGCONT) })
	var said report
	_ = line.SetDeadline(time.Now().Add(time.Second))
	err = json.NewDecoder(io.LimitReader(line, maxReport)).Decode(&said)
	result := said.Result
	if signal := signalOf(state); signal != "" { // The command, or we, killed the supervisor.
		err, said = nil, report{Ordered: true}
		result = Result{ExitCode: -1, Signal: signal}
		r.sweeping.Lock()
		orphans(began.start)
		r.sweeping.Unlock()
	}
	result.TimedOut = said.Ordered && errors.Is(why, errTimeUp)
	result.Cancelled = said.Ordered && why != nil && !result.TimedOut
	command.finish(&result)
	if err != nil {
		return result, fmt.Errorf("its supervisor ended without a report (exit code %d): %w", state.ExitCode(), err)
	}
	return result, said.fault(task.Bubblewrap != "", result.Stderr)
}

// newLine connects us to a supervisor: its order goes out, and a byte when it is to end its
// command; a report comes back.
func newLine() (ours, theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	err = unix.SetNonblock(ends[0], true) // for deadlines
	return os.NewFile(uintptr(ends[0]), "line"), os.NewFile(uintptr(ends[1]), "line"), err
}

// report is what a supervisor says at the end, as JSON.
type report struct {
	Result
	// Fault says why the command could not be started.
	Fault string
	// Ordered says that the command was still running when it was told to end.
	Ordered bool
}

// fault is a supervisor's fault as an error, nil without one or for a program that does
// not exist. Where bwrap failed, it has what that said.
func (r report) fault(bubblewrap bool, stderr []byte) error {
	if r.Fault == "" || r.NotFound {
		return nil
	}
	if words := lastLine(stderr); words != "" && (bubblewrap || strings.HasPrefix(words, supervisorName+": ")) {
		return errors.New(r.Fault + ": " + words)
	}
	return errors.New(r.Fault)
}
