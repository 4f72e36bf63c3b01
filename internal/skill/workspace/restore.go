package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
)

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
// nothing besides, but for `.git`, which it does not touch. What is wrong with the snapshot is a *BadError,
// and nothing is changed then. A process that is killed leaves the old state or
// the new one; where a `.git` keeps the directory from being exchanged whole,
// its entries are replaced one by one, and the next restore finishes that.
func Restore(ctx context.Context, snapshot, dir string) (Restored, error) {
	return RestoreOver(ctx, snapshot, dir, "")
}

// RestoreOver is Restore that changes nothing unless the directory has this
// digest, "" for any: what somebody wrote meanwhile is not lost.
func RestoreOver(ctx context.Context, snapshot, dir, digest string) (Restored, error) {
	restored, err := restore(ctx, snapshot, dir, digest)
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", dir, err)
	}
	return restored, nil
}

func restore(ctx context.Context, snapshot, dir, digest string) (Restored, error) {
	snapshot, dir, err := restorePlaces(snapshot, dir)
	if err != nil {
		return Restored{}, err
	}
	from, err := open(ctx, snapshot)
	if err != nil {
		return Restored{}, err
	}
	defer func() { _ = from.root.Close() }()
	unlock, err := hold(dir)
	if err != nil {
		return Restored{}, err
	}
	defer unlock()
	now, err := current(ctx, dir)
	if err != nil {
		return Restored{}, err
	}
	if digest != "" && (now == nil || now.tree.Digest() != digest) {
		return Restored{}, errors.New("it changed meanwhile; nothing was written: look at it, and run this again")
	}
	r := &restoring{dir: dir, from: from, now: now, changes: files.Compare(nil, from.tree)}
	if now != nil {
		defer func() { _ = now.root.Close() }()
		if r.changes = files.Compare(now.tree, from.tree); len(r.changes) == 0 {
			return Restored{Digest: from.tree.Digest()}, nil
		}
	}
	return r.run(ctx)
}

// restorePlaces resolves both directories.
func restorePlaces(snapshot, dir string) (from, to string, err error) {
	if from, to, err = apart(snapshot, dir); err != nil {
		return "", "", err
	}
	if info, err := os.Lstat(to); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("%s is there and is no directory", dir)
	}
	if info, err := os.Stat(filepath.Dir(to)); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("%s is no directory; make it first", filepath.Dir(to))
	}
	return from, to, nil
}

// current reads what is to be replaced; nil when it is not there. What cannot be read
// counts as different.
func current(ctx context.Context, dir string) (*listing, error) {
	now, err := list(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is nothing to replace
	}
	if err != nil {
		return nil, err
	}
	for i := range now.tree {
		if ctx.Err() == nil && now.tree[i].IsFile() && now.tree[i].Mode&0o400 == 0 {
			now.tree[i].Mode = fs.ModeIrregular
		}
	}
	if err := now.hash(ctx); err != nil {
		_ = now.root.Close()
		return nil, err
	}
	return now, nil
}

// restoring is one restore under way.
type restoring struct {
	dir       string
	from, now *listing // now is nil when there is no directory yet
	changes   []files.Difference
	fresh     string // the directory that will take its place
}

func (r *restoring) run(ctx context.Context) (Restored, error) {
	if err := r.blocked(); err != nil {
		return Restored{}, err
	}
	var err error
	if r.fresh, err = newStage(r.dir); err != nil {
		return Restored{}, err
	}
	defer func() { _ = files.RemoveAll(r.fresh) }()
	if err := build(ctx, r.from, r.from.tree, r.fresh, func(e Entry) fs.FileMode { return e.Mode.Perm() }); err != nil {
		return Restored{}, err
	}
	restored := Restored{Digest: r.from.tree.Digest(), Changed: true, Written: written(r.changes)}
	for _, d := range r.changes {
		if d.After == nil {
			restored.Removed++
		}
	}
	return restored, r.place()
}

// place puts the new directory where the old one is.
func (r *restoring) place() error {
	mode := fs.FileMode(0o755)
	if info, err := os.Stat(r.dir); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(r.fresh, mode); err != nil {
		return err
	}
	var err error
	switch {
	case r.now == nil:
		err = os.Rename(r.fresh, r.dir)
	case len(r.now.kept) == 0:
		err = swap(r.fresh, r.dir, asideOf(r.dir))
	default:
		err = errors.Join(r.inPlace("."), files.SyncDirectory(r.dir))
	}
	return errors.Join(err, files.SyncDirectory(filepath.Dir(r.dir)))
}

// blocked refuses a snapshot that has a file where the directory has something
// with a `.git` in it.
func (r *restoring) blocked() error {
	if r.now == nil {
		return nil
	}
	for _, e := range r.from.tree {
		if !e.IsDir() && r.now.protects(e.Path) {
			return fmt.Errorf("%q is a directory with a .git in it, and the snapshot has no directory there; move it "+
				"away first", e.Path)
		}
	}
	return nil
}

// inPlace replaces what differs right in a directory, which stays, and descends where a
// `.git` is further down.
func (r *restoring) inPlace(dir string) error {
	names := map[string]bool{}
	for _, d := range r.changes {
		for name := d.Path; name != "."; name = path.Dir(name) {
			if path.Dir(name) == dir {
				names[name] = true
			}
		}
	}
	for name := range names {
		place := filepath.Join(r.dir, filepath.FromSlash(name))
		wanted, is := r.from.tree.Find(name)
		if r.now.protects(name) {
			if err := r.inPlace(name); err != nil {
				return err
			}
			if is {
				if err := os.Chmod(place, wanted.Mode.Perm()); err != nil {
					return err
				}
			}
			continue
		}
		if was, _ := r.now.tree.Find(name); !is || !wanted.IsFile() ||
			!was.IsFile() { // a file takes another's place in one step
			if err := files.RemoveAll(place); err != nil {
				return err
			}
		}
		if is {
			if err := os.Rename(filepath.Join(r.fresh, filepath.FromSlash(name)), place); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// swap gives two entries of the same file system each other's name: in one step
// where the file system can, else by way of aside, from which recover finds
// what a killed process left.
func swap(fresh, place, aside string) error {
	err := files.Exchange(fresh, place)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := os.Rename(place, aside); err != nil {
		return err
	}
	if err := os.Rename(fresh, place); err != nil {
		return errors.Join(err, os.Rename(aside, place))
	}
	return os.Rename(aside, fresh)
}

// asideOf is where a directory is while another takes its name in two steps.
func asideOf(dir string) string { return hidden(dir, "aside") }

// hold keeps others from a place, ends what was interrupted beside it and removes what
// that left.
func hold(place string) (unlock func(), err error) {
	if unlock, err = files.Lock(filepath.Dir(place)); err != nil {
		return nil, err
	}
	err = recoverSwap(place)
	for _, name := range []string{nextFile(place), ManifestFile(place)} {
		if err == nil {
			err = files.ClearWrites(name)
		}
	}
	if err == nil {
		err = clearStages(place)
	}
	if err != nil {
		unlock()
	}
	return unlock, err
}

// recoverSwap ends a swap that was interrupted: the old directory gets its name
// back when no other has it.
func recoverSwap(dir string) error {
	aside := asideOf(dir)
	if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(aside, dir)
	}
	return files.RemoveAll(aside)
}
