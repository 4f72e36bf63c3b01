package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // It names objects.
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Object is what a name stood for. Type is "blob", "tree", "commit" or "tag",
// and "" when there is no such object.
type Object struct {
	ID, Type string
	Data     []byte
}

// Missing says that the name stood for nothing.
func (o Object) Missing() bool { return o.Type == "" }

// Cat reads any number of objects, in the order of names. A
// name is whatever git takes: an id, a ref, "commit:path". The Data of
// several objects may share one buffer and are not to be appended to in place.
func (r *Repo) Cat(ctx context.Context, names ...string) ([]Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	in, err := zeroTerminated(names)
	if err != nil {
		return nil, err
	}
	out, err := r.RunWith(ctx, Input{Stdin: in}, "cat-file", "--batch", "-z", "--buffer")
	if err != nil {
		return nil, err
	}
	objects := make([]Object, len(names))
	for i, name := range names {
		if objects[i], out, err = parseObject(name, out); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// parseObject takes one object from the output of cat-file --batch. The name
// tells what a line for a missing object looks like: it may have newlines.
func parseObject(name string, out []byte) (Object, []byte, error) {
	for _, reason := range []string{" missing\n", " ambiguous\n"} {
		if rest, found := bytes.CutPrefix(out, []byte(name+reason)); found {
			return Object{}, rest, nil
		}
	}
	head, rest, _ := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(head))
	if len(fields) != 3 {
		return Object{}, nil, fmt.Errorf("read object %q: git cat-file printed %.100q", name, head)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size >= len(rest) {
		return Object{}, nil, fmt.Errorf(
			"read object %q: git cat-file printed %.100q and too little after it", name, head)
	}
	return Object{ID: fields[0], Type: fields[1], Data: rest[:size:size]}, rest[size+1:], nil
}

// HashObjects writes blobs with exactly these contents and returns their ids.
func (r *Repo) HashObjects(ctx context.Context, contents ...[]byte) ([]string, error) {
	if len(contents) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(r.Temp, "autoloop-blobs-")
	if err != nil {
		return nil, fmt.Errorf("write blobs: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var names bytes.Buffer
	for i, content := range contents {
		name := strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, fmt.Errorf("write blobs: %w", err)
		}
		names.WriteString(name + "\n")
	}
	out, err := r.RunWith(ctx, Input{WorkTree: dir, Stdin: names.Bytes()}, "hash-object", "-w", "--no-filters",
		"--stdin-paths")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(contents) {
		return nil, fmt.Errorf("write blobs: git hash-object gave %d ids for %d files", len(ids), len(contents))
	}
	return ids, nil
}

// BlobID is the name of a file's content in a repository of this object format,
// "sha1" or "sha256".
func BlobID(format string, data []byte) string {
	sum := sha1.New() //nolint:gosec // It names objects.
	if format == "sha256" {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil))
}

// zeroTerminated is a list of names for git's -z input.
func zeroTerminated(names []string) ([]byte, error) {
	var in bytes.Buffer
	for _, name := range names {
		if name == "" || strings.ContainsRune(name, 0) {
			return nil, fmt.Errorf("%q is not a name in a repository", name)
		}
		in.WriteString(name)
		in.WriteByte(0)
	}
	return in.Bytes(), nil
}
