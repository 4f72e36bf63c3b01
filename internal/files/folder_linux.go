package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Folder is an open directory, in which files are opened by their names alone and
// without what an os.File has for waiting: with many small files that costs more
// than they do.
type Folder struct {
	dir  *os.File
	path string // below the root, for errors
}

// OpenFolder opens a directory below a root; the path has slashes.
func OpenFolder(root *os.Root, dir string) (*Folder, error) {
	file, err := root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &Folder{file, dir}, nil
}

// Close closes the directory.
func (f *Folder) Close() error { return f.dir.Close() }

// Link gives the file of a name in another directory this name here too.
func (f *Folder) Link(other *Folder, name string) error {
	return again(func() error {
		return unix.Linkat(int(other.dir.Fd()), name, int(f.dir.Fd()), name, 0)
	})
}

func (f *Folder) at(name string) string { return path.Join(f.path, name) }

func (f *Folder) open(name string) (descriptor, error) {
	source, err := f.openat(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		err = notRegular(f.at(name))
	}
	return source, err
}

func (f *Folder) create(name string, mode fs.FileMode) (descriptor, error) {
	return f.openat(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
}

func (f *Folder) openat(name string, flags int, mode fs.FileMode) (file descriptor, err error) {
	err = again(func() (err error) {
		fd, err := unix.Openat(int(f.dir.Fd()), name, flags|unix.O_CLOEXEC, uint32(mode.Perm()))
		file = descriptor(fd)
		return err
	})
	if err != nil {
		err = &fs.PathError{Op: "openat", Path: f.at(name), Err: err}
	}
	return file, err
}

type descriptor int

func (d descriptor) status() (status, error) {
	var found unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(d), &found) }); err != nil {
		return status{}, os.NewSyscallError("fstat", err)
	}
	return status{
		regular: found.Mode&unix.S_IFMT == unix.S_IFREG,
		mode:    fs.FileMode(found.Mode) & fs.ModePerm,
		size:    found.Size,
		stamp:   Stamp{Size: found.Size, Modified: found.Mtim.Nano(), Changed: found.Ctim.Nano(), Inode: found.Ino},
	}, nil
}

func (d descriptor) read(into []byte) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Read(int(d), into)
		return err
	})
	return n, os.NewSyscallError("read", err)
}

func (d descriptor) write(data []byte) error {
	for len(data) > 0 {
		err := again(func() error {
			n, err := unix.Write(int(d), data)
			data = data[max(n, 0):]
			return err
		})
		if err != nil {
			return os.NewSyscallError("write", err)
		}
	}
	return nil
}

func (d descriptor) chmod(mode fs.FileMode) error {
	return os.NewSyscallError("fchmod", again(func() error { return unix.Fchmod(int(d), uint32(mode.Perm())) }))
}

func (d descriptor) sync() error {
	return os.NewSyscallError("fsync", again(func() error { return unix.Fsync(int(d)) }))
}

func (d descriptor) close() error { return os.NewSyscallError("close", unix.Close(int(d))) }

// again calls until no signal interrupts it.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // the system's own number, which nobody wrapped
			return err
		}
	}
}
