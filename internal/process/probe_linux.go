package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/plain"
)

// probeTime bounds trying one method.
const probeTime = 20 * time.Second

// ProbeIsolation finds out by running it whether commands can be isolated here:
// by namespaces of our own, else by the bwrap in env's PATH. dir is a directory
// of the caller's for what the trial writes.
func (r *Runner) ProbeIsolation(ctx context.Context, dir string, env []string) Probe {
	if r.Executable == "" {
		return Probe{Reason: "isolation needs /proc, which is not there", Cure: "mount /proc"}
	}
	namespaces := &Isolation{}
	own := r.try(ctx, dir, env, namespaces)
	if own == nil {
		return Probe{Isolation: namespaces}
	}
	state, setting := forbidding()
	program, err := LookPath("bwrap", "/", env)
	if err != nil {
		return Probe{
			Reason: fmt.Sprintf("%v; bwrap, which may be allowed to, is not installed%s", own, state),
			Cure:   advice(setting, true),
		}
	}
	bubblewrap := &Isolation{Bubblewrap: program}
	if err := r.try(ctx, dir, env, bubblewrap); err != nil {
		return Probe{
			Reason: fmt.Sprintf("namespaces: %v; %s: %v%s", own, program, err, state),
			Cure:   advice(setting, false),
		}
	}
	return Probe{Isolation: bubblewrap}
}

// settings most often forbid namespaces, when they have the value; the cure has
// the other one.
var settings = []struct{ name, forbids, allows string }{
	{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
	{"kernel.unprivileged_userns_clone", "0", "1"},
	{"user.max_user_namespaces", "0", "15000"},
}

// forbidding names the setting that forbids namespaces, and the one that does
// not; both are "" when none of the known ones does.
func forbidding() (state, setting string) {
	for _, s := range settings {
		file := "/proc/sys/" + strings.ReplaceAll(s.name, ".", "/")
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == s.forbids {
			return fmt.Sprintf(" (%s is %s; an administrator can change it with sysctl)", file, s.forbids),
				s.name + "=" + s.allows
		}
	}
	return "", ""
}

// advice is what to do where no method works.
func advice(setting string, installs bool) string {
	var ways []string
	if setting != "" {
		ways = append(ways, "`sudo sysctl "+setting+"`")
	}
	if installs {
		ways = append(ways, "install bubblewrap (`sudo apt-get install bubblewrap`)")
	}
	return strings.Join(append(ways, "in a container, which is a border itself, set AUTOLOOP_ISOLATION=off"), ", or ")
}

// trial writes where it may not and then where it may.
const trial = `echo spoilt 2>/dev/null >"$1/outside"; echo fine >inside`

// try runs the trial. A method works when the trial's own file is there, and
// the other is not.
func (r *Runner) try(ctx context.Context, dir string, env []string, with *Isolation) error {
	tree, outside := filepath.Join(dir, "probe"), filepath.Join(dir, "outside")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tree); _ = os.Remove(outside) }()
	trying := &Runner{Executable: r.Executable, Grace: r.Grace, Isolation: with}
	result, err := trying.Run(ctx, Spec{
		Args: []string{"sh", "-c", trial, "sh", dir}, Dir: tree, Env: []string{"PATH=" + Getenv(env, "PATH")},
		Offline: true, Timeout: probeTime,
	})
	if err != nil {
		return err
	}
	_, spoilt := os.Stat(outside)
	if written, _ := os.ReadFile(filepath.Join(tree, "inside")); spoilt == nil || string(written) != "fine\n" ||
		!result.OK() {
		return errors.New("an isolated command could still write elsewhere, or not at all: " +
			plain.Short(string(result.Stderr), 200))
	}
	return nil
}
