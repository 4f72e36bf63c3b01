package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
)

// maxManifest bounds a manifest, in bytes.
const maxManifest = 256 << 20

// BadError says why a snapshot cannot be used.
type BadError struct {
	Snapshot, Why string
}

// Error names the snapshot, what is wrong with it, and what to do.
func (e *BadError) Error() string {
	return fmt.Sprintf("snapshot %s %s; nothing was changed: use another snapshot or take it again", e.Snapshot, e.Why)
}

// Verify reads all of a snapshot and returns the tree that it stands for. What is
// missing, cut off or altered is a *BadError.
func Verify(ctx context.Context, snapshot string) (Tree, error) {
	l, err := open(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.root.Close() }()
	return l.tree, nil
}

// VerifyBelow is Verify for one directory of a snapshot alone, with the paths
// that it has there; nothing else is read.
func VerifyBelow(ctx context.Context, snapshot, dir string) (Tree, error) {
	all, why := readTree(ManifestFile(snapshot))
	if why != "" {
		return nil, &BadError{snapshot, why}
	}
	want := all.Below(dir)
	found, err := Scan(ctx, filepath.Join(snapshot, filepath.FromSlash(dir)))
	if err != nil {
		return nil, &BadError{snapshot, "cannot be read: " + err.Error()}
	}
	for _, d := range files.Compare(modeless(want), modeless(found)) {
		return nil, &BadError{snapshot, fmt.Sprintf("was altered: %q is not what its manifest says", dir+"/"+d.Path)}
	}
	return want, nil
}

// open verifies a snapshot and returns it with the modes of its manifest. The caller
// closes its root.
func open(ctx context.Context, snapshot string) (l *listing, err error) {
	bad := func(format string, args ...any) error { return &BadError{snapshot, fmt.Sprintf(format, args...)} }
	if _, err := os.Lstat(snapshot); errors.Is(err, fs.ErrNotExist) {
		return nil, bad("is missing")
	}
	if err := isDirectory(snapshot); err != nil {
		return nil, bad("cannot be read: %v", err)
	}
	if l, err = list(ctx, snapshot); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = l.root.Close()
		}
	}()
	if err := l.hash(ctx); err != nil {
		return l, err
	}
	wanted, why := readTree(ManifestFile(snapshot))
	if why == "" {
		why = l.differs(wanted)
	}
	// When a run was killed while it replaced the snapshot, the manifest that
	// waits may be the one that fits.
	if why != "" {
		next, none := readTree(nextFile(snapshot))
		if none != "" || l.differs(next) != "" {
			return l, bad("%s", why)
		}
		_ = os.Rename(nextFile(snapshot), ManifestFile(snapshot))
		wanted = next
	}
	l.tree = wanted
	return l, nil
}

// readTree reads a manifest, or says why it cannot be used.
func readTree(file string) (tree Tree, why string) {
	data, err := files.ReadSmall(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "has no manifest (" + file + ")"
	}
	if err == nil {
		tree, err = readManifest(data)
	}
	if err != nil {
		return nil, fmt.Sprintf("has a manifest that cannot be used: %s %v", file, err)
	}
	return tree, ""
}

// differs says how a directory is not what a manifest stands for, or "".
func (l *listing) differs(tree Tree) string {
	if len(l.kept) > 0 {
		return fmt.Sprintf("was altered: %q is not in its manifest", l.kept[0])
	}
	for _, d := range files.Compare(modeless(tree), modeless(l.tree)) {
		switch {
		case d.After == nil:
			return fmt.Sprintf("was altered: %q is missing", d.Path)
		case d.Before == nil:
			return fmt.Sprintf("was altered: %q is not in its manifest", d.Path)
		case d.After.Size < d.Before.Size:
			return fmt.Sprintf("was altered: %q is cut off (%d of %d bytes)", d.Path, d.After.Size, d.Before.Size)
		default:
			return fmt.Sprintf("was altered: %q is not what its manifest says", d.Path)
		}
	}
	if fault := faultOf(tree); fault != "" {
		return "cannot be used: " + fault
	}
	return ""
}

// modeless is a tree without modes: those of a snapshot on disk are not those
// that it stands for.
func modeless(t Tree) Tree {
	out := make(Tree, len(t))
	for i, e := range t {
		out[i] = content(e)
	}
	return out
}

// syncManifest writes the manifest of a tree to a file.
func syncManifest(file string, t Tree) error {
	text, err := writeManifest(t)
	if err != nil {
		return err
	}
	return files.WriteFile(file, text, 0o444)
}
