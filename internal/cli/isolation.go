package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// asRoot is what root is told first of a run without isolation; why follows.
const asRoot = "not isolated: as root, agent and evaluation can read and change every file and process of this " +
	"machine, and every secret on it: "

// notIsolated is what anybody else is told.
const notIsolated = "not isolated: agent and evaluation can read and write all that you can: "

// isolate finds out how the commands of a program are kept apart from the rest of this
// machine; nil is not at all. What the program requires and this machine cannot do is an
// error; notes are lines for people. Beside the run's directory nobody sees what is
// hidden, and everybody what is readable.
func (a *App) isolate(ctx context.Context, p *program.Program, runner *process.Runner, runDir string,
	hidden, readable []string,
) (isolation *process.Isolation, notes string, err error) {
	wish, err := a.isolationWish(p)
	switch {
	case err != nil || wish == "off" && !a.Root:
		return nil, "", err
	case wish == "off":
		return nil, asRoot + "isolation is off\n", nil
	}
	probe := runner.ProbeIsolation(ctx, runDir, a.Environ)
	if isolation = probe.Isolation; isolation == nil {
		needs, exposed := "`network: false` needs isolation, which does not work", notIsolated
		if p.Network {
			needs = "isolation is required, but does not work"
		}
		if !p.Network || wish == "required" {
			return nil, "", fmt.Errorf("%s: %s on this machine (`iterate doctor` says what to change): %s", p.File, needs,
				probe.Reason)
		}
		if a.Root {
			exposed = asRoot
		}
		return nil, exposed + probe.Reason + "\n", nil
	}
	isolation.Home = a.Getenv("HOME")
	if resolved, err := filepath.EvalSymlinks(isolation.Home); err == nil {
		isolation.Home = resolved
	}
	isolation.Readable = readable
	isolation.Hidden = append([]string{runDir}, hidden...)
	// The files by which a step of a workflow speaks to its runner are no
	// command's business.
	if temp := a.Getenv("RUNNER_TEMP"); a.InActions() && temp != "" {
		isolation.Hidden = append(isolation.Hidden, temp)
	}
	for _, warning := range isolation.Warnings(a.Environ) {
		notes += warning + "\n"
	}
	return isolation, notes, nil
}

// isolationWish is what the program says, or for `auto` the environment's
// AUTOLOOP_ISOLATION.
func (a *App) isolationWish(p *program.Program) (string, error) {
	wish := p.Isolation
	if general := strings.ToLower(strings.TrimSpace(a.Getenv("AUTOLOOP_ISOLATION"))); wish == "auto" &&
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
func objectDirs(ctx context.Context, repo *git.Repo) []string {
	dirs := []string{filepath.Join(repo.CommonDir, "objects")}
	out, _ := repo.Run(ctx, "count-objects", "-v") // git says later what is wrong, if anything is
	for line := range strings.Lines(string(out)) {
		if dir, borrowed := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: "); borrowed {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// namedFiles are the files that an agent's command names: by absolute path, or
// the program by its name in PATH.
func (a *App) namedFiles(command string) []string {
	var files []string
	for i, word := range process.ShellWords(command) {
		if i == 0 {
			if found, err := process.LookPath(word, a.Dir, a.Environ); err == nil {
				word = found
			}
		}
		if info, err := os.Stat(word); filepath.IsAbs(word) && err == nil && info.Mode().IsRegular() {
			files = append(files, word)
		}
	}
	return files
}

// maxConfig bounds a configuration file that is passed on, in bytes.
const maxConfig = 1 << 20

// passedConfig is what an evaluation is given of the caller's configuration: the content of
// files by their paths in a home, with slashes.
type passedConfig map[string][]byte

// passConfig reads the files that a program's `pass-config` stands for: of each
// tool the one that its variable names, else those in the caller's home. A tool
// that the machine lacks is left out: it need not have a mirror.
func (a *App) passConfig(tools []string) (passedConfig, error) {
	list := passedConfig{}
	for _, tool := range program.ToolConfigs() {
		if !slices.Contains(tools, tool.Tool) {
			continue
		}
		names, named := tool.Files, cmp.Or(a.Getenv(tool.Variable), a.Getenv(strings.ToLower(tool.Variable)))
		if filepath.IsAbs(named) {
			names = names[:1]
		}
		for _, name := range names {
			file := named
			if !filepath.IsAbs(named) {
				file = filepath.Join(a.Getenv("HOME"), name)
			}
			info, err := os.Stat(file)
			if errors.Is(err, fs.ErrNotExist) || file == os.DevNull || !filepath.IsAbs(file) {
				continue
			}
			if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
				err = fmt.Errorf("%s is no file of at most 1 MB", file)
			}
			if err == nil {
				list[name], err = os.ReadFile(file)
			}
			if err != nil {
				return nil, fmt.Errorf("`pass-config: %s`: %w", tool.Tool, err)
			}
		}
	}
	return list, nil
}

// write puts the files into a home that only our commands use.
func (list passedConfig) write(home string) error {
	for name, data := range list {
		if err := files.WritePrivate(filepath.Join(home, name), data); err != nil {
			return err
		}
	}
	return nil
}

// secrets are the logins in the files, which are masked like those of the environment.
func (list passedConfig) secrets() (found []string) {
	for _, data := range list {
		found = append(found, process.SecretsInSettings(data)...)
	}
	return found
}
