package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/lazyregexp"
)

var versionName = lazyregexp.New(`^v[0-9]+$`)

// Foreign reports whether dir is a workspace that another program made: it has
// versions and no manifest of anything.
func Foreign(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "v0"))
	if err != nil || !info.IsDir() {
		return false
	}
	for _, name := range []string{"manifest.json", "v0.manifest.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// Adopt makes a foreign workspace one of ours: every version gets a manifest of
// what it has now, v0 last, so that an interrupted adoption begins anew. The
// versions stay as they are.
func Adopt(ctx context.Context, dir string) (*Workspace, error) {
	w, err := OpenWorkspace(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for i := len(entries) - 1; i >= 0; i-- { // sorted, so that v0 comes after the others
		name := entries[i].Name()
		if !entries[i].IsDir() || !versionName().MatchString(name) {
			continue
		}
		tree, err := Scan(ctx, filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("adopt the workspace: %w", err)
		}
		if name == "v0" {
			w.SuiteHash = tree.Below("evals").Digest()
		}
		if err := syncManifest(ManifestFile(filepath.Join(dir, name)), tree); err != nil {
			return nil, fmt.Errorf("adopt the workspace: %w", err)
		}
	}
	table, err := w.Results()
	if err != nil {
		return nil, err
	}
	for _, row := range table.Rows() {
		if row.Action != results.Reverted {
			w.Best = row.Iteration
		}
	}
	w.Executor = &history.Executor{} // somebody else, so that the next run measures anew
	return w, w.Save()
}
