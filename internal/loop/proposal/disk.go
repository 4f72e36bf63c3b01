package proposal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes the directory dir of a bundle, whole or not at all. It is an error
// when dir exists, or when a part is larger than Read would take.
func Write(dir string, b Bundle) (err error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the bundle: %s exists already; name a new directory", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	staged, err := os.MkdirTemp(filepath.Dir(dir), ".bundle-")
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	defer func() { _ = os.RemoveAll(staged) }()
	b.Schema = Schema
	if err := errors.Join(b.check(), b.whole()); err != nil {
		return fmt.Errorf("write the bundle: it %w", err)
	}
	manifest, err := json.MarshalIndent(b.Manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	files := map[string][]byte{manifestFile: append(manifest, '\n'), changeFile: b.Change, eventsFile: b.Events}
	files[sumsFile] = sums(files)
	for name, data := range files {
		if int64(len(data)) > limits()[name] {
			return fmt.Errorf("write the bundle: %s has %d bytes, more than %d", name, len(data), limits()[name])
		}
		if err := os.WriteFile(filepath.Join(staged, name), data, 0o600); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	if err := os.Rename(staged, dir); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	return nil
}

func limits() map[string]int64 {
	return map[string]int64{manifestFile: maxManifest, changeFile: maxChange, eventsFile: maxEvents, sumsFile: maxSums}
}

// Read reads the bundle in dir and holds it against its manifest. A file too
// many, one too few, too large, no regular file, or with other bytes is an error.
func Read(dir string) (Bundle, error) {
	b, err := read(dir)
	if err != nil {
		return Bundle{}, fmt.Errorf("bundle %s %w", dir, err)
	}
	return b, nil
}

func read(dir string) (Bundle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Bundle{}, fmt.Errorf("cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	if err := onlyOurs(root); err != nil {
		return Bundle{}, err
	}
	files := map[string][]byte{}
	for _, name := range []string{sumsFile, manifestFile, changeFile, eventsFile} {
		if files[name], err = readFile(root, name); err != nil {
			return Bundle{}, err
		}
	}
	if string(files[sumsFile]) != string(sums(files)) {
		return Bundle{}, fmt.Errorf("was altered: its files are not what %s says", sumsFile)
	}
	b := Bundle{ID: Digest(files[sumsFile]), Change: files[changeFile], Events: files[eventsFile]}
	if err := json.Unmarshal(files[manifestFile], &b.Manifest); err != nil {
		return Bundle{}, fmt.Errorf("has a manifest that cannot be read: %w", err)
	}
	if err := b.check(); err != nil {
		return Bundle{}, err
	}
	return b, b.whole()
}

// onlyOurs refuses what is no file of a bundle.
func onlyOurs(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(len(limits()) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot be listed: %w", err)
	}
	for _, name := range names {
		if _, ours := limits()[name]; !ours {
			return fmt.Errorf("was altered: %.100q is no file of a bundle", name)
		}
	}
	return nil
}

// readFile reads a regular file within its limit.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("is incomplete: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("was altered: %s is no regular file", name)
	}
	most := limits()[name]
	if info.Size() > most {
		return nil, fmt.Errorf("is too large: %s has %d bytes, more than %d", name, info.Size(), most)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var data bytes.Buffer
	if _, err := data.ReadFrom(io.LimitReader(file, most)); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return data.Bytes(), nil
}
