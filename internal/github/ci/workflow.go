package ci

import (
	"cmp"
	"fmt"
	"maps"
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

// Push is what workflows may start on: files that change on a branch, which is to be
// merged into another.
type Push struct {
	Files        []string
	Branch, Into string
}

// Started reports whether the change starts one of the workflows, by their files, and the names of the others.
func (c Push) Started(workflows map[string][]byte) (one bool, elsewhere []string) {
	starts := map[string]bool{}
	for file, text := range workflows {
		name, _, _ := Events(text) // one that cannot be read starts
		name = cmp.Or(name, file)
		starts[name] = starts[name] || c.Starts(text)
	}
	all := len(starts)
	maps.DeleteFunc(starts, func(_ string, is bool) bool { return is })
	return len(starts) < all, slices.Sorted(maps.Keys(starts))
}

// Events are the name of a workflow, "" for none, and the events on which it runs, each
// with its filters.
func Events(workflow []byte) (name string, events map[string]any, err error) {
	var read struct {
		Name string
		On   any
	}
	err = yaml.Unmarshal(workflow, &read)
	events = map[string]any{}
	switch on := read.On.(type) {
	case string:
		events[on] = nil
	case []any:
		for _, event := range on {
			events[fmt.Sprint(event)] = nil
		}
	case map[string]any:
		events = on
	}
	return read.Name, events, err
}

// Starts reports whether a workflow runs when the change is pushed, or when it is in a
// pull request. If that cannot be read it returns true.
func (c Push) Starts(workflow []byte) bool {
	_, events, err := Events(workflow)
	if err != nil {
		return true
	}
	for event, branch := range map[string]string{ // that its filters are about
		"push": c.Branch, "pull_request": c.Into, "pull_request_target": c.Into,
	} {
		if filter, is := events[event]; is && branch != "" && c.passes(filter, branch) {
			return true
		}
	}
	return false
}

// passes reports whether the filter of an event lets the change through.
func (c Push) passes(filter any, branch string) bool {
	keys, _ := filter.(map[string]any)
	only, some := keys["branches"].([]any)
	but, all := keys["branches-ignore"].([]any)
	_, tags := keys["tags"]
	onlyTags := tags && keys["branches"] == nil && keys["branches-ignore"] == nil
	if onlyTags || some && !included(only, branch) || all && included(but, branch) {
		return false
	}
	list, given := keys["paths"].([]any)
	if !given || len(c.Files) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Files, func(file string) bool { return included(list, file) })
}

// included applies the patterns in their order: the last that matches decides.
func included(patterns []any, name string) bool {
	in := false
	for _, p := range patterns {
		pattern, _ := p.(string)
		pattern, not := strings.CutPrefix(pattern, "!")
		if matches, err := doublestar.Match(pattern, name); matches || err != nil {
			in = !not
		}
	}
	return in
}
