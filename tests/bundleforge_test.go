package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

// rewrite makes the bundle change another file, with every digest right: what
// code in the proposing job could do.
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
	var m struct {
		Incumbent string `json:"incumbent_tree"`
	}
	data := readText(w.t, filepath.Join(dir, "manifest.json"))
	require.NoError(w.t, json.Unmarshal([]byte(data), &m))
	git := []string{"env", "GIT_INDEX_FILE=" + filepath.Join(w.side, "index"), "git"}
	w.run(w.dir, append(git, "read-tree", m.Incumbent)...)
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
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "change.json"), []byte(asJSON(w.t, change)), 0o600))
	w.manifest(dir, func(m map[string]any) { m["candidate_tree"] = tree })
}

// replace edits a file of a bundle and makes the digests right.
func (w *project) replace(dir, name, old, replacement string) {
	w.t.Helper()
	file := filepath.Join(dir, name)
	data := readText(w.t, file)
	require.Contains(w.t, data, old)
	require.NoError(w.t, os.WriteFile(file, []byte(strings.ReplaceAll(data, old, replacement)), 0o600))
	w.manifest(dir, nil)
}

// rewriteEvents edits the events of a bundle and makes the digests right.
func (w *project) rewriteEvents(dir string, edit func(events []map[string]any) []map[string]any) {
	w.t.Helper()
	file := filepath.Join(dir, "events.jsonl")
	data := readText(w.t, file)
	var events []map[string]any
	for line := range strings.Lines(data) {
		var event map[string]any
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		require.NoError(w.t, decoder.Decode(&event))
		events = append(events, event)
	}
	var text []byte
	for _, event := range edit(events) {
		line, err := json.Marshal(event)
		require.NoError(w.t, err)
		text = append(append(text, line...), '\n')
	}
	require.NoError(w.t, os.WriteFile(file, text, 0o600))
	w.manifest(dir, nil)
}

// manifest edits the manifest of a bundle and makes the digests right.
func (w *project) manifest(dir string, edit func(map[string]any)) {
	w.t.Helper()
	file := filepath.Join(dir, "manifest.json")
	data := readText(w.t, file)
	if edit != nil {
		var m map[string]any
		require.NoError(w.t, json.Unmarshal([]byte(data), &m))
		edit(m)
		require.NoError(w.t, os.WriteFile(file, []byte(asJSON(w.t, m)), 0o600))
	}
	sums := ""
	for _, name := range []string{"manifest.json", "change.json", "events.jsonl"} {
		text := readText(w.t, filepath.Join(dir, name))
		sum := sha256.Sum256([]byte(text))
		sums += hex.EncodeToString(sum[:]) + "  " + name + "\n"
	}
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums), 0o600))
}
