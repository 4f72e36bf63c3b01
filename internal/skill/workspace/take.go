package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// Taken is what came of taking a snapshot.
type Taken struct {
	Tree   Tree   `json:"-"`
	Digest string `json:"digest"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	// Changed is false when the snapshot was there as it should be.
	Changed bool `json:"changed"`
	// Written counts the files that were not there alike.
	Written int `json:"written"`
}

// Take makes the snapshot dst of the directory src, with its manifest beside it,
// or leaves what is there when it is the same. A snapshot that is there is
// replaced; any other directory that has something in it is an error. A process
// that is killed leaves the old snapshot or the new one.
func Take(ctx context.Context, src, dst string) (Taken, error) {
	taken, err := take(ctx, src, dst)
	if err != nil {
		return Taken{}, fmt.Errorf("take a snapshot of %s: %w", src, err)
	}
	taken.Digest = taken.Tree.Digest()
	taken.Files, taken.Bytes = taken.Tree.Files()
	return taken, nil
}

func take(ctx context.Context, src, dst string) (Taken, error) {
	src, dst, err := places(src, dst)
	if err != nil {
		return Taken{}, err
	}
	unlock, err := hold(dst)
	if err != nil {
		return Taken{}, err
	}
	defer unlock()
	from, err := list(ctx, src)
	if err != nil {
		return Taken{}, err
	}
	defer func() { _ = from.root.Close() }()
	if fault := faultOf(from.tree); fault != "" {
		return Taken{}, errors.New(fault)
	}
	old, err := existing(ctx, dst)
	if err != nil {
		return Taken{}, err
	}
	if err := from.hash(ctx); err != nil {
		return Taken{}, err
	}
	changes := files.Compare(old, from.tree)
	if old != nil && len(changes) == 0 {
		return Taken{Tree: old}, removeFile(nextFile(dst))
	}
	if isOriginal(dst) {
		return Taken{}, fmt.Errorf("%s is the original of a workspace, which never changes; begin a new workspace "+
			"with --fresh", dst)
	}
	if err := put(ctx, from, dst); err != nil {
		return Taken{}, err
	}
	return Taken{Tree: from.tree, Changed: true, Written: written(changes)}, nil
}

// Discard removes a snapshot with its manifest, and what an interrupted Take of
// it left; nothing there is no fault.
func Discard(snapshot string) error {
	unlock, err := hold(snapshot)
	if err != nil {
		return err
	}
	defer unlock()
	return errors.Join(files.RemoveAll(snapshot), removeFile(ManifestFile(snapshot)), removeFile(nextFile(snapshot)))
}

// isOriginal reports whether a place is v0 of a workspace.
func isOriginal(dst string) bool {
	if filepath.Base(dst) != "v0" {
		return false
	}
	w, err := OpenWorkspace(filepath.Dir(dst))
	return err == nil && w.SuiteHash != ""
}

// places resolves both directories, and makes the one that the snapshot will
// be in.
func places(src, dst string) (from, to string, err error) {
	if err := isDirectory(src); err != nil {
		return "", "", err
	}
	if info, err := os.Lstat(filepath.Clean(dst)); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("%s is there and is no directory", dst)
	}
	if from, to, err = apart(src, dst); err != nil {
		return "", "", err
	}
	return from, to, os.MkdirAll(filepath.Dir(to), 0o755) //nolint:gosec // a directory as any other
}

// existing reads the snapshot that is at dst: nil without one that could be used, an
// error when something else is there.
func existing(ctx context.Context, dst string) (Tree, error) {
	entries, err := os.ReadDir(dst)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(ManifestFile(dst)); err != nil {
		return nil, fmt.Errorf("%s has files in it and is no snapshot (%s is not there); choose another place or "+
			"empty it", dst, ManifestFile(dst))
	}
	old, err := Verify(ctx, dst)
	if _, is := errors.AsType[*BadError](err); is {
		return nil, nil // what was altered is of no use
	}
	return old, err
}

// readOnly is the mode on disk of what a snapshot has.
func readOnly(e Entry) fs.FileMode {
	if e.IsDir() {
		return e.Mode.Perm()&0o555 | 0o500
	}
	return e.Mode.Perm()&0o555 | 0o400
}

// put copies the tree and moves it into place.
func put(ctx context.Context, from *listing, dst string) error {
	fresh, err := newStage(dst)
	if err != nil {
		return err
	}
	defer func() { _ = files.RemoveAll(fresh) }()
	if err := build(ctx, from, from.tree, fresh, readOnly); err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o555); err != nil { //nolint:gosec // a snapshot is for whoever may read the workspace
		return err
	}
	return publish(fresh, dst, from.tree)
}

// publish moves a finished directory to its name. The manifest is there before
// a new snapshot is; beside one that is replaced it waits under another name.
func publish(fresh, dst string, t Tree) error {
	if err := os.Remove(dst); err == nil || errors.Is(err, fs.ErrNotExist) {
		if err := syncManifest(ManifestFile(dst), t); err != nil {
			return err
		}
		if err := os.Rename(fresh, dst); err != nil {
			return err
		}
		return files.SyncDirectory(filepath.Dir(dst))
	}
	if err := syncManifest(nextFile(dst), t); err != nil {
		return err
	}
	if err := swap(fresh, dst, asideOf(dst)); err != nil {
		return err
	}
	if err := os.Rename(nextFile(dst), ManifestFile(dst)); err != nil {
		return err
	}
	return files.SyncDirectory(filepath.Dir(dst))
}

// build copies a tree's entries from a directory into another, a new one, with modes
// that fit those that they stand for, and syncs them. Digests that the tree has must be
// those of what is copied; those that it lacks are filled in.
func build(ctx context.Context, from *listing, t Tree, dir string, mode func(Entry) fs.FileMode) error {
	into, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	copier := files.Copier{
		From: from.root, Into: into, Mode: mode,
		Finish: func(e Entry, _, copied *os.File) error {
			if e.IsDir() {
				return files.SyncDirectory(filepath.Join(dir, filepath.FromSlash(e.Path)))
			}
			return copied.Sync()
		},
	}
	if err := copier.Copy(ctx, t); err != nil {
		return err
	}
	return files.SyncDirectory(dir)
}

// written counts the files that a tree has otherwise than before.
func written(changes []files.Difference) (count int) {
	for _, d := range changes {
		if d.After != nil && d.After.IsFile() {
			count++
		}
	}
	return count
}

// newStage makes a new directory beside dir, in which a tree is put together.
func newStage(dir string) (string, error) {
	return os.MkdirTemp(filepath.Dir(dir), filepath.Base(hidden(dir, "stage-"))+"*")
}

// clearStages removes those that an interrupted run left.
func clearStages(dir string) error {
	entries, err := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		if name := hidden(dir, "stage-"); strings.HasPrefix(e.Name(), filepath.Base(name)) {
			err = errors.Join(err, files.RemoveAll(filepath.Join(filepath.Dir(dir), e.Name())))
		}
	}
	return err
}
