package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// proc is a process as /proc shows it. Number and start time together name it
// for good.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot
	zombie                      bool
}

// readProc reads one process; ok is false when it is gone, or without /proc.
func readProc(pid int) (p proc, ok bool) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// The name stands in parentheses and may itself contain some.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, parent, group, session, start = 0, 1, 2, 3, 19
	if len(fields) <= start {
		return proc{}, false
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(string(fields[field])) // The kernel wrote it.
		return n
	}
	return proc{
		pid: pid, parent: number(parent), group: number(group), session: number(session),
		start: uint64(number(start)), zombie: fields[state][0] == 'Z' || fields[state][0] == 'X',
	}, true
}

// Start tells when a process was started, so that its number used again
// is not taken for it: the boot and the clock tick. It is "" for a process that is gone,
// and without /proc the same for every other.
func Start(pid int) string {
	if p, ok := readProc(pid); ok && !p.zombie {
		return fmt.Sprintf("%d@%s", p.start, bootID())
	}
	if self() != "" {
		return ""
	}
	found, err := os.FindProcess(pid)
	if err != nil || errors.Is(found.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return ""
	}
	return "running"
}

// Namespace names the pid namespace of this process, in which alone the numbers of
// its processes mean something; "" without namespaces.
func Namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// SameBoot reports whether a process of which Start said this was started since
// the machine was.
func SameBoot(start string) bool {
	_, boot, _ := strings.Cut(start, "@")
	return boot == "" || boot == bootID()
}

func bootID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot))
}
