package cli

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
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
	host, _ := os.Hostname()
	if lease.Handed || lease.Host != host {
		return true
	}
	if lease.Namespace != process.Namespace() && lease.Namespace != "" && process.SameBoot(lease.ProcessStart) {
		return true // its number says nothing here; its lease ends by itself
	}
	start := process.Start(lease.PID)
	return start != "" && (lease.ProcessStart == "" || start == lease.ProcessStart)
}

// HolderAliveOn is HolderAlive where GitHub can be asked for the runs of Actions. A run
// that the token may not see may still be there.
func (e Env) HolderAliveOn(ctx context.Context, client *api.Client) func(history.Lease) bool {
	return func(lease history.Lease) bool {
		id, _, _ := strings.Cut(lease.ActionsRun, "/")
		number, err := strconv.ParseInt(id, 10, 64)
		if !e.HolderAlive(lease) || err != nil || number <= 0 || id == e.Getenv("GITHUB_RUN_ID") {
			return e.HolderAlive(lease)
		}
		ended, err := client.RunEnded(ctx, number)
		return err != nil || !ended
	}
}

// Reserve records the start of an iteration of each of these programs, for jobs
// that cannot write. A program that cannot begin keeps no other from it: its
// reservation says why.
func (d *dependencies) Reserve(ctx context.Context, names []string) ([]loop.Reservation, error) {
	made := make([]loop.Reservation, 0, len(names))
	for _, name := range names {
		one, err := d.reserve(ctx, name)
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		if err != nil {
			one = loop.Reservation{Program: name, Reason: err.Error(), Failed: true}
		}
		made = append(made, one)
	}
	return made, nil
}

func (d *dependencies) reserve(ctx context.Context, name string) (loop.Reservation, error) {
	of := *d
	of.Options.Program = name
	p, issue, err := of.Program(ctx)
	if err == nil {
		err = of.CheckCIGate(p)
	}
	if err != nil {
		return loop.Reservation{}, err
	}
	return of.Recorder(ctx, p, issue).Reserve(ctx)
}
