package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/schedule"
)

// Env is all that a command takes from the process around it, so that tests
// can give it another.
type Env struct {
	// Args are the arguments without the program's own name.
	Args []string
	// Stdin is the input of commands that ask.
	Stdin io.Reader
	// Stdout is for results.
	Stdout io.Writer
	// Step has the environment, the working directory, which relative paths in flags are under,
	// and Stderr, which is for progress, logs and errors.
	actions.Step
	// Now tells the time of day.
	Now func() time.Time
	// Sleep waits, for GitHub to answer again and for CI.
	Sleep func(ctx context.Context, d time.Duration) error
	// Executable is the binary that supervises commands, which calls process.Supervise
	// first; "" is that of this process.
	Executable string
	// Terminal says that Stdout and Stderr are a person's terminal: live
	// progress may be drawn.
	Terminal bool
	// Width is how many characters a line of that terminal has; 0 is unknown.
	Width int
	// ReleasedFrom is the repository that this binary was released from, as
	// OWNER/NAME; "" when unknown.
	ReleasedFrom string
	// Root says that this process may do everything on this machine.
	Root bool
	// Complete asks a language model; nil in a binary that asks none.
	Complete agent.Complete
}

// systemEnv returns the Env of this process.
func systemEnv() Env {
	dir, _ := os.Getwd()
	width, _, _ := term.GetSize(int(os.Stdout.Fd())) // 0 where it does not say
	return Env{
		Args:     os.Args[1:],
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Step:     actions.Step{Getenv: os.Getenv, Environ: os.Environ(), Stderr: os.Stderr, Dir: dir},
		Now:      time.Now,
		Sleep:    api.Sleep,
		Root:     os.Geteuid() == 0,
		Terminal: term.IsTerminal(int(os.Stdout.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		Width:    width,
	}
}

// TableWidth is what tables have to fit into: the terminal; 0, for any width,
// where their text goes elsewhere.
func (e Env) TableWidth() int {
	if !e.Terminal {
		return 0
	}
	return cmp.Or(e.Width, 120)
}

// Color says whether output may be coloured: on a terminal, and NO_COLOR is
// unset or empty.
func (e Env) Color() bool {
	return e.Terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// EscapeLog is the environment with output that is no workflow command, where it
// may be read as a job's log.
func (e Env) EscapeLog() Env {
	if e.InActions() {
		e.Stdout, e.Stderr = actions.EscapeLog(e.Stdout), actions.EscapeLog(e.Stderr)
	}
	return e
}

// Stopped says why AUTOLOOP_PAUSED stops everything, "" when it does not.
func (e Env) Stopped() string { return schedule.Stopped(e.Getenv("AUTOLOOP_PAUSED")) }

// Path is a path given by the user, who is in Dir; "" is Dir.
func (e Env) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir, name)
}

// sharedOutput is where the scheduler writes in Actions, where the machine has one
// user, and where callers of the original scheduler look.
const sharedOutput = "/tmp/gh-aw"

// TempDir is where temporary files go.
func (e Env) TempDir() string {
	if dir := e.Getenv("TMPDIR"); dir != "" && runtime.GOOS != "windows" {
		return e.Path(dir)
	}
	return os.TempDir()
}

// NewRunner returns a Runner that supervises where the system can.
func (e Env) NewRunner() *process.Runner {
	runner := process.NewRunner()
	runner.Executable = cmp.Or(e.Executable, runner.Executable)
	return runner
}

// stateDir is the user's own directory, by the XDG Base Directory Specification.
func (e Env) stateDir() string {
	for _, place := range []struct{ variable, below string }{
		{"XDG_STATE_HOME", "autoloop"}, {"HOME", ".local/state/autoloop"}, {"XDG_RUNTIME_DIR", "autoloop"},
	} {
		if dir := e.Getenv(place.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, place.below)
		}
	}
	return ""
}

// NewRunID names a run: the Actions run, else time and chance.
func (e Env) NewRunID() string {
	var chance [4]byte
	_, _ = rand.Read(chance[:])
	if id := e.Getenv("GITHUB_RUN_ID"); e.InActions() && id != "" {
		return id + "-" + e.Getenv("GITHUB_RUN_ATTEMPT") + "-" + hex.EncodeToString(chance[:2])
	}
	return e.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(chance[:])
}

// runID matches what NewRunID returns.
var runID = lazyregexp.New(`^(\d{8}T\d{6}Z-[0-9a-f]{8}|[0-9]+-[0-9]*-[0-9a-f]{4})$`)

// CommandEnviron is the whole environment of an agent or an evaluation whose
// home and temporary directory are below dir, with the variables that it names.
func (e Env) CommandEnviron(dir string, names []string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	return process.Environment(e.Environ, dir, names), nil
}

// buildVersion returns the module version and revision that this binary was built
// from, such as "v1.2.0 (0123456789ab)"; "devel" when it was not recorded.
func buildVersion() string {
	version, commit, _ := builtFrom()
	version = cmp.Or(strings.Trim(version, "()"), "devel")
	if len(commit) >= 12 {
		version += " (" + commit[:12] + ")"
	}
	return version
}

// builtFrom returns the release and the whole commit that this binary was built from, ""
// for what was not recorded, and whether it was edited since.
func builtFrom() (version, commit string, edited bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", false
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.modified":
			edited = setting.Value == "true"
		}
	}
	return info.Main.Version, commit, edited
}

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
