package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxTuned bounds one target file; larger ones have no marks.
const maxTuned = 10 << 20

// tunedFile is a target file with the numbers that it marks.
type tunedFile struct {
	path  string // with slashes, from the tree's root
	text  []byte
	marks []tunable
}

// HasTuneMarks reports whether a target file of the tree at dir marks a number
// for the tuner. Files are paths from dir with slashes; those that are missing,
// no regular files, or marked wrongly beyond recognition count as without. A
// bad mark counts as a mark, so that the tuner is chosen and can say what is
// wrong with it.
func HasTuneMarks(dir string, files []string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	for _, path := range files {
		file, err := readTuned(root, path)
		var bad *markError
		if errors.As(err, &bad) || len(file.marks) > 0 {
			return true
		}
	}
	return false
}

// readAllTuned reads the target files that have marks, in the order given.
func readAllTuned(root *os.Root, paths []string) ([]tunedFile, error) {
	var files []tunedFile
	total := 0
	for _, path := range paths {
		file, err := readTuned(root, path)
		if err != nil {
			return nil, err
		}
		if len(file.marks) == 0 {
			continue
		}
		if total += len(file.marks); total > maxTunables {
			return nil, fmt.Errorf("%s: more than %d numbers are marked for the tuner; mark fewer", path, maxTunables)
		}
		files = append(files, file)
	}
	return files, nil
}

// readTuned reads one file and its marks. What is missing, no regular file, or
// too large has no marks. No link out of the tree is followed.
func readTuned(root *os.Root, path string) (tunedFile, error) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTuned {
		return tunedFile{path: path}, nil
	}
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tunedFile{path: path}, nil
	}
	if err != nil {
		return tunedFile{}, fmt.Errorf("read target file: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxTuned))
	if err != nil {
		return tunedFile{}, fmt.Errorf("read target file %s: %w", path, err)
	}
	marks, err := scanMarks(path, text)
	return tunedFile{path, text, marks}, err
}

// rewrite returns the file's text with only the marked numbers changed that
// have a new value.
func (f tunedFile) rewrite(values map[string]float64) []byte {
	out := make([]byte, 0, len(f.text)+64)
	from := 0
	for _, mark := range f.marks {
		value, ok := values[mark.name]
		if !ok || value == mark.literal.value {
			continue
		}
		out = append(out, f.text[from:mark.literal.start]...)
		text := mark.literal.render(value, mark.whole)
		if text[0] == '-' && !takesSign(out) {
			out = append(out, ' ') // a - -1, where a--1 would not compile
		}
		out = append(out, text...)
		from = mark.literal.end
	}
	return append(out, f.text[from:]...)
}

// takesSign reports whether a minus after text would be read as a sign.
func takesSign(text []byte) bool {
	line := string(text[bytes.LastIndexByte(text, '\n')+1:]) + "-"
	return signBefore(line, len(line)) != 0
}

// write replaces the file's content, in place: its mode stays.
func (f tunedFile) write(root *os.Root, text []byte) error {
	file, err := root.OpenFile(filepath.FromSlash(f.path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("write target file: %w", err)
	}
	if _, err := file.Write(text); err != nil {
		_ = file.Close()
		return fmt.Errorf("write target file %s: %w", f.path, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write target file %s: %w", f.path, err)
	}
	return nil
}
