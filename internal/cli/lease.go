package cli

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// LeaseHolder names this process as the holder of a lease.
func (e Env) LeaseHolder() history.Lease {
	host, _ := os.Hostname()
	lease := history.Lease{
		Host: host, PID: os.Getpid(), ProcessStart: process.Start(os.Getpid()),
		Namespace: process.Namespace(),
	}
	if e.InActions() {
		lease.ActionsRun = e.Getenv("GITHUB_RUN_ID") + "/" + e.Getenv("GITHUB_RUN_ATTEMPT")
	}
	return lease
}

// HolderAlive reports whether the holder of a lease may still run. Of another
// machine, of another pid namespace of this one, or of a job to come, nothing can
// be told, so it may; an earlier attempt of this run of Actions has ended.
func (e Env) HolderAlive(lease history.Lease) bool {
	if lease.ActionsRun != "" {
		id, attempt, _ := strings.Cut(lease.ActionsRun, "/")
		now, err := strconv.Atoi(e.Getenv("GITHUB_RUN_ATTEMPT"))
		then, bad := strconv.Atoi(attempt)
		return !e.InActions() || id != e.Getenv("GITHUB_RUN_ID") || err != nil || bad != nil || then >= now
	}
	me := e.LeaseHolder()
	if lease.Handed || lease.Host != me.Host {
		return true
	}
	if lease.Namespace != me.Namespace && lease.Namespace != "" && process.SameBoot(lease.ProcessStart) {
		return true // its number says nothing here; its lease ends by itself
	}
	start := process.Start(lease.PID)
	return start != "" && (lease.ProcessStart == "" || start == lease.ProcessStart)
}

// alive is HolderAlive where GitHub can be asked for the runs of Actions. A run that the
// token may not see may still be there.
func (a *App) alive(ctx context.Context) func(history.Lease) bool {
	return func(lease history.Lease) bool {
		id, _, _ := strings.Cut(lease.ActionsRun, "/")
		number, err := strconv.ParseInt(id, 10, 64)
		alive := a.HolderAlive(lease)
		if a.GitHub == nil || !alive || err != nil || number <= 0 || id == a.Getenv("GITHUB_RUN_ID") {
			return alive
		}
		ended, err := a.GitHub.RunEnded(ctx, number)
		return err != nil || !ended
	}
}
