package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

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
				file = filepath.Join(a.Getenv("HOME"), filepath.FromSlash(name))
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
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
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
