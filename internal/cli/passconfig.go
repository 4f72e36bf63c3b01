package cli

import (
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

// configFile is a file of the caller's that an evaluation is given: its path in
// a home, with slashes, and its content.
type configFile struct {
	path string
	data []byte
}

// configFiles reads the files that a program's `pass-config` stands for: of each
// tool the one that its variable names, else those in the caller's home. A tool
// that the machine lacks is left out: it need not have a mirror.
func (a *App) configFiles(tools []string) ([]configFile, error) {
	var found []configFile
	home := a.Getenv("HOME")
	for _, tool := range program.ToolConfigs() {
		if !slices.Contains(tools, tool.Tool) {
			continue
		}
		named := a.namedConfig(tool.Variable)
		for i, name := range tool.Files {
			file := filepath.Join(home, filepath.FromSlash(name))
			if named != "" {
				file = named
			}
			if named != "" && i > 0 || !filepath.IsAbs(file) {
				continue
			}
			data, err := readConfig(file)
			if err != nil {
				return nil, fmt.Errorf("`pass-config: %s`: %w", tool.Tool, err)
			}
			if data != nil {
				found = append(found, configFile{name, data})
			}
		}
	}
	return found, nil
}

// namedConfig is the absolute path in a tool's variable, in either case of its
// letters; "" for none.
func (e Env) namedConfig(variable string) string {
	for _, name := range []string{variable, strings.ToLower(variable)} {
		if file := e.Getenv(name); filepath.IsAbs(file) {
			return file
		}
	}
	return ""
}

// readConfig reads a configuration file; a missing one is nil without an error.
func readConfig(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), name == os.DevNull:
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxConfig:
		return nil, fmt.Errorf("%s is no file of at most 1 MB", name)
	}
	return os.ReadFile(name)
}

// writeConfig puts configuration files into a home that only our commands use.
func writeConfig(home string, list []configFile) error {
	for _, file := range list {
		path := filepath.Join(home, filepath.FromSlash(file.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// configSecrets are the logins in configuration files, which are masked like
// those of the environment.
func configSecrets(list []configFile) []string {
	var found []string
	for _, file := range list {
		found = append(found, process.SecretsInSettings(file.data)...)
	}
	return found
}
