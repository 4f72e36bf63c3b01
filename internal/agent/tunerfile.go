package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/agent/tuner"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
)

// maxTuned bounds one target file; larger ones have no marks.
const maxTuned = 10 << 20

// HasTuneMarks reports whether a target file of the tree at dir marks a number
// for the tuner. Files are paths from dir with slashes; those that are missing,
// no regular files, or marked wrongly beyond recognition count as without. A
// bad mark counts as a mark, so that the tuner is chosen and can say what is
// wrong with it.
func HasTuneMarks(dir string, paths []string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	for _, path := range paths {
		file, err := readTuned(root, path)
		if _, bad := errors.AsType[*tuner.MarkError](err); bad || len(file.Marks) > 0 {
			return true
		}
	}
	return false
}

// readTuned reads one file and its marks. What is missing, no regular file, or
// too large has no marks. No link is followed.
func readTuned(root *os.Root, path string) (tuner.File, error) {
	info, err := root.Lstat(filepath.FromSlash(path))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTuned {
		return tuner.File{Path: path}, nil //nolint:nilerr // as it says
	}
	text, err := files.ReadRegular(root, path, maxTuned)
	if err != nil {
		return tuner.File{}, fmt.Errorf("read target file %s: %w", path, err)
	}
	return tuner.ParseFile(path, text)
}

// proposeTuning reads the marks of the target files at root, in the order given, and asks
// the search for the next values.
func proposeTuning(root *os.Root, paths []string, history []tuner.Observation, direction metric.Direction,
	seed int64,
) (marked []tuner.File, tuned tuner.Tuning, err error) {
	total := 0
	for _, path := range paths {
		file, err := readTuned(root, path)
		if err != nil {
			return nil, tuned, err
		}
		if total += len(file.Marks); total > tuner.MaxMarks {
			return nil, tuned, fmt.Errorf("%s: more than %d numbers are marked for the tuner; mark fewer", path,
				tuner.MaxMarks)
		}
		if len(file.Marks) > 0 {
			marked = append(marked, file)
		}
	}
	tuned, err = tuner.Tune(marked, history, direction, seed)
	return marked, tuned, err
}

// writeTuning changes the marked numbers in the files, in place: their modes stay.
func writeTuning(root *os.Root, files []tuner.File, values map[string]float64) error {
	for _, file := range files {
		text := file.Rewrite(values)
		if bytes.Equal(text, file.Text) {
			continue
		}
		if err := root.WriteFile(filepath.FromSlash(file.Path), text, 0o666); err != nil {
			return fmt.Errorf("write target file: %w", err)
		}
	}
	return nil
}
