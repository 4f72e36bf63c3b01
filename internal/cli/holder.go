package cli

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
)

// holder names this process as the holder of a lease.
func (e Env) holder() history.Lease {
	host, _ := os.Hostname()
	lease := history.Lease{Host: host, PID: os.Getpid(), ProcessStart: processStart(os.Getpid())}
	if e.InActions() {
		lease.ActionsRun = e.Getenv("GITHUB_RUN_ID") + "/" + e.Getenv("GITHUB_RUN_ATTEMPT")
	}
	return lease
}

// alive reports whether the holder of a lease may still run. Of another
// machine nothing can be told, so it may; an earlier attempt of this run of
// Actions has ended.
func (e Env) alive(lease history.Lease) bool {
	if lease.ActionsRun != "" {
		id, attempt, _ := strings.Cut(lease.ActionsRun, "/")
		now, err := strconv.Atoi(e.Getenv("GITHUB_RUN_ATTEMPT"))
		then, bad := strconv.Atoi(attempt)
		return !e.InActions() || id != e.Getenv("GITHUB_RUN_ID") || err != nil || bad != nil || then >= now
	}
	host, _ := os.Hostname()
	if e.retried(lease.ActionsRun) {
		return false
	}
	if lease.Host != host {
		return true
	}
	start := processStart(lease.PID)
	return start != "" && (lease.ProcessStart == "" || start == lease.ProcessStart)
}

// aliveOn is alive where GitHub can be asked for the runs of Actions. A run
// that the token may not see may still be there.
func (e Env) aliveOn(ctx context.Context, hub *api.Client) func(history.Lease) bool {
	return func(lease history.Lease) bool {
		id, _, _ := strings.Cut(lease.ActionsRun, "/")
		number, err := strconv.ParseInt(id, 10, 64)
		if !e.alive(lease) || err != nil || number <= 0 || id == e.Getenv("GITHUB_RUN_ID") {
			return e.alive(lease)
		}
		ended, err := hub.RunEnded(ctx, number)
		return err != nil || !ended
	}
}

// retried says whether an Actions run is an earlier attempt of this one.
func (e Env) retried(run string) bool {
	id, attempt, _ := strings.Cut(run, "/")
	if !e.InActions() || id == "" || id != e.Getenv("GITHUB_RUN_ID") {
		return false
	}
	theirs, err := strconv.Atoi(attempt)
	ours, wrong := strconv.Atoi(e.Getenv("GITHUB_RUN_ATTEMPT"))
	return err == nil && wrong == nil && theirs < ours
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
