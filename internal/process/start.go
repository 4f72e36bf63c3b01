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

// linuxStart reads field 22 of /proc/PID/stat; a zombie counts as gone.
func linuxStart(stat string) string {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return fields[start] + "@" + strings.TrimSpace(string(boot))
}
