package setup

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/ci"
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
		data, _ := fs.ReadFile(dir, entry)
		name, events, unread := ci.Events(data)
		_, pushed := events["push"]
		_, pulled := events["pull_request"]
		if unread == nil && (pushed || pulled) && !strings.HasPrefix(entry, "autoloop") &&
			!strings.Contains(name, "${{") { // which no list of workflows can name
			names = append(names, cmp.Or(name, workflowDir+entry))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxCINames)]
}
