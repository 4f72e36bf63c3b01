package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// trees reads and writes tree objects without an index.
type trees struct{ *Repo }

func (r *Repo) trees() trees { return trees{r} }

// readTree lists one directory: a commit or tree, by any name.
func (r trees) readTree(ctx context.Context, rev string) (id string, entries []TreeEntry, err error) {
	tree, err := r.objects().ask(ctx, contents, rev+"^{tree}")
	if err != nil || tree.Missing() {
		return "", nil, errors.Join(err, errUnasked)
	}
	entries, err = parseTree(tree.Data, len(zeroID(r.ObjectFormat))/2)
	return tree.ID, entries, err
}

// parseTree reads a tree object: "mode name NUL id", the id in raw bytes.
func parseTree(data []byte, idLength int) ([]TreeEntry, error) {
	const usual = 50 // bytes of an entry; a root may have tens of thousands of them
	entries := make([]TreeEntry, 0, len(data)/usual+1)
	var buffer [64]byte
	for len(data) > 0 {
		mode, rest, spaced := bytes.Cut(data, []byte(" "))
		name, id, ended := bytes.Cut(rest, []byte{0})
		if !spaced || !ended || len(id) < idLength {
			return nil, fmt.Errorf("%w: a tree that cannot be read", errUnasked)
		}
		text := buffer[:hex.Encode(buffer[:], id[:idLength])]
		entry := TreeEntry{Type: "blob", ID: string(text), Path: string(name)}
		switch string(mode) {
		case "40000":
			entry.Mode, entry.Type = ModeDirectory, "tree"
		case ModeFile:
			entry.Mode = ModeFile
		case ModeSubmodule:
			entry.Mode, entry.Type = ModeSubmodule, "commit"
		default:
			if entry.Mode, entry.Type = usualMode(string(mode)); entry.Mode == "" {
				return nil, fmt.Errorf("%w: a tree that cannot be read", errUnasked)
			}
		}
		entries = append(entries, entry)
		data = id[idLength:]
	}
	return entries, nil
}

// usualMode is the mode that git takes one for, which an old version or another program
// wrote, and its type; "" for what is no mode.
func usualMode(text string) (mode, kind string) {
	const kinds, link, file, directory, executable = 0o170000, 0o120000, 0o100000, 0o040000, 0o100
	bits, err := strconv.ParseUint(text, 8, 16)
	switch {
	case err != nil:
		return "", ""
	case bits&kinds == file && bits&executable != 0:
		return ModeExecutable, "blob"
	case bits&kinds == file:
		return ModeFile, "blob"
	case bits&kinds == link:
		return ModeSymlink, "blob"
	case bits&kinds == directory:
		return ModeDirectory, "tree"
	default:
		return ModeSubmodule, "commit"
	}
}

// walkTree lists every file below a commit or tree that has few directories.
func (r trees) walkTree(ctx context.Context, rev string) (id string, files []TreeEntry, err error) {
	asked := 0
	var walk func(rev, prefix string) (string, error)
	walk = func(rev, prefix string) (string, error) {
		if asked++; asked > maxAsked {
			return "", errUnasked
		}
		id, entries, err := r.readTree(ctx, rev)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			entry.Path = prefix + entry.Path
			if entry.Type != "tree" {
				files = append(files, entry)
				continue
			}
			if _, err := walk(entry.ID, entry.Path+"/"); err != nil {
				return "", err
			}
		}
		return id, nil
	}
	id, err = walk(rev, "")
	return id, files, err
}

// findFiles looks paths up, each directory once.
func (r trees) findFiles(ctx context.Context, rev string, paths []string) ([]Sized, error) {
	if len(paths) > maxAsked {
		return nil, errUnasked
	}
	seen := map[string][]TreeEntry{}
	var found []Sized
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if checkPath(path) != nil {
			return nil, errUnasked
		}
		entry, err := r.findFile(ctx, rev, path, seen)
		if err != nil {
			return nil, err
		}
		if entry == nil {
			continue
		}
		one := Sized{TreeEntry: *entry}
		if entry.Type == "blob" {
			about, err := r.objects().ask(ctx, info, entry.ID)
			if err != nil || about.Missing() {
				return nil, errors.Join(err, errUnasked)
			}
			one.Size = about.Size
		}
		found = append(found, one)
	}
	return found, nil
}

func (r trees) findFile(ctx context.Context, rev, path string, seen map[string][]TreeEntry) (*TreeEntry, error) {
	parts := strings.Split(path, "/")
	at := rev
	for i, part := range parts {
		entries, known := seen[at]
		if !known {
			var err error
			if _, entries, err = r.readTree(ctx, at); err != nil {
				return nil, err
			}
			seen[at] = entries
		}
		next := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Path == part })
		switch {
		case next < 0:
			return nil, nil //nolint:nilnil // No such file is an answer.
		case i == len(parts)-1:
			entry := entries[next]
			entry.Path = path
			return &entry, nil
		case entries[next].Type != "tree":
			return nil, nil //nolint:nilnil // No such file is an answer.
		}
		at = entries[next].ID
	}
	return nil, nil //nolint:nilnil // A path has at least one part.
}
