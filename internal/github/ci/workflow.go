package ci

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/lazyregexp"
)

// IsWorkflow reports whether a tracked file is a workflow of GitHub Actions.
func IsWorkflow(file string) bool {
	return path.Dir(file) == ".github/workflows" && slices.Contains([]string{".yml", ".yaml"}, path.Ext(file))
}

var skips = lazyregexp.New(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|(?m)^skip-checks: ?true\s*$`)

// Skipped reports whether the message of a commit asks CI to leave it alone, as
// GitHub and others understand it.
func Skipped(message string) bool { return skips().MatchString(message) }

// StartsOnChange reports whether a workflow runs when one of these files is
// pushed, or changed in a pull request. If that cannot be read it returns true.
func StartsOnChange(workflow []byte, files []string) bool {
	var read struct{ On any }
	if err := yaml.Unmarshal(workflow, &read); err != nil {
		return true
	}
	switch on := read.On.(type) {
	case string:
		return startsCI(on)
	case []any:
		return slices.ContainsFunc(on, func(event any) bool {
			name, _ := event.(string)
			return startsCI(name)
		})
	case map[string]any:
		for event, filter := range on {
			if startsCI(event) && passes(filter, files) {
				return true
			}
		}
		return false
	default:
		return false
	}
}

func startsCI(event string) bool {
	return slices.Contains([]string{"push", "pull_request", "pull_request_target"}, event)
}

// passes reports whether the filter of an event lets a change of the files
// through. Filters on branches say nothing about what CI exists, and do not
// count.
func passes(filter any, files []string) bool {
	keys, _ := filter.(map[string]any)
	if _, tags := keys["tags"]; tags && keys["branches"] == nil && keys["branches-ignore"] == nil {
		return false
	}
	list, given := keys["paths"].([]any)
	if !given || len(files) == 0 {
		return true
	}
	return slices.ContainsFunc(files, func(file string) bool { return included(list, file) })
}

// included applies the patterns in their order: the last that matches decides.
func included(patterns []any, file string) bool {
	in := false
	for _, p := range patterns {
		pattern, _ := p.(string)
		pattern, not := strings.CutPrefix(pattern, "!")
		if matches, err := doublestar.Match(pattern, file); matches || err != nil {
			in = !not
		}
	}
	return in
}
