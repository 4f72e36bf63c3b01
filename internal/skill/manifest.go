package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
)

// Schema is the number of the manifest's format.
const Schema = 1

// Entry is one file, directory or symbolic link of a tree.
type Entry = files.Entry

// Tree is a directory's content in the order of its paths, without the directory
// itself and without `.git`.
type Tree = files.Manifest

// Content is a directory with what is in it, with the modes that it stands for.
type Content struct {
	Dir string
	Tree
}

// manifestJSON is the file beside a snapshot.
type manifestJSON struct {
	Schema  int         `json:"schema"`
	Digest  string      `json:"digest"`
	Files   int         `json:"files"`
	Bytes   int64       `json:"bytes"`
	Entries []entryJSON `json:"entries"`
}

// entryJSON has paths and targets that are not UTF-8 in base64.
type entryJSON struct {
	Path         string `json:"path,omitempty"`
	PathBase64   []byte `json:"path_base64,omitempty"`
	Kind         string `json:"kind"`
	Mode         string `json:"mode,omitempty"`
	SHA256       string `json:"sha256,omitempty"`
	Size         int64  `json:"size,omitempty"`
	Target       string `json:"target,omitempty"`
	TargetBase64 []byte `json:"target_base64,omitempty"`
}

// writeManifest renders the manifest of a tree.
func writeManifest(t Tree) ([]byte, error) {
	count, bytes := t.Files()
	out := manifestJSON{Schema: Schema, Digest: t.Digest(), Files: count, Bytes: bytes, Entries: []entryJSON{}}
	for _, e := range t {
		written := entryJSON{Kind: e.Kind(), SHA256: e.SHA256, Size: e.Size}
		written.Path, written.PathBase64 = textOrBytes(e.Path)
		written.Target, written.TargetBase64 = textOrBytes(e.Target)
		if !e.IsLink() {
			written.Mode = fmt.Sprintf("%04o", e.Mode.Perm())
		}
		out.Entries = append(out.Entries, written)
	}
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}

func textOrBytes(name string) (string, []byte) {
	if utf8.ValidString(name) {
		return name, nil
	}
	return "", []byte(name)
}

// readManifest reads a manifest, and holds its digest against its entries. Whether
// they can be those of a directory is seen when they are compared with one.
func readManifest(data []byte) (Tree, error) {
	var in manifestJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, errors.New("is no manifest, or was cut off")
	}
	if in.Schema != Schema {
		return nil, fmt.Errorf("has the schema %d, and this program reads %d", in.Schema, Schema)
	}
	t := Tree{}
	for _, r := range in.Entries {
		mode, _ := strconv.ParseUint(r.Mode, 8, 9) // none is 0
		e := Entry{
			Path: r.Path + string(r.PathBase64), Mode: fs.FileMode(mode), SHA256: r.SHA256, Size: r.Size,
			Target: r.Target + string(r.TargetBase64),
		}
		switch r.Kind {
		case "link":
			e.Mode = fs.ModeSymlink
		case "directory":
			e.Mode |= fs.ModeDir
		}
		t = append(t, e)
	}
	if t.Digest() != in.Digest {
		return nil, errors.New("was altered: its digest is not that of its entries")
	}
	return t, nil
}

// faultOf says why no snapshot can be made of a tree, naming the first entry that
// is in the way; "" when one can.
func faultOf(t Tree) string {
	links := decision.Links{}
	for _, e := range t {
		if e.IsLink() {
			links[e.Path] = filepath.ToSlash(e.Target)
			if filepath.IsAbs(e.Target) {
				links[e.Path] = "/"
			}
		}
	}
	for _, e := range t {
		switch {
		case e.IsSpecial():
			return fmt.Sprintf("%q is neither file, directory nor link", e.Path)
		case decision.DotGit(path.Base(e.Path)):
			return fmt.Sprintf("%q has a name that some file systems take for .git", e.Path)
		case e.IsLink():
			if wrong := links.Wrong(e.Path); wrong != "" {
				return fmt.Sprintf("%q %s (it says %q)", e.Path, wrong, e.Target)
			}
		}
	}
	return ""
}
