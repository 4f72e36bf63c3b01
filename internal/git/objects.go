package git

import (
	"bytes"
	"context"
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
	objects := make([]Object, 0, len(names))
	in, err := zeroTerminated(names)
	if err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, Input{Stdin: in}, "cat-file", "--batch", "-z", "--buffer")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var o Object
		o, out, err = parseObject(name, out)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// CatEach reads any number of objects by their ids and hands each over in the order of
// the ids, so that they need not be in memory together.
func (r *Repo) CatEach(ctx context.Context, ids []string, each func(i int, o Object) error) error {
	const together = 1000
	for i := 0; i < len(ids); i += together {
		objects, err := r.Cat(ctx, ids[i:min(i+together, len(ids))]...)
		if err != nil {
			return err
		}
		for k, o := range objects {
			if err := each(i+k, o); err != nil {
				return err
			}
		}
	}
	return nil
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
	switch len(contents) {
	case 0:
		return nil, nil
	case 1:
		id, err := r.line(ctx, Input{Stdin: contents[0]}, "hash-object", "-w", "--no-filters", "--stdin")
		return []string{id}, err
	}
	dir, err := os.MkdirTemp(r.temp, "autoloop-blobs-")
	if err != nil {
		return nil, fmt.Errorf("write blobs: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var paths bytes.Buffer
	for i, content := range contents {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, fmt.Errorf("write blobs: %w", err)
		}
		paths.WriteString(filepath.ToSlash(path) + "\n")
	}
	out, err := r.Run(ctx, Input{Stdin: paths.Bytes()}, "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(out))
	if len(ids) != len(contents) {
		return nil, fmt.Errorf("write blobs: git hash-object gave %d ids for %d files", len(ids), len(contents))
	}
	return ids, nil
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
