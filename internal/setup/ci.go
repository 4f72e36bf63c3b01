package setup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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
	return strings.Replace(text, ciLine, "    workflows: "+quotedList(names), 1)
}

// quotedList is a list of strings on one line.
func quotedList(list []string) string {
	items := make([]string, len(list))
	for i, text := range list {
		items[i] = quoted(text)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// quoted is a string on one line as JSON has it, which YAML reads as it stands.
func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSpace(out.String())
}

// ciWorkflows are the names of the repository's workflows that run on pushes or
// pull requests, sorted, as the event workflow_run knows them. One that cannot
// be read is left out: GitHub does not run it either.
func ciWorkflows(root string) ([]string, error) {
	dir := filepath.Join(root, filepath.FromSlash(workflowDir))
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for CI: %w", err)
	}
	var names []string
	for _, entry := range entries {
		ours := strings.HasPrefix(entry.Name(), "autoloop")
		if ours || !entry.Type().IsRegular() || !slices.Contains([]string{".yml", ".yaml"}, path.Ext(entry.Name())) {
			continue
		}
		if name, found := ciName(filepath.Join(dir, entry.Name()), workflowDir+entry.Name()); found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxCINames)], nil
}

// ciName is the name of the workflow in a file; found is false when it does not
// run on pushes or pull requests. A workflow without a name is called by its path.
func ciName(file, place string) (name string, found bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	var workflow struct {
		Name string `yaml:"name"`
		On   any    `yaml:"on"`
	}
	if yaml.Unmarshal(data, &workflow) != nil {
		return "", false
	}
	if strings.Contains(workflow.Name, "${{") {
		return "", false // no list of workflows can name it
	}
	return cmp.Or(workflow.Name, place), startsOn(workflow.On, "push") || startsOn(workflow.On, "pull_request")
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
