package files

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Entry is one path below a directory.
type Entry struct {
	// Path is from the directory with slashes, byte for byte as it is on disk.
	Path string
	// Mode has the type and the nine permission bits; of a link the type alone.
	Mode fs.FileMode
	// Size counts the bytes of a regular file, and SHA256 is of its content, in
	// hexadecimal; it is "" where nothing was read.
	Size   int64
	SHA256 string
	// Target is what a symbolic link says.
	Target string
}

// IsFile reports whether the entry is a regular file.
func (e Entry) IsFile() bool { return e.Mode.IsRegular() }

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Mode.IsDir() }

// IsLink reports whether the entry is a symbolic link.
func (e Entry) IsLink() bool { return e.Mode.Type() == fs.ModeSymlink }

// IsSpecial reports whether the entry is a pipe, a socket or a device.
func (e Entry) IsSpecial() bool { return !e.IsFile() && !e.IsDir() && !e.IsLink() }

// Kind is what the entry is, in a word.
func (e Entry) Kind() string {
	switch {
	case e.IsFile():
		return "file"
	case e.IsDir():
		return "directory"
	case e.IsLink():
		return "link"
	default:
		return "special"
	}
}

// Manifest is what is below a directory in the order of the paths, without the
// directory itself.
type Manifest []Entry

// Sort puts the entries into the order of their paths.
func (m Manifest) Sort() {
	slices.SortFunc(m, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
}

// Find returns the entry at a path.
func (m Manifest) Find(path string) (Entry, bool) {
	i, found := slices.BinarySearchFunc(m, path, func(e Entry, path string) int { return cmp.Compare(e.Path, path) })
	if !found {
		return Entry{}, false
	}
	return m[i], true
}

// Files counts the regular files and their bytes.
func (m Manifest) Files() (count int, bytes int64) {
	for _, e := range m {
		if e.IsFile() {
			count++
			bytes += e.Size
		}
	}
	return count, bytes
}

// Paths lists the regular files.
func (m Manifest) Paths() (list []string) {
	for _, e := range m {
		if e.IsFile() {
			list = append(list, e.Path)
		}
	}
	return list
}

// Below is the part in a directory, with the paths that it has there.
func (m Manifest) Below(dir string) Manifest {
	part := Manifest{}
	for _, e := range m {
		if name, found := strings.CutPrefix(e.Path, dir+"/"); found {
			e.Path = name
			part = append(part, e)
		}
	}
	return part
}

// Digest is the SHA-256 over all entries, in hexadecimal: equal for directories that
// are the same in paths, kinds, modes, contents and links.
func (m Manifest) Digest() string {
	sum := sha256.New()
	for _, e := range m {
		fmt.Fprintf(sum, "%d:%s %s %o %s %d:%s\n", len(e.Path), e.Path, e.Kind(), e.Mode.Perm(), e.SHA256,
			len(e.Target), e.Target)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Difference is one path that two manifests do not have alike. Before or After
// is nil on the side that lacks it.
type Difference struct {
	Path          string
	Before, After *Entry
}

// Compare lists what differs from one manifest to another, in order.
func Compare(before, after Manifest) []Difference {
	var list []Difference
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case j == len(after) || i < len(before) && before[i].Path < after[j].Path:
			list = append(list, Difference{Path: before[i].Path, Before: &before[i]})
			i++
		case i == len(before) || after[j].Path < before[i].Path:
			list = append(list, Difference{Path: after[j].Path, After: &after[j]})
			j++
		default:
			if before[i] != after[j] {
				list = append(list, Difference{Path: before[i].Path, Before: &before[i], After: &after[j]})
			}
			i, j = i+1, j+1
		}
	}
	return list
}
