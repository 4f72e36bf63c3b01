package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/org/autoloop/internal/files"
)

// building puts a tree together in a directory that nobody looks at yet.
type building struct {
	from *listing
	into *os.Root
	dir  string
	// mode is what a file or directory gets for the mode that it stands for.
	mode func(Entry) fs.FileMode
	// old, optional, is a directory whose files get a second name where they are
	// the same in content and mode.
	old *listing

	written atomic.Int64
	// each says that files and directories are synced one by one.
	each bool
	// stamps are those of the files of the directory, under mu.
	mu     sync.Mutex
	stamps map[string]files.Stamp
}

// fewToSync is how many files and directories are synced one by one where all can
// be synced in one go: that waits for what other programs wrote too.
const fewToSync = 16

// toSync counts what a build writes: directories, and files that are copied.
func (b *building) toSync(t Tree) int {
	count := 1
	for _, e := range t {
		if e.IsDir() || e.IsFile() && !b.there(e) {
			count++
		}
	}
	return count
}

// there reports whether the old directory has an entry alike.
func (b *building) there(e Entry) bool {
	if b.old == nil {
		return false
	}
	was, found := b.old.tree.Find(e.Path)
	return found && was == e
}

// build copies a tree's entries from a directory into another, a new one, and
// syncs them. Digests that the tree has must be those of what is copied; those
// that it lacks are filled in.
func (b *building) build(ctx context.Context, t Tree) error {
	b.each = !files.SyncsTrees || b.toSync(t) <= fewToSync
	b.stamps = make(map[string]files.Stamp, len(t))
	for _, e := range t {
		if !e.IsDir() {
			continue
		}
		if err := b.into.Mkdir(filepath.FromSlash(e.Path), 0o700); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(files.Workers())
	for _, batch := range files.Manifest(t).Batches(func(e Entry) bool { return !e.IsDir() }) {
		group.Go(func() error { return b.batch(ctx, batch) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.close(t)
}

// batch makes files and links of one directory.
func (b *building) batch(ctx context.Context, batch []*Entry) error {
	dir := path.Dir(batch[0].Path)
	from, err := files.OpenFolder(b.from.root, dir)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	into, err := files.OpenFolder(b.into, dir)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	var old *files.Folder
	if b.old != nil {
		if old, err = files.OpenFolder(b.old.root, dir); err == nil {
			defer func() { _ = old.Close() }()
		}
	}
	copier := files.NewCopier()
	for _, e := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case e.IsLink():
			err = b.into.Symlink(e.Target, filepath.FromSlash(e.Path))
		case old != nil && b.there(*e) && into.Link(old, path.Base(e.Path)) == nil:
			b.built(e, b.old.stamps[e.Path])
		default:
			err = b.copy(copier, e, from, into)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copy copies one file.
func (b *building) copy(copier *files.Copier, e *Entry, from, into *files.Folder) error {
	copied, err := copier.Copy(from, into, path.Base(e.Path), b.mode(*e), b.each)
	if err != nil {
		return fmt.Errorf("copy %q: %w", e.Path, err)
	}
	if e.SHA256 != "" && e.SHA256 != copied.SHA256 {
		return fmt.Errorf("%q changed while it was copied", e.Path)
	}
	e.SHA256, e.Size = copied.SHA256, copied.Size
	b.from.hashed(e.Path, copied.Source)
	b.built(e, copied.Copy)
	b.written.Add(1)
	return nil
}

// built notes how a file of the directory was when it was made.
func (b *building) built(e *Entry, stamp files.Stamp) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stamps[e.Path] = stamp
}

// close gives the directories their modes, the deepest first, and syncs them.
func (b *building) close(t Tree) error {
	for i := len(t) - 1; i >= 0; i-- {
		if !t[i].IsDir() {
			continue
		}
		name := filepath.FromSlash(t[i].Path)
		if b.each {
			if err := files.SyncDirectory(filepath.Join(b.dir, name)); err != nil {
				return err
			}
		}
		if err := b.into.Chmod(name, b.mode(t[i])); err != nil {
			return err
		}
	}
	if b.each {
		return files.SyncDirectory(b.dir)
	}
	return files.SyncTree(b.dir)
}

// newStage makes a new directory beside dir, in which a tree is put together.
func newStage(dir string) (string, error) {
	return os.MkdirTemp(filepath.Dir(dir), filepath.Base(hidden(dir, "stage-"))+"*")
}

// clearStages removes those that an interrupted run left.
func clearStages(dir string) error {
	left, err := filepath.Glob(globQuote(hidden(dir, "stage-")) + "*")
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := files.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// globQuote makes a pattern that matches only that name.
func globQuote(name string) string {
	var out []byte
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', '\\':
			if filepath.Separator == '/' {
				out = append(out, '\\')
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}
