package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/metric"
)

// maxTuned bounds one target file; larger ones have no marks.
const maxTuned = 10 << 20

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
		var bad *tuner.MarkError
		if errors.As(err, &bad) || len(file.Marks) > 0 {
			return true
		}
	}
	return false
}

// readAllTuned reads the target files that have marks, in the order given.
func readAllTuned(root *os.Root, paths []string) ([]tuner.File, error) {
	var files []tuner.File
	total := 0
	for _, path := range paths {
		file, err := readTuned(root, path)
		if err != nil {
			return nil, err
		}
		if len(file.Marks) == 0 {
			continue
		}
		if total += len(file.Marks); total > tuner.MaxMarks {
			return nil, fmt.Errorf("%s: more than %d numbers are marked for the tuner; mark fewer", path,
				tuner.MaxMarks)
		}
		files = append(files, file)
	}
	return files, nil
}

// readTuned reads one file and its marks. What is missing, no regular file, or
// too large has no marks. No link out of the tree is followed.
func readTuned(root *os.Root, path string) (tuner.File, error) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTuned {
		return tuner.File{Path: path}, nil
	}
	file, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tuner.File{Path: path}, nil
	}
	if err != nil {
		return tuner.File{}, fmt.Errorf("read target file: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxTuned))
	if err != nil {
		return tuner.File{}, fmt.Errorf("read target file %s: %w", path, err)
	}
	return tuner.ParseFile(path, text)
}

// writeTuned replaces a file's content, in place: its mode stays.
func writeTuned(root *os.Root, f tuner.File, text []byte) error {
	file, err := root.OpenFile(filepath.FromSlash(f.Path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return fmt.Errorf("write target file: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write target file %s: %w", f.Path, err)
	}
	return nil
}

// proposeTuning reads the marks of the target files at root and asks the search
// for the next values.
func proposeTuning(root *os.Root, paths []string, history []tuner.Observation, direction metric.Direction,
	seed int64,
) ([]tuner.File, tuner.Tuning, error) {
	files, err := readAllTuned(root, paths)
	if err != nil {
		return nil, tuner.Tuning{}, err
	}
	tuned, err := tuner.Tune(files, history, direction, seed)
	return files, tuned, err
}

// writeTuning changes the marked numbers in the files.
func writeTuning(root *os.Root, files []tuner.File, values map[string]float64) error {
	for _, file := range files {
		if text := file.Rewrite(values); string(text) != string(file.Text) {
			if err := writeTuned(root, file, text); err != nil {
				return err
			}
		}
	}
	return nil
}
