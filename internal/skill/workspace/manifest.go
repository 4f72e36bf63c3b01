// Package workspace keeps states of a directory on disk: a snapshot is read-only,
// whole or not there, and checked against its manifest before anything is made
// of it. It lays out the workspace that a skill is improved in.
package workspace

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/files"
)

// Schema is the number of the manifest's format.
const Schema = 1

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
	PathBase64   string `json:"path_base64,omitempty"`
	Kind         string `json:"kind"`
	Mode         string `json:"mode,omitempty"`
	SHA256       string `json:"sha256,omitempty"`
	Size         int64  `json:"size,omitempty"`
	Target       string `json:"target,omitempty"`
	TargetBase64 string `json:"target_base64,omitempty"`
}

// writeManifest renders the manifest of a tree.
func writeManifest(t Tree) ([]byte, error) {
	count, bytes := t.Files()
	out := manifestJSON{Schema: Schema, Digest: t.Digest(), Files: count, Bytes: bytes, Entries: []entryJSON{}}
	for _, e := range t {
		written := entryJSON{Kind: e.Kind(), SHA256: e.SHA256, Size: e.Size}
		written.Path, written.PathBase64 = encode(e.Path)
		written.Target, written.TargetBase64 = encode(e.Target)
		if !e.IsLink() {
			written.Mode = fmt.Sprintf("%04o", e.Mode.Perm())
		}
		out.Entries = append(out.Entries, written)
	}
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}

func encode(text string) (plain, coded string) {
	if utf8.ValidString(text) {
		return text, ""
	}
	return "", base64.StdEncoding.EncodeToString([]byte(text))
}

func decode(plain, coded string) (string, error) {
	if coded == "" {
		return plain, nil
	}
	text, err := base64.StdEncoding.DecodeString(coded)
	return string(text), err
}

// readManifest reads a manifest, and holds its digest against its entries.
func readManifest(data []byte) (Tree, error) {
	var in manifestJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("is no manifest, or was cut off: %s", document.JSONError(err))
	}
	if in.Schema != Schema {
		return nil, fmt.Errorf("has the schema %d, and this program reads %d", in.Schema, Schema)
	}
	t := Tree{}
	for i, read := range in.Entries {
		entry, err := read.entry()
		if err != nil {
			return nil, fmt.Errorf("entries[%d] %w", i, err)
		}
		if i > 0 && entry.Path <= t[i-1].Path {
			return nil, fmt.Errorf("entries[%d] is out of order", i)
		}
		t = append(t, entry)
	}
	if t.Digest() != in.Digest {
		return nil, errors.New("was altered: its digest is not that of its entries")
	}
	return t, nil
}

func (r entryJSON) entry() (Entry, error) {
	e := Entry{SHA256: r.SHA256, Size: r.Size}
	var err error
	e.Path, err = decode(r.Path, r.PathBase64)
	if form := strings.ToValidUTF8(e.Path, "\ufffd"); err != nil || !fs.ValidPath(form) || form == "." {
		return e, errors.New("has a path that no file below the snapshot has")
	}
	if e.Target, err = decode(r.Target, r.TargetBase64); err != nil {
		return e, errors.New("has a link's target that is no base64")
	}
	if r.Kind == "link" {
		e.Mode = fs.ModeSymlink
		return e, nil
	}
	mode, err := strconv.ParseUint(r.Mode, 8, 32)
	if err != nil || fs.FileMode(mode)&^fs.ModePerm != 0 || r.Kind != "file" && r.Kind != "directory" {
		return e, errors.New("needs a `kind` of file, directory or link, and a `mode` of permission bits")
	}
	e.Mode = fs.FileMode(mode)
	if r.Kind == "directory" {
		e.Mode |= fs.ModeDir
	}
	return e, nil
}

// Entry is one file, directory or symbolic link of a tree.
type Entry = files.Entry

// Tree is a directory's content in the order of its paths, without the directory
// itself and without `.git`.
type Tree = files.Manifest

// fault says why no snapshot can be made of a tree, naming the first entry that
// is in the way; "" when one can.
func faultOf(t Tree) string {
	links := decision.Links{}
	for _, e := range t {
		if e.IsLink() {
			links[e.Path] = slashed(e.Target)
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
