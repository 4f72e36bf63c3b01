// Package files makes what was written outlive a crash: it syncs, replaces one
// thing by another in one step, and removes what is closed to its owner.
package files

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile puts a file with this content in the place of whatever file is
// there, in one step, and syncs it. A process that is killed leaves the old
// file or the new one.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(name)
	file, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return err
	}
	return SyncDirectory(dir)
}

// WriteJSON is WriteFile of a value as indented JSON, for everybody to read. It makes the
// directories that are missing.
func WriteJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755) //nolint:gosec // as the file
	}
	if err != nil {
		return err
	}
	return WriteFile(name, append(text, '\n'), 0o644)
}

// Below is the path from a directory to what is in it, with slashes; "." to itself.
func Below(dir, file string) (relative string, is bool) {
	relative, err := filepath.Rel(dir, file)
	return filepath.ToSlash(relative), err == nil && filepath.IsLocal(relative)
}

// WritePrivate writes a file of this user alone, and makes the directories that are missing.
func WritePrivate(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// MakeTrusted makes a directory and those above it where they are missing, and
// returns an error when it is not Trusted.
func MakeTrusted(dir string, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return Trusted(dir)
}

// ClearWrites removes what WriteFile of this name left when it was killed. The
// caller sees to it that nobody writes the file meanwhile.
func ClearWrites(name string) error {
	dir, begins := filepath.Dir(name), "."+filepath.Base(name)+"."
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if len(e.Name()) > len(begins) && strings.TrimRight(e.Name(), "0123456789") == begins && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Cause is an error of the file system without its operation and path, for a message
// that names the file in its own way.
func Cause(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}

// Full reports whether an error, of our own or of a program that we ran, says that
// there is no room left on a disk.
func Full(err error) bool {
	if err == nil {
		return false
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no space left on device") || strings.Contains(text, "quota exceeded")
}

// SyncFiles brings the files right in a directory, and the directory, to the
// disk.
func SyncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		file, err := os.OpenFile(filepath.Join(dir, entry.Name()), os.O_RDWR, 0)
		if err == nil {
			err = errors.Join(file.Sync(), file.Close())
		}
		if err != nil {
			return err
		}
	}
	return SyncDirectory(dir)
}

// SyncUpwards syncs a directory and those above it up to and with top, whose
// entries may be new.
func SyncUpwards(dir, top string) error {
	for {
		if err := SyncDirectory(dir); err != nil {
			return err
		}
		if dir == top || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}
