package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// rewrite makes the bundle change another file: what code in the proposing job could do.
func (w *project) rewrite(dir, path string) {
	w.t.Helper()
	w.plant(dir, "100644", w.git("hash-object", "-w", filepath.Join(w.side, "values")), path)
}

// link makes the bundle bring a symbolic link.
func (w *project) link(dir, path, target string) {
	w.t.Helper()
	file := filepath.Join(w.side, "target")
	require.NoError(w.t, os.WriteFile(file, []byte(target), 0o600))
	w.plant(dir, "120000", w.git("hash-object", "-w", file), path)
}

// plant makes the bundle put something into the incumbent's tree.
func (w *project) plant(dir, mode, id string, paths ...string) {
	w.t.Helper()
	var incumbent string
	w.forge(dir, func(m map[string]any) { incumbent, _ = m["incumbent_tree"].(string) })
	git := []string{"env", "GIT_INDEX_FILE=" + filepath.Join(w.side, "index"), "git"}
	w.run(w.dir, append(git, "read-tree", incumbent)...)
	for _, path := range paths {
		w.run(w.dir, append(git, "update-index", "--add", "--cacheinfo", mode+","+id+","+path)...)
	}
	tree := w.run(w.dir, append(git, "write-tree", "--missing-ok")...)
	var change []map[string]any
	for _, path := range paths {
		file := map[string]any{"path": path, "mode": mode}
		if mode != "160000" {
			data, err := exec.CommandContext(w.t.Context(), "git", "-C", w.dir, "cat-file", "blob", id).Output()
			require.NoError(w.t, err)
			file["data"] = data
		}
		change = append(change, file)
	}
	w.forge(dir, func(m map[string]any) { m["candidate_tree"], m["files"] = tree, change })
}

// replace edits the text of a bundle.
func (w *project) replace(dir, old, replacement string) {
	w.t.Helper()
	file := filepath.Join(dir, "bundle.json")
	data := readText(w.t, file)
	require.Contains(w.t, data, old)
	require.NoError(w.t, os.WriteFile(file, []byte(strings.ReplaceAll(data, old, replacement)), 0o600))
}

// forge edits what a bundle says.
func (w *project) forge(dir string, edit func(m map[string]any)) {
	w.t.Helper()
	file := filepath.Join(dir, "bundle.json")
	var m map[string]any
	decoder := json.NewDecoder(strings.NewReader(readText(w.t, file)))
	decoder.UseNumber()
	require.NoError(w.t, decoder.Decode(&m))
	edit(m)
	require.NoError(w.t, os.WriteFile(file, []byte(asJSON(w.t, m)), 0o600))
}

// decided is the decision of a bundle.
func decided(m map[string]any) map[string]any {
	fields, _ := m["decided"].(map[string]any)
	return fields
}
