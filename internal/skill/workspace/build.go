package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	// reuse returns the path of a file that is the same in content and mode,
	// and may get a second name, or "".
	reuse func(Entry) string

	written atomic.Int64
	// each says that files and directories are synced one by one.
	each bool
}

// fewToSync is how many files and directories are synced one by one where all can
// be synced in one go: that waits for what other programs wrote too.
const fewToSync = 16

// toSync counts what a build writes: directories, and files that are copied.
func (b *building) toSync(t Tree) int {
	count := 1
	for _, e := range t {
		if e.IsDir() || e.IsFile() && b.reuse(e) == "" {
			count++
		}
	}
	return count
}

// stamps are those of the files that were built.
func (b *building) stamps(ctx context.Context) (map[string]files.Stamp, error) {
	l, err := list(ctx, b.dir)
	if err != nil {
		return nil, err
	}
	return l.stamps, l.root.Close()
}

// build copies a tree's entries from a directory into another, a new one, and
// syncs them. Digests that the tree has must be those of what is copied; those
// that it lacks are filled in.
func (b *building) build(ctx context.Context, t Tree) error {
	b.each = !files.SyncsTrees || b.toSync(t) <= fewToSync
	for _, e := range t {
		if !e.IsDir() {
			continue
		}
		if err := b.into.Mkdir(filepath.FromSlash(e.Path), 0o700); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(files.Workers)
	for _, batch := range batches(t) {
		group.Go(func() error { return b.batch(ctx, batch) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.close(t)
}

// batches are the files and links of a tree, each with some of one directory: the
// system then looks for that directory once.
func batches(t Tree) [][]*Entry {
	const most = 64
	var list [][]*Entry
	in := ""
	for i := range t {
		if t[i].IsDir() {
			continue
		}
		last := len(list) - 1
		if dir := path.Dir(t[i].Path); last < 0 || dir != in || len(list[last]) == most {
			in, list, last = dir, append(list, nil), last+1
		}
		list[last] = append(list[last], &t[i])
	}
	return list
}

// batch makes files and links of one directory.
func (b *building) batch(ctx context.Context, batch []*Entry) error {
	dir := filepath.FromSlash(path.Dir(batch[0].Path))
	from, err := b.from.root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	into, err := b.into.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	for _, e := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.IsLink() {
			err = into.Symlink(e.Target, path.Base(e.Path))
		} else {
			err = b.file(e, from, into)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// file copies one file, or gives one that is there a second name.
func (b *building) file(e *Entry, from, into *os.Root) (err error) {
	if there := b.reuse(*e); there != "" && os.Link(there, filepath.Join(b.dir, filepath.FromSlash(e.Path))) == nil {
		return nil
	}
	name := path.Base(e.Path)
	file, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	digest, size, err := files.CopyRegular(file, from, name)
	if err != nil {
		return fmt.Errorf("copy %q: %w", e.Path, err)
	}
	if e.SHA256 != "" && e.SHA256 != digest {
		return fmt.Errorf("%q changed while it was copied", e.Path)
	}
	e.SHA256, e.Size = digest, size
	b.written.Add(1)
	if err := file.Chmod(b.mode(*e)); err != nil || !b.each {
		return err
	}
	return file.Sync()
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
