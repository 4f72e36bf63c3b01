package setup

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/internal/plain"
)

// maxCINames bounds the workflows that are named.
const maxCINames = 50

// ciLine is the line of our workflows that names the repository's CI.
const ciLine = `    workflows: ["CI"]`

// withCI puts the names of the repository's CI into a workflow; without any it
// stays as it is.
func withCI(text string, names []string) string {
	if len(names) == 0 {
		return text
	}
	return strings.Replace(text, ciLine, "    workflows: ["+plain.List(names, len(names))+"]", 1)
}

// ciWorkflows are the names of the repository's workflows that run on pushes or
// pull requests, sorted, as the event workflow_run knows them: by its path one without a
// name. One that cannot be read is left out: GitHub does not run it either.
func ciWorkflows(root string) []string {
	dir := os.DirFS(filepath.Join(root, filepath.FromSlash(workflowDir)))
	entries, _ := fs.Glob(dir, "*.y*ml") // its error is of the pattern
	var names []string
	for _, entry := range entries {
		var workflow struct {
			Name string `yaml:"name"`
			On   any    `yaml:"on"`
		}
		data, err := fs.ReadFile(dir, entry)
		if err != nil || yaml.Unmarshal(data, &workflow) != nil || strings.HasPrefix(entry, "autoloop") ||
			strings.Contains(workflow.Name, "${{") { // which no list of workflows can name
			continue
		}
		if startsOn(workflow.On, "push") || startsOn(workflow.On, "pull_request") {
			names = append(names, cmp.Or(workflow.Name, workflowDir+entry))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxCINames)]
}

// startsOn says whether the `on` of a workflow, a word, a list or a mapping,
// has an event.
func startsOn(on any, event string) bool {
	switch on := on.(type) {
	case string:
		return on == event
	case []any:
		return slices.Contains(on, any(event))
	case map[string]any:
		_, found := on[event]
		return found
	default:
		return false
	}
}
