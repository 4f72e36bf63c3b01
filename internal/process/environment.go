package process

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// passed are the variables that agents and evaluations get as they are: where
// programs are, the locale, and how toolchains fetch.
var passed = []string{
	"PATH", "LANG", "LANGUAGE", "TZ", "SHELL", "USER", "LOGNAME", "PATHEXT", "SYSTEMROOT", "COMSPEC",
	"GOROOT", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GONOSUMDB", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN", "CGO_ENABLED",
	"CC", "CXX",
	"JAVA_HOME", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"PIP_CERT", "CARGO_HTTP_CAINFO",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NPM_CONFIG_REGISTRY", "npm_config_registry", "NPM_CONFIG_CAFILE", "npm_config_cafile", "PIP_INDEX_URL",
	"UV_INDEX_URL", "UV_DEFAULT_INDEX",
}

// cache is a toolchain's directory that is worth keeping between runs: the
// variable that names it, and where it is below the home when unset ("": it is
// named only when the caller does). A store holds what was fetched or installed,
// and is of use when it cannot be written; else it holds what tool builds.
type cache struct {
	name, below, tool string
	store             bool
}

var caches = []cache{
	{"GOPATH", "go", "go", true},
	{"GOMODCACHE", "", "go", true},
	{"GOCACHE", ".cache/go-build", "go", false},
	{"npm_config_cache", ".npm", "npm", false},
	{"PIP_CACHE_DIR", ".cache/pip", "pip", false},
	{"UV_CACHE_DIR", ".cache/uv", "uv", false},
	{"CARGO_HOME", ".cargo", "cargo", true},
	{"RUSTUP_HOME", ".rustup", "rustup", true},
	{"GRADLE_USER_HOME", ".gradle", "gradle", false},
}

// Environment is the whole environment of an agent or an evaluation: what is
// passed from the caller's (NAME=value), a home and temporary directory of its
// own, the toolchain caches of the caller's home, and the variables that the
// program lists by name. Nothing of GitHub's, git's or ours is in it, and never
// GitHub's token or the key of the models.
func Environment(caller []string, home string, names []string) []string {
	real := Getenv(caller, "HOME")
	env := []string{"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "AUTOLOOP=true", "GIT_TERMINAL_PROMPT=0"}
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home, "TEMP="+filepath.Join(home, "tmp"), "TMP="+filepath.Join(home, "tmp"))
	}
	for _, c := range caches {
		switch value := Getenv(caller, c.name); {
		case value != "":
			env = append(env, c.name+"="+value)
		case real != "" && c.below != "":
			env = append(env, c.name+"="+filepath.Join(real, c.below))
		}
	}
	for _, variable := range caller {
		name, _, _ := strings.Cut(variable, "=")
		locale := strings.HasPrefix(name, "LC_")
		listed := slices.Contains(names, name) && !forbidden().MatchString(name)
		if locale || listed || slices.Contains(passed, name) {
			env = append(env, variable)
		}
	}
	return env
}

// forbidden is what no program may ask for, whatever reads its `env`.
var forbidden = lazyregexp.New(`(?i)^(?:(?:GITHUB|GH)_(?:ENTERPRISE_)?TOKEN|AUTOLOOP_(?:TOKEN|MODELS_KEY)|ACTIONS_.*|` +
	`GIT_.*|HOME)$`)

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
