package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Fingerprint is what an agent could change in a repository to make later
// commands do something else: configuration, hooks, attributes and refs.
type Fingerprint map[string]string

// Fingerprint reads the repository's fingerprint. Files of any size count by
// their digest.
func (r *Repo) Fingerprint(ctx context.Context) (Fingerprint, error) {
	refs, err := r.ListRefs(ctx)
	if err != nil {
		return nil, err
	}
	found := Fingerprint{}
	for _, ref := range refs {
		found["ref "+ref.Name] = ref.ID + ref.Symref
	}
	for _, name := range []string{"config", "info/attributes", "info/exclude", "info/grafts", "objects/info/alternates"} {
		found.file(name, filepath.Join(r.CommonDir, filepath.FromSlash(name)))
	}
	found.file("HEAD", filepath.Join(r.GitDir, "HEAD"))
	found.file("config.worktree", filepath.Join(r.GitDir, "config.worktree"))
	hooks := filepath.Join(r.CommonDir, "hooks")
	_ = filepath.WalkDir(hooks, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found.file("hooks/"+entry.Name(), path)
		}
		return nil
	})
	return found, nil
}

func (f Fingerprint) file(name, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	mode := ""
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().String()
	}
	f[name] = mode + " " + hex.EncodeToString(sum[:])
}

// Diff says what changed since f, one readable line each, in order; nothing
// when they are the same.
func (f Fingerprint) Diff(later Fingerprint) []string {
	names := map[string]bool{}
	for name := range f {
		names[name] = true
	}
	for name := range later {
		names[name] = true
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, was := f[name]
		after, is := later[name]
		switch {
		case !was:
			lines = append(lines, fmt.Sprintf("%s appeared", name))
		case !is:
			lines = append(lines, fmt.Sprintf("%s is gone", name))
		case before != after:
			lines = append(lines, fmt.Sprintf("%s changed", name))
		}
	}
	return lines
}
