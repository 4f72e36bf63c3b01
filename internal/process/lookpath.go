package process

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotFound says that a program is not in the PATH that it was looked up in.
var ErrNotFound = errors.New("program not found")

// LookPath finds the program name in the PATH of env. A name with a slash is
// taken as it is, relative to dir. Relative entries of PATH are skipped, so that
// nothing is run from a tree by accident. The error wraps ErrNotFound.
func LookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.IsAbs(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return executable(name)
	}
	if name == "" {
		return "", fmt.Errorf("%w: its name is empty", ErrNotFound)
	}
	for _, entry := range filepath.SplitList(Getenv(env, "PATH")) {
		if !filepath.IsAbs(entry) {
			continue
		}
		if path, err := executable(filepath.Join(entry, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %q is not in PATH", ErrNotFound, name)
}

func executable(path string) (string, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("%w: %q is not an executable file", ErrNotFound, path)
	}
	return filepath.Abs(found)
}

// Getenv returns the value of name in env, or "". As for a real process the
// last entry of a name wins.
func Getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// replaced is an environment with other values for the variables of more.
func replaced(env, more []string) []string {
	kept := make([]string, 0, len(env)+len(more))
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc(more, func(other string) bool { return strings.HasPrefix(other, name+"=") }) {
			kept = append(kept, variable)
		}
	}
	return append(kept, more...)
}
