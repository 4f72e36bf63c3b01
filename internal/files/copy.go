package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
)

// Copier reads regular files whole, and copies them, with one buffer for all of
// them. It is used by one goroutine at a time.
type Copier struct {
	sum    hash.Hash
	buffer []byte
}

// NewCopier makes a Copier.
func NewCopier() *Copier { return &Copier{sum: sha256.New()} }

// Copied is what a file was found to be.
type Copied struct {
	SHA256 string // of its content, in hexadecimal
	Size   int64
	// Source is the file's stamp, zero when somebody wrote to it meanwhile. Copy
	// is that of the copy.
	Source, Copy Stamp
}

type status struct {
	regular bool
	mode    fs.FileMode // the nine permission bits
	size    int64
	stamp   Stamp
}

// Read reads one file of a directory.
func (c *Copier) Read(from *Folder, name string) (Copied, error) {
	source, before, err := openRegular(from, name)
	if err != nil {
		return Copied{}, err
	}
	defer func() { _ = source.close() }()
	return c.read(source, before, func([]byte) error { return nil })
}

// Copy makes a new file of the same name in another directory, with these
// permissions, and syncs it when it is asked to.
func (c *Copier) Copy(from, into *Folder, name string, mode fs.FileMode, sync bool) (copied Copied, err error) {
	source, before, err := openRegular(from, name)
	if err != nil {
		return Copied{}, err
	}
	defer func() { _ = source.close() }()
	target, err := into.create(name, mode)
	if err != nil {
		return Copied{}, err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	if copied, err = c.read(source, before, target.write); err != nil {
		return Copied{}, err
	}
	made, err := target.status()
	if err == nil && made.mode != mode { // the process's mask took some away
		if err = target.chmod(mode); err == nil {
			made, err = target.status()
		}
	}
	if err == nil && sync {
		err = target.sync()
	}
	copied.Copy = made.stamp
	return copied, err
}

// openRegular opens a file that is no link and no pipe.
func openRegular(from *Folder, name string) (descriptor, status, error) {
	source, err := from.open(name)
	if err != nil {
		return source, status{}, err
	}
	found, err := source.status()
	if err == nil && !found.regular {
		err = notRegular(from.at(name))
	}
	if err != nil {
		_ = source.close()
	}
	return source, found, err
}

func notRegular(path string) error { return fmt.Errorf("%q is no regular file any more", path) }

// read hands over the file piece by piece.
func (c *Copier) read(source descriptor, before status, write func([]byte) error) (Copied, error) {
	const most = 64 << 10
	// No more than the file needs: most of the files of a skill are small.
	if need := int(min(before.size+1, most)); len(c.buffer) < need {
		c.buffer = make([]byte, need)
	}
	c.sum.Reset()
	total := int64(0)
	for {
		n, err := source.read(c.buffer)
		if err != nil {
			return Copied{}, err
		}
		total += int64(n)
		c.sum.Write(c.buffer[:n])
		if err := write(c.buffer[:n]); err != nil {
			return Copied{}, err
		}
		if n == 0 || n < len(c.buffer) && total == before.size {
			break
		}
	}
	copied := Copied{SHA256: hex.EncodeToString(c.sum.Sum(nil)), Size: total}
	after, err := source.status()
	if err == nil && after == before && total == before.size {
		copied.Source = after.stamp
	}
	return copied, err
}
