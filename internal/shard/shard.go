// Package shard has what several jobs made of one suite: a directory for each
// part, and how they are put together.
package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
)

// file tells what part of a suite a directory has.
const file = "shard.json"

// schema is its version.
const schema = 1

// Part is what one job made of a suite that several share.
type Part struct {
	Schema int `json:"schema_version"`
	// Kind is Tasks or Skill; Digest identifies the suite and what was measured
	// with it.
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
	Index  int    `json:"index"`
	Of     int    `json:"of"`
	// Skill has the figures of a part of a skill's suites, with Orders, the cases
	// of the whole suites.
	Skill  json.RawMessage     `json:"skill,omitempty"`
	Orders map[string][]string `json:"orders,omitempty"`
}

// The kinds of parts.
const (
	Tasks = "tasks"
	Skill = "skill"
)

// Merge puts the parts in these directories together in the new directory target,
// once they were checked: all of one suite, each once. The directories are read
// below place, and named in errors as they are given. Target appears when finish
// is content with the parts, whole or not at all.
func Merge(target string, dirs []string, place func(dir string) string, finish func([]Part) error) ([]Part, error) {
	parts := make([]Part, len(dirs))
	for i, dir := range dirs {
		var err error
		if parts[i], err = read(place(dir)); err != nil {
			return nil, misuse.Errorf("%s: %w", dir, err)
		}
	}
	if err := fit(dirs, parts); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return nil, err
	}
	staged, err := os.MkdirTemp(filepath.Dir(target), ".merge-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(staged) }()
	for _, dir := range dirs {
		if err := add(staged, place(dir)); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	if err := finish(parts); err != nil {
		return nil, misuse.New(err)
	}
	return parts, os.Rename(staged, target)
}

// read reads what a directory says of itself.
func read(dir string) (part Part, err error) {
	const most = 64 << 20
	path := filepath.Join(dir, file)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return part, fmt.Errorf("it has no %s: it is no part that --shard made", file)
	case err != nil:
		return part, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return part, fmt.Errorf("%s is no file of at most %d MB", file, most>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return part, err
	}
	if err := json.Unmarshal(data, &part); err != nil {
		return part, fmt.Errorf("%s: %s", file, document.JSONError(err))
	}
	if part.Schema != schema {
		return part, fmt.Errorf("%s has schema %d; this program reads %d", file, part.Schema, schema)
	}
	if part.Kind != Tasks && (part.Kind != Skill || len(part.Skill) == 0) {
		return part, fmt.Errorf("%s is of no kind that is known", file)
	}
	return part, nil
}

// Write says in a directory which part it is.
func Write(dir string, part Part) error {
	part.Schema = schema
	data, err := json.MarshalIndent(part, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(dir, file), append(data, '\n'), 0o600)
}

// fit checks that the parts are all of one suite's, each once.
func fit(dirs []string, parts []Part) error {
	first := parts[0]
	seen := map[int]string{}
	for i, part := range parts {
		switch {
		case part.Kind != first.Kind || part.Of != first.Of:
			return misuse.Errorf("%s is part %d/%d of %s, but %s is part %d/%d of %s", dirs[i], part.Index, part.Of, part.Kind, dirs[0], first.Index, first.Of, first.Kind)
		case part.Digest != first.Digest:
			return misuse.Errorf("%s and %s are of different suites, candidates or agents; run all parts from the same commit with the same flags", dirs[0], dirs[i])
		case part.Index < 1 || part.Index > part.Of:
			return misuse.Errorf("%s says that it is part %d/%d", dirs[i], part.Index, part.Of)
		case seen[part.Index] != "":
			return misuse.Errorf("%s and %s are both part %d/%d", seen[part.Index], dirs[i], part.Index, part.Of)
		}
		seen[part.Index] = dirs[i]
	}
	for i := range first.Of {
		if seen[i+1] == "" {
			return misuse.Errorf("part %d/%d is missing: run it with --shard %d/%d", i+1, first.Of, i+1, first.Of)
		}
	}
	return nil
}

// add copies a part's files. One that is in two parts must be the same.
func add(target, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, name)
		switch {
		case name == file:
			return nil
		case entry.IsDir():
			return os.MkdirAll(to, 0o700)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", name)
		}
		return copyNew(path, to)
	})
}

// copyNew copies a file to where none is.
func copyNew(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	written, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, err := os.ReadFile(to); err == nil && bytes.Equal(there, data) {
			return nil
		}
		return fmt.Errorf("%s is in two parts, and is not the same", filepath.Base(to))
	}
	if err != nil {
		return err
	}
	_, err = written.Write(data)
	return errors.Join(err, written.Close())
}
