package cli

import (
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/ledger"
)

// holder names this process as the holder of a lease.
func (e Env) holder() ledger.Lease {
	host, _ := os.Hostname()
	lease := ledger.Lease{Host: host, PID: os.Getpid(), ProcessStart: processStart(os.Getpid())}
	if e.InActions() {
		lease.ActionsRun = e.Getenv("GITHUB_RUN_ID") + "/" + e.Getenv("GITHUB_RUN_ATTEMPT")
	}
	return lease
}

// alive reports whether the holder of a lease may still run. Of another
// machine nothing can be told, so it may.
func (e Env) alive(lease ledger.Lease) bool {
	host, _ := os.Hostname()
	if lease.Host != host || lease.ActionsRun != "" {
		return true
	}
	start := processStart(lease.PID)
	return start != "" && (lease.ProcessStart == "" || start == lease.ProcessStart)
}

// processStart tells when a process was started, so that its number used again
// is not taken for it: on Linux the boot and the clock tick. It is "" for a
// process that is gone.
func processStart(pid int) string {
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
