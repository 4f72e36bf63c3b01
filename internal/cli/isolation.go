package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// asRoot is what root is told first of a run without isolation; why follows.
const asRoot = "not isolated: as root, agent and evaluation can read and change every file and process of this " +
	"machine, and every secret on it: "

// isolate finds out how the commands of a program are kept apart from the rest
// of this machine; nil is not at all. What the program requires and this
// machine cannot do is an error. Beside the run's directory nobody sees what is
// hidden, and everybody what is readable.
func isolate(ctx context.Context, env Env, p *program.Program, runner *process.Runner, runDir string, hidden,
	readable []string,
) (*process.Isolation, error) {
	wish, err := isolationWish(env, p)
	if err != nil {
		return nil, err
	}
	if wish == "off" {
		if env.Root {
			fmt.Fprintln(env.Stderr, asRoot+"isolation is off")
		}
		return nil, nil
	}
	probe := runner.ProbeIsolation(ctx, runDir, env.Environ)
	switch {
	case probe.Available():
	case !p.Network:
		return nil, fmt.Errorf("%s: `network: false` needs isolation, which does not work on this machine (`iterate "+
			"doctor` says what to change): %s", p.File, probe.Reason)
	case wish == "required":
		return nil, fmt.Errorf("%s: isolation is required, but does not work on this machine (`iterate doctor` says "+
			"what to change): %s", p.File, probe.Reason)
	default:
		if env.Root {
			fmt.Fprintln(env.Stderr, asRoot+probe.Reason)
		} else {
			fmt.Fprintf(env.Stderr, "not isolated: agent and evaluation can read and write all that you can: %s\n",
				probe.Reason)
		}
		return nil, nil
	}
	home := env.Getenv("HOME")
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	isolation := &process.Isolation{Method: probe.Method, Program: probe.Program, Home: home, Readable: readable}
	isolation.Hidden = append([]string{runDir}, hidden...)
	// The files by which a step of a workflow speaks to its runner are no
	// command's business.
	if temp := env.Getenv("RUNNER_TEMP"); env.InActions() && temp != "" {
		isolation.Hidden = append(isolation.Hidden, temp)
	}
	for _, warning := range isolation.Warnings(env.Environ) {
		fmt.Fprintln(env.Stderr, warning)
	}
	return isolation, nil
}

// isolationWish is what the program says, or for `auto` the environment's
// AUTOLOOP_ISOLATION.
func isolationWish(env Env, p *program.Program) (string, error) {
	wish := p.Isolation
	if general := strings.ToLower(strings.TrimSpace(env.Getenv("AUTOLOOP_ISOLATION"))); wish == "auto" &&
		general != "" {
		if !slices.Contains([]string{"auto", "required", "off"}, general) {
			return "", misuse.Errorf("AUTOLOOP_ISOLATION=%s: give auto, required or off", plain.Short(general, 40))
		}
		wish = general
	}
	if wish == "off" && !p.Network {
		return "", misuse.Errorf("%s: `network: false` needs isolation, and that is off; remove one of the two", p.File)
	}
	return wish, nil
}

// objectDirs are the directories that a repository's objects are read from: its
// own, and those that it borrows from.
func objectDirs(commonDir string) []string {
	const most = 1 << 16
	dirs := []string{filepath.Join(commonDir, "objects")}
	for i := 0; i < len(dirs) && i < 16; i++ {
		text, err := os.ReadFile(filepath.Join(dirs[i], "info", "alternates"))
		if err != nil || len(text) > most {
			continue // git says what is wrong with it, if anything is.
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, `"`) {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			dirs = append(dirs, line)
		}
	}
	return dirs
}

// namedFiles are the files that an agent's command names: by absolute path, or
// the program by its name in PATH.
func namedFiles(env Env, command string) []string {
	var files []string
	for i, word := range process.ShellWords(command) {
		if i == 0 {
			if found, err := process.LookPath(word, env.Dir, env.Environ); err == nil {
				word = found
			}
		}
		if info, err := os.Stat(word); filepath.IsAbs(word) && err == nil && info.Mode().IsRegular() {
			files = append(files, word)
		}
	}
	return files
}
