package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// rewrite makes the bundle change another file, with every digest right: what
// code in the proposing job could do.
func (w *world) rewrite(dir, path string) {
	w.t.Helper()
	old := w.run(w.dir, "git", "rev-parse", "HEAD")
	index := append([]string{"env", "GIT_INDEX_FILE=" + filepath.Join(w.side, "index"), "git"}, "read-tree", old)
	w.run(w.dir, index...)
	blob := w.git("hash-object", "-w", filepath.Join(w.side, "values"))
	git := []string{"env", "GIT_INDEX_FILE=" + filepath.Join(w.side, "index"), "git"}
	w.run(w.dir, append(git, "update-index", "--cacheinfo", "100644,"+blob+","+path)...)
	tree := w.run(w.dir, append(git, "write-tree")...)
	patch := w.git("diff-tree", "-p", "--binary", "--full-index", old, tree) + "\n"
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "change.patch"), []byte(patch), 0o600))
	w.manifest(dir, func(m map[string]any) { m["candidate_tree"] = tree })
}

// manifest edits the manifest of a bundle and makes its digests right.
func (w *world) manifest(dir string, edit func(map[string]any)) {
	w.t.Helper()
	file := filepath.Join(dir, "manifest.json")
	data, err := os.ReadFile(file)
	require.NoError(w.t, err)
	var m map[string]any
	require.NoError(w.t, json.Unmarshal(data, &m))
	files := map[string]any{}
	for _, name := range []string{"change.patch", "events.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(w.t, err)
		sum := sha256.Sum256(text)
		files[name] = map[string]any{"size": len(text), "sha256": hex.EncodeToString(sum[:])}
	}
	m["files"] = files
	if edit != nil {
		edit(m)
	}
	data, err = json.Marshal(m)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(file, data, 0o600))
}
