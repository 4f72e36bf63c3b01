package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lineFD is the supervisor's descriptor beside the command's three.
const lineFD = 3

// Supervise does the supervisor's work when this process was started as one:
// then handled is true and the caller exits with exitCode at once. It is the
// first call of every main function, and of TestMain where tests use a Runner;
// args is os.Args.
func Supervise(args []string) (handled bool, exitCode int) {
	work := supervise
	switch {
	case len(args) == 1 && args[0] == supervisorName:
	case len(args) == 2 && args[1] == insideName && (args[0] == insideName || args[0] == ownDescriptor):
		work = superviseInside
	default:
		return false, 0
	}
	// The command gets a signal when the thread that forked it ends.
	runtime.LockOSThread()
	if err := work(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", supervisorName, err)
		return true, 1
	}
	return true, 0
}

func supervise() error {
	if err := becomeReaper(); err != nil {
		return err
	}
	line := os.NewFile(lineFD, "line")
	// The supervisor inside gets its descriptor, which a collected file would have closed.
	defer runtime.KeepAlive(line)
	where, err := readOrder(line)
	if err != nil {
		return err
	}
	if where.View != nil {
		return json.NewEncoder(line).Encode(superviseOutside(where))
	}
	return superviseHere(line)
}

func superviseHere(line *os.File) error {
	if err := beUnreachable(); err != nil {
		return err
	}
	keepDescriptors()
	task, err := readOrder(line)
	if err != nil {
		return err
	}
	s := newSupervisor()
	s.listen(line)
	s.group = handed(task.Groups)
	return json.NewEncoder(line).Encode(s.run(task))
}

// Conceal keeps other processes of this user from reading the memory and the
// environment of this one, which may hold a token. Processes that it starts are
// not concealed, and root is not kept from anything.
func Conceal() { _ = beUnreachable() } // It fails on no kernel that is in use.

// beUnreachable keeps others of our user out of our descriptors and memory.
func beUnreachable() error { return prctl("become non-dumpable", unix.PR_SET_DUMPABLE, 0) }

// becomeReaper makes this process the parent of its orphaned descendants.
func becomeReaper() error { return prctl("become the reaper", unix.PR_SET_CHILD_SUBREAPER, 1) }

// prctl sets an option of this process; does says for what.
func prctl(does string, option int, value uintptr) error {
	if err := unix.Prctl(option, value, 0, 0, 0); err != nil {
		return fmt.Errorf("%s: %w", does, err)
	}
	return nil
}

// keepDescriptors keeps every descriptor but the three standard ones from the
// command.
func keepDescriptors() {
	if unix.CloseRange(lineFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	const most = 4096
	for fd := lineFD; fd < most; fd++ {
		syscall.CloseOnExec(fd)
	}
}

// supervisor watches one command. All of its state belongs to one goroutine:
// children are reaped and killed in turn, so that the number of a direct child
// always means that child.
type supervisor struct {
	orders   chan byte // one byte to end it; closed when nobody waits any more; nil: none come
	signals  chan os.Signal
	children chan os.Signal
	main     int
	ended    bool // the command itself has ended
	out      report
	sweeper  sweeper
	group    group
}

func newSupervisor() *supervisor {
	s := &supervisor{
		signals:  make(chan os.Signal, 1),
		children: make(chan os.Signal, 1),
		sweeper:  newSweeper(os.Getpid(), 0),
	}
	signal.Notify(s.signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	signal.Notify(s.children, syscall.SIGCHLD)
	return s
}

// listen takes orders from the line; without it none come.
func (s *supervisor) listen(line *os.File) {
	s.orders = make(chan byte)
	go func() {
		defer close(s.orders)
		one := make([]byte, 1)
		for {
			if n, err := line.Read(one); n != 1 || err != nil {
				return
			}
			s.orders <- one[0]
		}
	}()
}

// run starts the command and returns when neither it nor a descendant is left.
func (s *supervisor) run(task order) report {
	_, free := systemMemory()
	guard := guard{bound: task.Bound, group: s.group, tasks: systemTasks(), free: free}
	pid, err := s.group.start(func() (int, error) {
		return boundTasks(task.Bound.tasks(), func() (int, error) {
			return syscall.ForkExec(task.Path, task.Args, &syscall.ProcAttr{
				Dir: task.Dir, Env: task.Env, Files: []uintptr{0, 1, 2},
				Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
			})
		})
	})
	if err != nil {
		if errors.Is(err, syscall.ENOENT) { // the program, or its interpreter
			return report{Result: Result{ExitCode: 127, NotFound: true}}
		}
		return report{Fault: err.Error()}
	}
	s.main = pid
	makeExpendable(pid)
	left := s.watch(task.Grace, guard)
	// It may have ended before it was looked at. Afterwards a daemon of it that
	// can start nothing any more would count, too.
	if s.out.Exceeded == "" {
		s.out.Exceeded = guard.reached()
	}
	if left {
		s.clean()
	}
	return s.out
}

// watch waits until the command has ended or must be killed, and reports
// whether there is anything left to kill.
func (s *supervisor) watch(grace time.Duration, guard guard) bool {
	look := time.NewTicker(guardEvery)
	defer look.Stop()
	var patience <-chan time.Time
	orders := s.orders
	for {
		if alone := s.reap(); alone {
			return false
		}
		if s.ended {
			return true
		}
		select {
		case <-s.children:
		case <-patience:
			return true
		case <-look.C:
			if s.out.Exceeded = guard.exceeded(); s.out.Exceeded != "" {
				return true
			}
		case <-s.signals:
			s.out.Ordered = true
			return true
		case _, waited := <-orders:
			s.out.Ordered = true
			if !waited {
				return true
			}
			_ = syscall.Kill(-s.main, syscall.SIGTERM) // It may have ended by now.
			_ = syscall.Kill(-s.main, syscall.SIGCONT)
			if patience == nil {
				patience = time.After(grace)
			}
		}
	}
}

func (s *supervisor) clean() {
	deadline := time.Now().Add(killTime)
	pause := time.Millisecond
	s.group.seal()
	for time.Now().Before(deadline) {
		s.sweeper.pass()
		select {
		case <-s.children:
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
		if alone := s.reap(); alone {
			break
		}
	}
}

// reap takes the status of every ended child and reports whether there are no
// children any more.
func (s *supervisor) reap() (alone bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == s.main:
			s.ended = true
			s.out.ExitCode, s.out.Signal = status.ExitStatus(), ""
			if status.Signaled() {
				s.out.ExitCode, s.out.Signal = -1, unix.SignalName(status.Signal())
			}
		}
	}
}
