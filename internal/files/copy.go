package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Digest reads a regular file below a root whole, and returns its size and the SHA-256
// of its content in hexadecimal. The path has slashes.
func Digest(root *os.Root, name string) (size int64, sum string, err error) {
	return digest(root, name, io.Discard)
}

// Copy makes a regular file below one root a new file of the same path below another,
// with these permissions, and syncs it. It returns what Digest does.
func Copy(from, into *os.Root, name string, mode fs.FileMode) (size int64, sum string, err error) {
	target, err := into.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	size, sum, err = digest(from, name, target)
	return size, sum, errors.Join(err, target.Chmod(mode), target.Sync(), target.Close())
}

func digest(root *os.Root, name string, into io.Writer) (size int64, sum string, err error) {
	source, err := OpenRegular(root, name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = source.Close() }()
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(hash, into), source)
	return size, hex.EncodeToString(hash.Sum(nil)), err
}
