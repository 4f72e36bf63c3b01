package taskrun

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/autoloop/internal/agent/commandline"
)

// Config says which files of a directory are the configuration of an agent, by
// globs on their path from that directory, with slashes; `**` is any number of
// directories, and a slash at the end means all that is below.
type Config struct {
	Include, Exclude []string
}

// AgentConfig returns where coding agents keep the configuration of a project.
// What is personal is left out: it would be another one on every machine.
func AgentConfig() Config {
	config, personal := commandline.All().Config()
	return Config{Include: config, Exclude: append([]string{"**/*.local.*"}, personal...)}
}

// Match reports whether a file is part of the configuration.
func (c Config) Match(path string) bool {
	return matchAny(c.Include, path) && !matchAny(c.Exclude, path)
}

func matchAny(globs []string, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return doublestar.MatchUnvalidated(whole(glob), path) })
}

func whole(glob string) string {
	if strings.HasSuffix(glob, "/") {
		return glob + "**"
	}
	return glob
}

// Within reports whether a file below a directory can be part of it.
func (c Config) Within(dir string) bool {
	return slices.ContainsFunc(c.Include, func(glob string) bool {
		base, rest := doublestar.SplitPattern(whole(glob))
		if strings.HasPrefix(base+"/", dir+"/") {
			return true
		}
		deep := strings.ContainsAny(rest, "/{") || strings.Contains(rest, "**")
		return deep && (base == "." || strings.HasPrefix(dir, base+"/"))
	})
}
