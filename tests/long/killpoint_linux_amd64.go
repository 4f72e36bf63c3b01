package long

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// changingCalls are the system calls that change files, by their numbers; of openat
// and write those that create, and those that are not to a standard stream.
func changingCalls() map[uint64]string {
	return map[uint64]string{
		1: "write", 18: "pwrite64", 40: "sendfile", 77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir", 86: "link",
		87: "unlink", 88: "symlink",
		90: "chmod", 91: "fchmod", 257: "openat", 258: "mkdirat", 263: "unlinkat", 264: "renameat", 265: "linkat",
		266: "symlinkat", 268: "fchmodat",
		316: "renameat2", 326: "copy_file_range", 452: "fchmodat2",
	}
}

// KillAt runs a command and kills it, and nothing else, right before the call k,
// from 1, of the system calls that count. It returns that call's name; "" when
// there were not so many, and the command ended by itself.
func KillAt(t *testing.T, cmd *exec.Cmd, k int, counts func(call string) bool) string {
	t.Helper()
	runtime.LockOSThread() // whoever traces is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skip("processes cannot be traced here:", err)
	} else {
		require.NoError(t, err)
	}
	tr := &tracer{t: t, main: cmd.Process.Pid, left: k, counts: counts, inside: map[int]bool{}, calls: changingCalls()}
	tr.wait(tr.main)
	const exitKill = 0x100000
	require.NoError(t, syscall.PtraceSetOptions(tr.main,
		syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill))
	tr.resume(tr.main, 0)
	for !tr.over {
		tr.step()
	}
	return tr.killed
}

// tracer follows the threads of one process.
type tracer struct {
	t      *testing.T
	main   int
	left   int
	counts func(string) bool
	inside map[int]bool // threads that are in a system call
	calls  map[uint64]string
	killed string
	over   bool
}

func (tr *tracer) resume(pid, signal int) {
	if err := syscall.PtraceSyscall(pid, signal); !errors.Is(err, syscall.ESRCH) {
		require.NoError(tr.t, err)
	}
}

// wait waits for a thread, or for any of a group: this thread may have started
// other commands before, which are not the tracer's to wait for.
func (tr *tracer) wait(pid int) (int, syscall.WaitStatus) {
	const ofThisThread = 0x20000000
	var status syscall.WaitStatus
	for {
		found, err := syscall.Wait4(pid, &status, syscall.WALL|ofThisThread, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.ECHILD) {
			tr.over = true
			return tr.main, status
		}
		require.NoError(tr.t, err)
		return found, status
	}
}

func (tr *tracer) step() {
	pid, status := tr.wait(-tr.main)
	const ofTracing = 0x80
	switch {
	case tr.over:
	case status.Exited() || status.Signaled():
		tr.over = pid == tr.main
	case !status.Stopped():
	case status.StopSignal() == syscall.SIGTRAP|ofTracing:
		tr.call(pid)
		tr.resume(pid, 0)
	case status.StopSignal() == syscall.SIGTRAP || status.StopSignal() == syscall.SIGSTOP:
		tr.resume(pid, 0)
	default:
		tr.resume(pid, int(status.StopSignal()))
	}
}

// call counts a system call that begins, and kills before the one that is asked for.
func (tr *tracer) call(pid int) {
	if tr.inside[pid] = !tr.inside[pid]; !tr.inside[pid] || tr.killed != "" {
		return
	}
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(pid, &regs) != nil {
		return // the thread is gone
	}
	name, known := tr.calls[regs.Orig_rax]
	const create, streams = syscall.O_CREAT | syscall.O_TRUNC, 2
	switch {
	case !known, name == "openat" && regs.Rdx&create == 0, name == "write" && regs.Rdi <= streams, !tr.counts(name):
		return
	}
	if tr.left--; tr.left == 0 {
		tr.killed = name
		_ = syscall.Kill(tr.main, syscall.SIGKILL)
	}
}
