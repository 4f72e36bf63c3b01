package process

import (
	"os"
	"strconv"
	"strings"
)

// Start tells when a process was started, so that its number used again
// is not taken for it: on Linux the boot and the clock tick. It is "" for a
// process that is gone.
func Start(pid int) string {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		return linuxStart(string(stat))
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return ""
	}
	if running(pid) {
		return "running"
	}
	return ""
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

// linuxStart reads field 22 of /proc/PID/stat; a zombie counts as gone.
func linuxStart(stat string) string {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start] + "@" + bootID()
}
