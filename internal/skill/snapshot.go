package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/files"
)

// The bounds of a snapshot and of its manifest.
const (
	maxEntries  = 200_000
	maxDepth    = 200
	maxBytes    = 4 << 30
	maxManifest = 256 << 20
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

// TakeSnapshot makes the snapshot dst of the directory src, with its manifest beside it,
// or leaves what is there when it is the same. Another snapshot that is there is
// replaced; any other directory that has something in it is an error. A process
// that is killed leaves the old snapshot, the new one, or none that Verify takes.
func TakeSnapshot(ctx context.Context, src, dst string) (taken Taken, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("take a snapshot of %s: %w", src, err)
		}
	}()
	from, place, err := apart(src, dst)
	if err != nil {
		return taken, err
	}
	now, err := Scan(ctx, from)
	if err != nil {
		return taken, err
	}
	taken.Tree, taken.Digest = now.Tree, now.Digest()
	taken.Files, taken.Bytes = now.Files()
	old, err := Verify(ctx, place)
	if err != nil { // it is not there, is no snapshot, or one that was altered is of no use
		entries, _ := os.ReadDir(place)
		if _, err := os.Lstat(ManifestFile(place)); err != nil && len(entries) > 0 {
			return taken, fmt.Errorf("%s has files in it and is no snapshot (%s is not there); choose another place or "+
				"empty it", place, ManifestFile(place))
		}
	}
	changes := files.Compare(old.Tree, now.Tree)
	if taken.Changed = err != nil || len(changes) > 0; !taken.Changed {
		return taken, nil
	}
	taken.Written, _ = counted(changes)
	if _, err := os.Lstat(filepath.Join(filepath.Dir(place), "manifest.json")); err == nil &&
		filepath.Base(place) == "v0" {
		return taken, fmt.Errorf("%s is the original of a workspace, which never changes; begin a new workspace with "+
			"--fresh", dst)
	}
	return taken, PutSnapshot(ctx, now, place)
}

// counted are the files that changes write, and the entries that they remove.
func counted(changes []files.Difference) (written, removed int) {
	for _, d := range changes {
		if d.After == nil {
			removed++
		} else if d.After.IsFile() {
			written++
		}
	}
	return written, removed
}

// PutSnapshot makes a snapshot of a content, whose directory may have other modes. Its manifest
// is there before it is, so that what is half replaced is no snapshot.
func PutSnapshot(ctx context.Context, c Content, dst string) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil { //nolint:gosec // a directory as any other
		return err
	}
	fresh, end, err := stage(dst)
	if err != nil {
		return err
	}
	defer end()
	err = build(ctx, c, fresh, func(e Entry) fs.FileMode {
		if e.IsDir() {
			return e.Mode.Perm()&0o555 | 0o500
		}
		return e.Mode.Perm()&0o555 | 0o400
	})
	if err != nil {
		return err
	}
	if err := files.RemoveAll(dst); err != nil {
		return err
	}
	if err := saveManifest(dst, c.Tree); err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o555); err != nil { //nolint:gosec // for whoever may read the workspace
		return err
	}
	return errors.Join(os.Rename(fresh, dst), files.SyncDirectory(filepath.Dir(dst)))
}

// saveManifest writes the manifest of a snapshot, in one step.
func saveManifest(snapshot string, t Tree) error {
	text, err := writeManifest(t)
	if err != nil {
		return err
	}
	return files.WriteFile(ManifestFile(snapshot), text, 0o444)
}

// DiscardSnapshot removes a snapshot with its manifest, and what an interrupted Take of
// it left; nothing there is no fault.
func DiscardSnapshot(snapshot string) error {
	_, end, err := stage(snapshot)
	if err != nil {
		return err
	}
	defer end()
	if err := files.RemoveAll(snapshot); err != nil {
		return err
	}
	return files.RemoveAll(ManifestFile(snapshot))
}

// Verify reads all of a snapshot and returns it with the modes of its manifest. What is
// missing, cut off or altered is an error.
func Verify(ctx context.Context, snapshot string) (Content, error) {
	bad := func(format string, args ...any) (Content, error) {
		return Content{}, fmt.Errorf("snapshot %s %s; nothing was changed: use another snapshot or take it again", snapshot,
			fmt.Sprintf(format, args...))
	}
	found, _, err := scan(ctx, snapshot, false)
	switch {
	case ctx.Err() != nil:
		return Content{}, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return bad("is missing")
	case err != nil:
		return bad("cannot be read: %v", err)
	}
	data, err := files.ReadSmall(ManifestFile(snapshot), maxManifest)
	var tree Tree
	if err == nil {
		tree, err = readManifest(data)
	}
	if err != nil {
		return bad("has a manifest that cannot be used: %s %v", ManifestFile(snapshot), err)
	}
	if changes := files.Compare(modeless(tree), modeless(found)); len(changes) > 0 {
		what := "not what its manifest says"
		switch {
		case changes[0].After == nil:
			what = "missing"
		case changes[0].Before == nil:
			what = "not in its manifest"
		}
		return bad("was altered: %q is %s", changes[0].Path, what)
	}
	if fault := faultOf(tree); fault != "" {
		return bad("cannot be used: %s", fault)
	}
	return Content{snapshot, tree}, nil
}

// modeless is a tree without permissions: those of a snapshot on disk are not those
// that it stands for.
func modeless(t Tree) Tree {
	out := make(Tree, len(t))
	for i, e := range t {
		e.Mode = e.Mode.Type()
		out[i] = e
	}
	return out
}

// Restored is what came of restoring a snapshot.
type Restored struct {
	Digest string `json:"digest"`
	// Changed is false when the directory was as the snapshot already.
	Changed bool `json:"changed"`
	// Written counts the files that were copied, Removed the entries that the
	// snapshot does not have.
	Written int `json:"written"`
	Removed int `json:"removed"`
}

// Restore makes a directory equal to a snapshot: content, modes and links, and
// nothing besides, but for its `.git`, which it does not touch. What is wrong with the
// snapshot is an error, and nothing is changed then. A process that is killed leaves
// the old state or the new one; where a `.git`, or the file system, keeps the directory from
// being exchanged whole, its entries are replaced one by one, and the next restore finishes that.
func Restore(ctx context.Context, snapshot, dir string) (Restored, error) {
	return RestoreOver(ctx, snapshot, dir, "")
}

// RestoreOver is Restore that changes nothing unless the directory has this
// digest, "" for any: what somebody wrote meanwhile is not lost.
func RestoreOver(ctx context.Context, snapshot, dir, digest string) (r Restored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s: %w", dir, err)
		}
	}()
	from, place, err := apart(snapshot, dir)
	if err != nil {
		return r, err
	}
	wanted, err := Verify(ctx, from)
	if err != nil {
		return r, err
	}
	fresh, end, err := stage(place)
	if err != nil {
		return r, err
	}
	defer end()
	now, gits, err := scan(ctx, place, true)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return r, err
	}
	if digest != "" && now.Digest() != digest {
		return r, errors.New("it changed meanwhile; nothing was written: look at it, and run this again")
	}
	changes := files.Compare(now, wanted.Tree)
	r.Digest = wanted.Digest()
	if r.Changed = isNew || len(changes) > 0; !r.Changed {
		return r, nil
	}
	r.Written, r.Removed = counted(changes)
	for _, git := range gits {
		if path.Dir(git) != "." {
			return r, fmt.Errorf("%q in it is a repository of its own, which is not replaced; move it away first",
				path.Dir(git))
		}
	}
	if err := build(ctx, wanted, fresh, func(e Entry) fs.FileMode { return e.Mode.Perm() }); err != nil {
		return r, err
	}
	mode, exchange := fs.FileMode(0o755), os.Rename
	if info, err := os.Stat(place); err == nil {
		mode, exchange = info.Mode().Perm(), files.Exchange
	}
	if err := os.Chmod(fresh, mode); err != nil {
		return r, err
	}
	if err = errors.ErrUnsupported; len(gits) == 0 {
		err = exchange(fresh, place)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		open := mode | 0o700 // what may not be written gives away nothing and takes nothing
		err = os.Chmod(fresh, open)
		if err == nil && open != mode { // only its owner may change it
			err = os.Chmod(place, open)
		}
		if err == nil {
			err = replace(fresh, place, changes)
		}
		if err = errors.Join(err, files.SyncDirectory(place)); open != mode {
			err = errors.Join(err, os.Chmod(place, mode))
		}
	}
	return r, errors.Join(err, files.SyncDirectory(filepath.Dir(place)))
}

// replace moves what changes, right in a directory, from another one.
func replace(fresh, dir string, changes []files.Difference) error {
	names := map[string]bool{}
	for _, d := range changes {
		name, _, _ := strings.Cut(d.Path, "/")
		names[name] = true
	}
	for name := range names {
		from, place := filepath.Join(fresh, name), filepath.Join(dir, name)
		if err := files.RemoveAll(place); err != nil {
			return err
		}
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.IsDir() {
			err = os.Chmod(from, 0o700) //nolint:gosec // it is about to be moved
		}
		if err == nil {
			err = os.Rename(from, place)
		}
		if err == nil && info.IsDir() {
			err = os.Chmod(place, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Scan reads a directory as it is. What no snapshot could be made of is an
// error.
func Scan(ctx context.Context, dir string) (Content, error) {
	found, _, err := scan(ctx, dir, true)
	if fault := faultOf(found); err == nil && fault != "" {
		err = fmt.Errorf("%s: %s", dir, fault)
	}
	if err != nil {
		return Content{}, err
	}
	return Content{dir, found}, nil
}

// scan reads a directory, and leaves out every `.git` when it is told to: git's own
// directory, or the file that stands for one.
func scan(ctx context.Context, dir string, without bool) (t Tree, gits []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	scanner := files.Scanner{Root: root, MaxEntries: maxEntries, MaxBytes: maxBytes, MaxDepth: maxDepth, Skip: func(name string) bool {
		is := without && strings.EqualFold(path.Base(name), ".git")
		if is {
			gits = append(gits, name)
		}
		return is
	}}
	t, err = scanner.Read(ctx)
	return t, gits, err
}

// build copies a content into an empty directory, with modes that fit those that it
// stands for, and syncs it.
func build(ctx context.Context, c Content, dir string, mode func(Entry) fs.FileMode) error {
	from, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer from.Close()
	into, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer into.Close()
	copier := files.Copier{
		From: from, Into: into, Mode: mode,
		Finish: func(e Entry, copied *os.File) error {
			if e.IsDir() {
				return files.SyncDirectory(filepath.Join(dir, e.Path))
			}
			return copied.Sync()
		},
	}
	return errors.Join(copier.Copy(ctx, c.Tree), files.SyncDirectory(dir))
}

// stage keeps others from a place until end is called. It returns an empty directory beside it,
// for what will be moved there, after it removed what a killed process left.
func stage(place string) (fresh string, end func(), err error) {
	above, begins := filepath.Dir(place), "."+filepath.Base(place)+".autoloop-"
	unlock, err := files.Lock(above)
	if err != nil {
		return "", nil, err
	}
	entries, err := os.ReadDir(above)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begins) {
			err = errors.Join(err, files.RemoveAll(filepath.Join(above, e.Name())))
		}
	}
	if err = errors.Join(err, files.ClearWrites(ManifestFile(place))); err == nil {
		fresh, err = os.MkdirTemp(above, begins+"*")
	}
	if err != nil {
		unlock()
		return "", nil, err
	}
	return fresh, func() {
		_ = files.RemoveAll(fresh)
		unlock()
	}, nil
}

// ManifestFile is where the manifest of a snapshot is.
func ManifestFile(snapshot string) string { return filepath.Clean(snapshot) + ".manifest.json" }

// resolve is the absolute path of a directory that may not exist yet, with the
// links on the way followed.
func resolve(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if found, err := filepath.EvalSymlinks(absolute); err == nil || filepath.Dir(absolute) == absolute {
		return found, err
	}
	parent, err := resolve(filepath.Dir(absolute))
	return filepath.Join(parent, filepath.Base(absolute)), err
}

// apart resolves two directories, and refuses them when one is in the other, or is the
// other. The second need not be there; what is there must be a directory.
func apart(from, to string) (a, b string, err error) {
	if a, err = resolve(from); err != nil {
		return "", "", err
	}
	if b, err = resolve(to); err != nil {
		return "", "", err
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		if _, is := files.Below(pair[0], pair[1]); is {
			return "", "", fmt.Errorf("%s is in %s; keep the two apart", pair[1], pair[0])
		}
	}
	if info, err := os.Lstat(b); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("%s is there and is no directory", to)
	}
	return a, b, nil
}
