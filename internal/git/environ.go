package git

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/process"
)

// environment is the base environment without GIT_*.
type environment struct {
	base []string
	// transport are the GIT_* variables that say how a remote is reached.
	transport []string
	// inherited is configuration given to us by GIT_CONFIG_COUNT that says how
	// a remote is reached.
	inherited []Setting
}

func newEnvironment(env []string) environment {
	var e environment
	values := map[string]string{}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		upper := strings.ToUpper(name)
		switch {
		case keepsConfiguration(upper):
			e.base = append(e.base, variable)
		case strings.HasPrefix(upper, "GIT_"):
			values[upper] = value
			if isTransport(upper) {
				e.transport = append(e.transport, variable)
			}
		case isLocale(upper):
		default:
			e.base = append(e.base, variable)
		}
	}
	e.inherited = inheritedSettings(values)
	return e
}

func (e environment) of(id Identity, settings []Setting, transport bool) []string {
	env := append([]string(nil), e.base...)
	if transport {
		env = append(env, e.transport...)
		settings = append(append([]Setting(nil), e.inherited...), settings...)
	}
	env = append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat",
		"GIT_EDITOR=:",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_AUTHOR_NAME="+id.Name,
		"GIT_AUTHOR_EMAIL="+id.Email,
		"GIT_COMMITTER_NAME="+id.Name,
		"GIT_COMMITTER_EMAIL="+id.Email,
	)
	return append(env, settingVariables(settings)...)
}

// keepsConfiguration holds for the variables that say where the user's own
// configuration is; safe.directory is read from there.
func keepsConfiguration(name string) bool {
	return name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM" || name == "GIT_CONFIG_NOSYSTEM"
}

func isTransport(name string) bool {
	for _, prefix := range []string{"GIT_SSH", "GIT_ASKPASS", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isLocale holds for what changes the language of git's messages, which are
// read here.
func isLocale(name string) bool {
	return name == "LANGUAGE" || name == "LC_ALL" || name == "LC_MESSAGES"
}

func inheritedSettings(values map[string]string) []Setting {
	count, err := strconv.Atoi(values["GIT_CONFIG_COUNT"])
	if err != nil || count > 1000 {
		return nil
	}
	var settings []Setting
	for i := range count {
		number := strconv.Itoa(i)
		key := values["GIT_CONFIG_KEY_"+number]
		lower := strings.ToLower(key)
		if strings.HasPrefix(lower, "http.") || strings.HasPrefix(lower, "credential.") ||
			strings.HasPrefix(lower, "url.") {
			settings = append(settings, Setting{Key: key, Value: values["GIT_CONFIG_VALUE_"+number]})
		}
	}
	return settings
}

// configFiles are the files of the user's and the system's configuration.
func (e environment) configFiles() []string {
	var files []string
	home := process.Getenv(e.base, "HOME")
	if global := process.Getenv(e.base, "GIT_CONFIG_GLOBAL"); global != "" {
		files = append(files, global)
	} else if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	switch xdg := process.Getenv(e.base, "XDG_CONFIG_HOME"); {
	case xdg != "":
		files = append(files, filepath.Join(xdg, "git", "config"))
	case home != "":
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	return append(files, "/etc/gitconfig")
}
