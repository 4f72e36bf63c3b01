package git

import (
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
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

var (
	// keptVariable says where the user's own configuration is; safe.directory is read
	// from there.
	keptVariable = lazyregexp.New(`^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$`)
	transport    = lazyregexp.New(`^GIT_(SSH|ASKPASS|SSL_|HTTP_|PROXY_)`)
	// locale changes the language of git's messages, which are read here.
	locale           = lazyregexp.New(`^(LANGUAGE|LC_ALL|LC_MESSAGES)$`)
	transportSetting = lazyregexp.New(`(?i)^(http|credential|url)\.`)
)

func newEnvironment(env []string) environment {
	var e environment
	values := map[string]string{}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name)
		switch {
		case keptVariable().MatchString(name):
			e.base = append(e.base, variable)
		case strings.HasPrefix(name, "GIT_"):
			values[name] = value
			if transport().MatchString(name) {
				e.transport = append(e.transport, variable)
			}
		case !locale().MatchString(name):
			e.base = append(e.base, variable)
		}
	}
	const most = 1000
	count, _ := strconv.Atoi(values["GIT_CONFIG_COUNT"])
	for i := range min(count, most) {
		number := strconv.Itoa(i)
		if key := values["GIT_CONFIG_KEY_"+number]; transportSetting().MatchString(key) {
			e.inherited = append(e.inherited, Setting{Key: key, Value: values["GIT_CONFIG_VALUE_"+number]})
		}
	}
	return e
}

func (e environment) of(id Identity, settings []Setting, transport bool) []string {
	env := slices.Clone(e.base)
	if transport {
		env = append(env, e.transport...)
		settings = slices.Concat(e.inherited, settings)
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
	// Through the environment a secret is in no argument list, and a key may have any character.
	for i, s := range settings {
		number := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+number+"="+s.Key, "GIT_CONFIG_VALUE_"+number+"="+s.Value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
}
