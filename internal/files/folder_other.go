//go:build !linux

package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Folder is an open directory, in which files are opened by their names alone.
type Folder struct {
	root *os.Root
	dir  string
}

// OpenFolder opens a directory below a root; the path has slashes.
func OpenFolder(root *os.Root, dir string) (*Folder, error) { return &Folder{root, dir}, nil }

// Close closes the directory.
func (f *Folder) Close() error { return nil }

// Link gives the file of a name in another directory this name here too.
func (f *Folder) Link(other *Folder, name string) error {
	return os.Link(filepath.Join(other.root.Name(), other.local(name)), filepath.Join(f.root.Name(), f.local(name)))
}

func (f *Folder) at(name string) string    { return path.Join(f.dir, name) }
func (f *Folder) local(name string) string { return filepath.FromSlash(f.at(name)) }

func (f *Folder) open(name string) (descriptor, error) {
	file, err := OpenRegular(f.root, f.at(name))
	return descriptor{file}, err
}

func (f *Folder) create(name string, mode fs.FileMode) (descriptor, error) {
	file, err := f.root.OpenFile(f.local(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o600)
	return descriptor{file}, err
}

type descriptor struct{ *os.File }

func (d descriptor) status() (status, error) {
	info, err := d.Stat()
	if err != nil {
		return status{}, err
	}
	return status{regular: info.Mode().IsRegular(), mode: info.Mode().Perm(), size: info.Size(), stamp: StampOf(info)}, nil
}

func (d descriptor) read(into []byte) (int, error) {
	n, err := d.Read(into)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (d descriptor) write(data []byte) error {
	_, err := d.Write(data)
	return err
}

func (d descriptor) chmod(mode fs.FileMode) error { return d.Chmod(mode) }
func (d descriptor) sync() error                  { return d.Sync() }
func (d descriptor) close() error                 { return d.Close() }
