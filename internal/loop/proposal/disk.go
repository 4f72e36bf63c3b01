package proposal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes the directory dir of a bundle, whole or not at all. It is an error
// when dir exists, or when a part is larger than Read would take.
func Write(dir string, b Bundle) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the bundle: %w", err)
		}
	}()
	b.Schema = Schema
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already; name a new directory", dir)
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("it %w", err)
	}
	manifest, err := json.MarshalIndent(b.Manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return err
	}
	staged, err := os.MkdirTemp(filepath.Dir(dir), ".bundle-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staged) }()
	files := map[string][]byte{manifestFile: append(manifest, '\n'), changeFile: b.Change, eventsFile: b.Events}
	files[sumsFile] = sums(files)
	for name, data := range files {
		if len(data) > limits[name] {
			return fmt.Errorf("%s has %d bytes, more than %d", name, len(data), limits[name])
		}
		if err := os.WriteFile(filepath.Join(staged, name), data, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(staged, dir)
}

// limits are the most bytes that each file of a bundle may have.
var limits = map[string]int{manifestFile: 64 << 10, changeFile: 64 << 20, eventsFile: 16 << 20, sumsFile: 1 << 10}

// Read reads the bundle in dir and holds it against its manifest. A file too
// many, one too few, too large, no regular file, or with other bytes is an error.
func Read(dir string) (b Bundle, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bundle %s %w", dir, err)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return b, fmt.Errorf("cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return b, fmt.Errorf("cannot be listed: %w", err)
	}
	for _, entry := range entries {
		if _, ours := limits[entry.Name()]; !ours {
			return b, fmt.Errorf("was altered: %.100q is no file of a bundle", entry.Name())
		}
	}
	files := map[string][]byte{}
	for _, name := range []string{sumsFile, manifestFile, changeFile, eventsFile} {
		if files[name], err = readFile(root, name); err != nil {
			return b, err
		}
	}
	if string(files[sumsFile]) != string(sums(files)) {
		return b, fmt.Errorf("was altered: its files are not what %s says", sumsFile)
	}
	b = Bundle{ID: sha256sum(files[sumsFile]), Change: files[changeFile], Events: files[eventsFile]}
	if err := json.Unmarshal(files[manifestFile], &b.Manifest); err != nil {
		return b, fmt.Errorf("has a manifest that cannot be read: %w", err)
	}
	return b, b.check()
}

// readFile reads a regular file within its limit.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch most := limits[name]; {
	case err != nil:
		return nil, fmt.Errorf("is incomplete: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("was altered: %s is no regular file", name)
	case info.Size() > int64(most):
		return nil, fmt.Errorf("is too large: %s has %d bytes, more than %d", name, info.Size(), most)
	}
	return root.ReadFile(name)
}
