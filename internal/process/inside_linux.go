package process

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// insideName is what our own binary is called when it is started as the
	// supervisor inside a view.
	insideName = "autoloop-supervisor-inside"
	// binaryFD holds our own binary for bwrap, which cannot see its file.
	binaryFD      = 4
	ownDescriptor = "/proc/self/fd/4"
)

// superviseOutside starts another supervisor in namespaces of its own, as the
// first process there, and waits for it: with it all of its processes are gone.
// The report counts only when the one inside gave none.
func superviseOutside(where order) report {
	s := newSupervisor()
	pid, err := startInside(where)
	if err != nil {
		return report{Fault: "isolate it: " + err.Error()}
	}
	// From here on: before, the kernel lets nobody but root say who the users
	// of a new namespace are when a process is unreachable.
	if err := beUnreachable(); err != nil {
		return report{Fault: err.Error()}
	}
	s.main = pid
	if s.watch(0, guard{}) {
		s.clean()
	}
	if s.out.Signal == "" {
		s.out.Fault = fmt.Sprintf("isolate it: the supervisor inside ended with exit code %d", s.out.ExitCode)
	}
	return s.out
}

// startInside starts the supervisor inside, which has our line.
func startInside(where order) (int, error) {
	path, args := "/proc/self/exe", []string{insideName, insideName}
	attr := &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: []uintptr{0, 1, 2, lineFD},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if where.Bubblewrap != "" {
		binary, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		defer closeAll(binary)
		attr.Files = append(attr.Files, binary.Fd())
		path, args = where.Bubblewrap, where.View.arguments(where.Bubblewrap)
	} else {
		where.View.namespaces(attr.Sys)
		attr.Files = append(attr.Files, ^uintptr(0))
	}
	for fd := range 2 * where.Groups {
		attr.Files = append(attr.Files, uintptr(firstGroupFD+fd))
	}
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return 0, fmt.Errorf("start it in namespaces of its own: %w", err)
	}
	return pid, nil
}

// namespaces has a process start in namespaces of its own, in which our user
// is who it is, and with the rights over them that making a view takes.
func (v *view) namespaces(attr *syscall.SysProcAttr) {
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if v.Offline {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.UidMappings = identities("/proc/self/uid_map", os.Geteuid(), unix.CAP_SETUID)
	attr.GidMappings = identities("/proc/self/gid_map", os.Getegid(), unix.CAP_SETGID)
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}
}

// superviseInside makes the view and is the command's supervisor within it.
func superviseInside() error {
	line := os.NewFile(lineFD, "line")
	where, err := readOrder(line)
	if err != nil {
		return err
	}
	if where.Bubblewrap == "" {
		err = where.View.make()
	} else {
		_, _ = syscall.Setsid() // Best effort: bwrap may have done it.
	}
	if err == nil {
		err = dropPrivileges()
	}
	if err != nil {
		return json.NewEncoder(line).Encode(report{Fault: "isolate it: " + err.Error()})
	}
	return superviseHere(line)
}
